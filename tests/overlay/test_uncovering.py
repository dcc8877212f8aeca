"""What a neighbour knows stands for all that is live, and for nothing else."""

import pytest

from shortlist.intake.reading import items_of
from shortlist.intake.roster import Roster
from shortlist.model.command import Command, Unsubscribe
from shortlist.model.items import Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.overlay.broker import Options, Place
from shortlist.overlay.covering_broker import Covering
from shortlist.overlay.frontier import Judge, Uncovered
from shortlist.overlay.messages import Proxies, Send
from tests.overlay.drawn_networks import story
from tests.overlay.small_worlds import registry
from tests.strategies import seeded

NO_THRESHOLDS = Options(withholds=False)


def broker(known: Registry) -> Covering:
    place = Place("here", ("there",))
    return Covering(place, known, NO_THRESHOLDS, make_rule=Uncovered)


def told(sends: list[Send]) -> tuple[list[str], list[str]]:
    """What is new to the neighbour, and what is gone."""
    messages = [send.message for send in sends if isinstance(send.message, Proxies)]
    put = [proxy.id for message in messages for proxy in message.put]
    return sorted(put), sorted(name for message in messages for name in message.dropped)


def carried_out(one: Covering, command: Command) -> tuple[list[str], list[str]]:
    row, _ = items_of([command], Wanted())
    return told([*one.command(row, command), *one.flush()])


def unsubscribe(name: str, position: int = 1) -> Command:
    return Unsubscribe(time=position, position=position, subscription=name)


def test_what_was_hidden_by_one_alone_is_told():
    known = registry(
        {"id": "all", "where": "x < 9"},
        {"id": "low", "where": "x < 5"},
        {"id": "lower", "where": "x < 3"},
        {"id": "other", "where": "y = 1"},
        {"id": "both", "where": "x < 4 and y = 1"},
    )
    one = broker(known)
    assert told([*one.start(), *one.flush()]) == (["all", "other"], [])
    assert carried_out(one, unsubscribe("lower")) == ([], [])
    assert carried_out(one, unsubscribe("all")) == (["low"], ["all"])
    assert carried_out(one, unsubscribe("other")) == ([], ["other"])
    assert carried_out(one, unsubscribe("low")) == (["both"], ["low"])


def test_equal_ones_stand_for_each_other():
    one = broker(registry(*({"id": name, "where": "x < 9"} for name in "abc")))
    assert told([*one.start(), *one.flush()]) == (["a"], [])
    assert carried_out(one, unsubscribe("b")) == ([], [])
    assert carried_out(one, unsubscribe("a")) == (["c"], ["a"])


@pytest.mark.parametrize("seed", range(60))
def test_nothing_live_is_lost_and_nothing_hidden_is_told(seed):
    known, items = story(seeded(seed), "any")
    one = broker(known)
    one.start()
    one.flush()
    judge = Judge(known.vocabulary, Limits())
    for command in (item for item in items if isinstance(item, Command)):
        if roster_of(one).refusal(command) is not None:
            continue
        carried_out(one, command)
        live, heard = [*one._mine.values()], one._told["there"]
        assert {proxy.id for proxy in live} == {*roster_of(one).subscriptions}
        for proxy in live:
            assert any(judge.covers(other, proxy) for other in heard.values())
        assert not any(
            judge.covers(other, proxy)
            for proxy in heard.values()
            for other in heard.values()
            if other is not proxy
        )


def roster_of(one: Covering) -> Roster:
    return one._roster
