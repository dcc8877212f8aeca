"""The policies against a naive second implementation, on random small streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.policy import Everything, Novelty, Span, TopK, Window
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.policies import SELECTORS, selector
from tests.engine.naive import (
    NaiveEverything,
    NaiveNovelty,
    NaiveTopK,
    NaiveWindow,
    Row,
    fnv1a64,
    splitmix64,
)
from tests.strategies import drawn, maybe, seeded

NAIVE = {
    Everything: NaiveEverything,
    TopK: NaiveTopK,
    Window: NaiveWindow,
    Novelty: NaiveNovelty,
}
END_OF_TIME = 2**62


def everything(pick):
    return Everything()


def top_k(pick):
    return TopK(
        k=pick([1, 2, 3, 4]), refresh=maybe(pick, range(1, 9)), period=maybe(pick, range(1, 9))
    )


def window(pick):
    size = pick([None, *map(Span, range(1, 9)), *range(1, 6)])
    return Window(k=pick([1, 2, 3, 4]), window=size)


def novelty(pick):
    return Novelty(
        rate=pick([0.1, 0.2, 0.29, 0.3, 0.5, 0.7, 1.0]),
        period=pick([1, 2, 3, 5, 7, 10, 100]),
        mode=pick(["lazy", "eager"]),
        measure=pick(["rate", "interval"]),
        algorithm=pick(["threshold", "sampling", "random"]),
        aging=pick([1.0, 1.0, 0.5, 0.1, 0.0]),
        seed=pick([0, 1, 2**64 - 1, -1]),
    )


POLICIES = {Everything: everything, TopK: top_k, Window: window, Novelty: novelty}


def candidate(pick, time, position):
    """A publication that matches one to three subscriptions; the best of them is named."""
    names = pick(["a", "b", "c", "ab", "ac", "abc"])
    matches = tuple(ScoredMatch(name, pick([0, 1, 2, 3, 4]) / 2, 1.0, 0.5) for name in names)
    named = max(matches, key=lambda match: (match.score, -ord(match.subscription)))
    alive_for = maybe(pick, range(1, 10))
    publication = Publication(
        id=f"p{position}",
        source="s",
        time=time,
        position=position,
        expiry=None if alive_for is None else time + alive_for,
    )
    refresh = pick([None, None, 1, 2, 5])
    return Candidate(publication, "list", named.score, named, matches, refresh)


def calls(pick, most=30):
    """Calls in order of time: arrivals, cancellations and the mere passing of time."""
    made, time = [], pick(range(-9, 9))
    for position in range(pick(range(most))):
        time += pick([0, 0, 0, 1, 1, 2, 3, 7])
        kind = pick(["arrive"] * 6 + ["cancel", "advance"])
        if kind == "arrive":
            made.append((kind, candidate(pick, time, position)))
        elif kind == "cancel":
            made.append((kind, pick("abc"), time))
        else:
            made.append((kind, time))
    closed = pick([None, None, *range(10)])
    made.append(("advance", END_OF_TIME) if closed is None else ("close", time + closed))
    return made


def row(placed):
    named = placed.named.subscription
    position = placed.candidate.publication.position
    return Row(placed.time, position, placed.score, named, placed.rank, placed.cause)


def answers(policy, calls):
    """What the engine's selector says, call by call."""
    selecting = selector(Shortlist(id="list", subscriber="u", policy=policy))
    for call, *arguments in calls:
        found = getattr(selecting, call)(*arguments)
        yield [row(placed) for placed in (found.placements if call == "arrive" else found)]


def naive_answers(policy, calls):
    """What the text says; mere passing of time is no event, only its end is."""
    naive = NAIVE[type(policy)](policy, "list")
    for call, *arguments in calls:
        if call == "advance":
            yield naive.finish() if arguments == [END_OF_TIME] else []
        else:
            yield getattr(naive, call)(*arguments)


def in_order(made):
    return made.time, made.position


def agree(policy, calls):
    expected = [made for rows in naive_answers(policy, calls) for made in rows]
    found = [made for rows in answers(policy, calls) for made in rows]
    assert sorted(found, key=in_order) == sorted(expected, key=in_order), (policy, calls)


def test_every_policy_has_a_naive_twin():
    assert set(NAIVE) == set(POLICIES) == set(SELECTORS)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
@given(data=st.data())
def test_drawn_streams(policy, data):
    agree(data.draw(drawn(policy)()), data.draw(drawn(calls)(most=15)))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
def test_thousands_of_streams(policy):
    for seed in range(3000):
        pick = seeded(seed)
        agree(policy(pick), calls(pick))


@pytest.mark.soak
@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.__name__)
def test_long_streams(policy):
    for seed in range(10_000):
        pick = seeded(seed)
        agree(policy(pick), calls(pick, most=120))


def test_the_naive_draws_are_the_published_generators():
    """First outputs of splitmix64 from the state 1234567, and FNV-1a of the empty and a known text."""
    states = [(1234567 + n * 0x9E3779B97F4A7C15) % 2**64 for n in range(3)]
    assert [splitmix64(state) for state in states] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    assert fnv1a64(b"") == 0xCBF29CE484222325
    assert fnv1a64(b"foobar") == 0x85944171F73967E8
