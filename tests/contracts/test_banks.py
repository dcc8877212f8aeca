"""What every policy must keep to as it runs in production: in the bank that it has, and in the one
that is made of plain selectors.

A new policy is tested without a change here, once `tests.selector_calls` can make its settings.
"""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from shortlist.engine.engine import Engine
from shortlist.matching.scan import Scan
from shortlist.model.command import Close, Heartbeat, Open, Retract, Subscribe, Unsubscribe, Update
from shortlist.model.policy import Policy
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.selection.bank import banks
from tests.engine.test_bulk import everything_of, in_bulk
from tests.selector_calls import POLICIES, data
from tests.strategies import cuts, maybe, seeded, seeds

STREAMS = 2
PROMPT = Settings(lateness=0)
LISTS, SUBSCRIPTIONS = "xyz", "abc"
WRITTEN = TypeAdapter(Policy)


@pytest.fixture(params=["its own bank", "a plain bank"], autouse=True)
def production(request, monkeypatch):
    if request.param == "a plain bank":
        monkeypatch.setattr(banks, "BANKS", {})


every_policy = pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind.__name__)


def subscribed(pick, shortlist, name):
    return Subscription(
        id=f"{shortlist}.{name}",
        shortlist=shortlist,
        where=pick([None, f"{name} > 0"]),
        score=pick([name, f"{name} + 1"]),
        refresh=maybe(pick, range(1, 9)),
    )


def opened(pick, kind, name):
    return Shortlist(id=name, subscriber="u", policy=POLICIES[kind](pick))


def made_registry(pick, kind):
    return Registry(
        shortlists=tuple(opened(pick, kind, name) for name in LISTS),
        subscriptions=tuple(
            subscribed(pick, name, each) for name in LISTS for each in SUBSCRIPTIONS
        ),
    )


def published(pick, time, position):
    """Few scores, so that many are equal."""
    scores = {name: pick([0, 1, 2, 3]) for name in SUBSCRIPTIONS}
    alive_for = maybe(pick, range(1, 10))
    return Publication(
        id=f"p{position}",
        source="s",
        time=time,
        position=position,
        expiry=None if alive_for is None else time + alive_for,
        data=data(pick) | scores,
        replaces=pick([None] * 12 + [f"p{position - 2}"]),
    )


def smaller(policy):
    """The same with settings that let a shortlist keep what it holds, if there are any."""
    if (getattr(policy, "k", None) or 1) > 1:
        policy = replace(policy, k=policy.k - 1)
    return WRITTEN.dump_python(policy, mode="json")


def commanded(pick, kind, policies, when):
    """Some command; a roster refuses what does not fit what is live."""
    name, each = pick(LISTS), pick(SUBSCRIPTIONS)
    position = when["position"]
    drawn = POLICIES[kind](pick)
    changes = [smaller(policies[name]), WRITTEN.dump_python(drawn, mode="json")]
    return pick(
        [
            Retract(source="s", publication=f"p{position - 1 - pick(range(4))}", **when),
            Retract(source="s", publication=f"p{position - 1 - pick(range(4))}", **when),
            Unsubscribe(subscription=f"{name}.{each}", **when),
            Subscribe(subscription=subscribed(pick, name, each), **when),
            Update(kind="shortlist", id=name, changes={"policy": pick(changes)}, **when),
            Update(kind="subscription", id=f"{name}.{each}", changes={"refresh": "3us"}, **when),
            Close(shortlist=name, **when),
            Open(shortlist=opened(pick, kind, name), **when),
            Heartbeat(**when),
        ]
    )


def streams(kind, count=STREAMS, most=60):
    for seed in range(count):
        pick = seeded(seed)
        registry = made_registry(pick, kind)
        policies = {made.id: made.policy for made in registry.shortlists}
        items, time = [], pick(range(20))
        for position in range(1, pick(range(2, most))):
            time += pick([0, 0, 0, 1, 1, 2, 3, 7])
            if pick([True] * 3 + [False]):
                items.append(published(pick, time, position))
            else:
                when = {"time": time, "position": position}
                items.append(commanded(pick, kind, policies, when))
        yield pick, registry, items


def told(registry, items, **settings):
    return Engine(registry, PROMPT, **settings).process(items, last=True)


def compare(kind, count):
    for pick, registry, items in streams(kind, count):
        expected = everything_of(told(registry, items, matcher=Scan))
        found = in_bulk(registry, PROMPT, cuts(pick, items), saved=lambda number: None)
        assert everything_of(found) == expected
        one_by_one = in_bulk(registry, PROMPT, [[item] for item in items], lambda number: None)
        assert everything_of(one_by_one) == expected


@every_policy
def test_equals_the_plain_engine_whatever_the_batches(kind):
    compare(kind, STREAMS)


@pytest.mark.soak
@every_policy
def test_equals_the_plain_engine_for_long(kind):
    compare(kind, 500)


@every_policy
def test_goes_on_from_what_was_saved_after_any_batch(kind):
    for pick, registry, items in streams(kind):
        expected = everything_of(told(registry, items))
        found = in_bulk(registry, PROMPT, cuts(pick, items), saved=lambda number: True)
        assert everything_of(found) == expected


@every_policy
def test_the_same_items_lead_to_the_same_deliveries_and_states(kind):
    for _, registry, items in streams(kind):
        one, other = Engine(registry, PROMPT), Engine(registry, PROMPT)
        assert one.process(items).deliveries == other.process(items).deliveries
        assert one.snapshot() == other.snapshot()


@every_policy
def test_what_was_saved_does_not_change_what_follows(kind):
    for _, registry, items in streams(kind):
        half = len(items) // 2
        one, other = Engine(registry, PROMPT), Engine(registry, PROMPT)
        assert one.process(items[:half]) == other.process(items[:half])
        assert one.snapshot() is not None
        assert one.process(items[half:], last=True) == other.process(items[half:], last=True)


@every_policy
def test_deliveries_are_in_order_and_none_comes_twice(kind):
    """But for a shortlist that starts over, or a publication that comes again."""
    for _, registry, items in streams(kind):
        some = [item for item in items if not isinstance(item, Update | Close | Open)]
        made = told(registry, some).deliveries
        assert [one.order for one in made] == sorted(one.order for one in made)
        keys = [(one.shortlist, one.publication.id) for one in made]
        assert len(set(keys)) == len(keys)


@every_policy
def test_what_has_expired_is_not_held_for_ever(kind):
    for seed in seeds(1):
        pick = seeded(seed)
        registry = made_registry(pick, kind)
        engine, rows = Engine(registry, PROMPT), []
        for first in range(1, 1200, 100):
            block = [
                replace(published(pick, time, time), expiry=time + 5, replaces=None)
                for time in range(first, first + 100)
            ]
            engine.process(block)
            rows.append(sum(held["rows"] for held in engine.status()["state"].values()))
        assert max(rows[6:]) <= 2 * max(rows[:6])
