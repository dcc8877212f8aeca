"""What every policy must keep to. A new row of `SELECTORS` is tested without a change here, once
`tests.selector_calls` can make its settings."""

from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.policy import Everything, Fresh, Novelty, TopK, Window
from shortlist.model.shortlist import Shortlist
from shortlist.selection.policies import SELECTORS, selector
from tests.selector_calls import END_OF_TIME, POLICIES, calls, through_json
from tests.strategies import drawn, seeded

every_policy = pytest.mark.parametrize("kind", SELECTORS, ids=lambda kind: kind.__name__)
STREAMS = 100


def made(policy):
    return selector(Shortlist(id="list", subscriber="u", policy=policy))


def asked(selecting, call, *arguments):
    """The placements of one call."""
    found = getattr(selecting, call)(*arguments)
    return list(found.placements if call == "arrive" else found)


def told(selecting, some):
    return [placed for call in some for placed in asked(selecting, *call)]


def time_of(call):
    return call[-1]


def facts(placements):
    """Placements without what a policy need not keep of a candidate, in order of delivery."""
    rows = [
        (placed.time, placed.candidate.publication.position, placed.score, *placed[3:])
        for placed in placements
    ]
    return sorted(rows, key=lambda row: row[:2])


def streams(kind, scale=1):
    """Policies of a kind, each with a stream of calls; times are multiples of `scale`."""
    for seed in range(STREAMS):
        pick = seeded(seed)
        yield POLICIES[kind](pick), calls(pick, scale=scale)


def reborn(selecting, policy):
    """Another selector with the same state, by way of real JSON."""
    state = selecting.state()
    other = made(policy)
    other.restore(through_json(state))
    assert other.state() == state
    return other


def test_every_policy_can_be_drawn():
    assert set(POLICIES) == set(SELECTORS)


@every_policy
def test_the_same_calls_lead_to_the_same_answers(kind):
    for policy, some in streams(kind):
        first, second = made(policy), made(policy)
        assert [asked(first, *call) for call in some] == [asked(second, *call) for call in some]
        assert first.state() == second.state()


@every_policy
def test_state_survives_json_after_every_call(kind):
    for policy, some in streams(kind):
        stored = made(policy)
        found = []
        for call in some:
            found += asked(stored, *call)
            stored = reborn(stored, policy)
        assert facts(found) == facts(told(made(policy), some))


@every_policy
@given(data=st.data())
def test_state_survives_json_at_any_point(kind, data):
    policy = data.draw(drawn(POLICIES[kind])())
    some = data.draw(drawn(calls)(most=12))
    cut = data.draw(st.integers(0, len(some)))
    whole, first = made(policy), made(policy)
    before = told(first, some[:cut])
    after = told(reborn(first, policy), some[cut:])
    assert facts(before + after) == facts(told(whole, some))


@every_policy
def test_a_state_is_of_its_moment(kind):
    """A state that was taken does not change with what happens later."""
    for policy, some in streams(kind):
        selecting = made(policy)
        told(selecting, some[: len(some) // 2])
        taken = selecting.state()
        copied = deepcopy(taken)
        told(selecting, some[len(some) // 2 :])
        assert taken == copied


@every_policy
def test_batches_do_not_matter(kind):
    """At the end of a batch time is told; however often that happens, answers stay the same."""
    for policy, some in streams(kind):
        events = [call for call in some if call[0] != "advance"]
        often = []
        for call in events:
            time = time_of(call)
            often += [("advance", time - 1), ("advance", time), call, ("advance", time)]
        if not events or events[-1][0] != "settle":
            events.append(("advance", END_OF_TIME))
            often.append(("advance", END_OF_TIME))
        assert facts(told(made(policy), events)) == facts(told(made(policy), often))


@every_policy
def test_time_that_was_told_is_not_told_again(kind):
    for policy, some in streams(kind):
        selecting, now = made(policy), -(2**62)
        for call in some:
            placements = asked(selecting, *call)
            if call[0] == "advance":
                until = call[1]
                assert all(now <= placed.time < until for placed in placements)
                assert [placed.time for placed in placements] == sorted(
                    placed.time for placed in placements
                )
                assert selecting.advance(until) == []
                assert selecting.advance(until - 3) == []
            else:
                now = time_of(call)
                assert all(placed.time <= now for placed in placements)


@every_policy
def test_after_the_end_nothing_more_happens(kind):
    for policy, some in streams(kind):
        selecting = made(policy)
        told(selecting, some)
        if some[-1][0] == "advance":
            assert selecting.advance(END_OF_TIME) == []


@every_policy
def test_cancelling_what_is_unknown_is_harmless(kind):
    """Between instants: a cancellation is an instant itself, at which departures are filled."""
    for policy, some in streams(kind, scale=2):
        events = [call for call in some if call[0] != "advance" or call[1] == END_OF_TIME]
        with_nobody = []
        for call, following in pairwise(events):
            with_nobody.append(call)
            if time_of(call) < time_of(following):
                with_nobody.append(("cancel", "nobody", time_of(call) + 1))
        with_nobody.append(events[-1])
        assert facts(told(made(policy), with_nobody)) == facts(told(made(policy), events))


@every_policy
def test_an_arrival_is_placed_or_refused(kind):
    for policy, some in streams(kind):
        selecting, seen = made(policy), set()
        for call in some:
            if call[0] != "arrive":
                seen |= {
                    placed.candidate.publication.position for placed in asked(selecting, *call)
                }
                continue
            position = call[1].publication.position
            outcome = selecting.arrive(*call[1:])
            placed = [one.candidate.publication.position for one in outcome.placements]
            arrived = [
                one.candidate.publication.position
                for one in outcome.placements
                if one.cause == "arrival"
            ]
            assert arrived == ([position] if outcome.refusal is None else [])
            assert seen.isdisjoint(placed)
            assert len(set(placed)) == len(placed)
            seen |= set(placed)


@every_policy
def test_who_stands_above_an_arrival_explains_its_rank(kind):
    for policy, some in streams(kind):
        selecting = made(policy)
        for call in some:
            if call[0] != "arrive":
                asked(selecting, *call)
                continue
            candidate = call[1]
            outcome = selecting.arrive(candidate, time_of(call))
            above = selecting.above(candidate)
            placed = [placed for placed in outcome.placements if placed.cause == "arrival"]
            assert candidate.publication.id not in {one.publication for one in above}
            if placed:
                assert len(above) == (placed[0].rank or 1) - 1
            elif kind in (TopK, Window):
                assert len(above) == policy.k
            if kind in (TopK, Window, Fresh):
                scores = [standing.score for standing in above]
                assert scores == sorted(scores, reverse=True)
                assert all(score >= one.score for score in scores for one in placed)
            elif kind in (Everything, Novelty):
                assert above == []
