"""The policies against a naive second implementation, on random small streams."""

from itertools import accumulate

import pytest
from hypothesis import event, given, note
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
from tests.strategies import examples

NAIVE = {
    Everything: NaiveEverything,
    TopK: NaiveTopK,
    Window: NaiveWindow,
    Novelty: NaiveNovelty,
}
SUBSCRIPTIONS = ("a", "b", "c")
END_OF_TIME = 2**62

few = st.integers(1, 4)
spans = st.integers(1, 8)
everything = st.just(Everything())
top_k = st.builds(TopK, k=few, refresh=st.none() | spans, period=st.none() | spans)
windows = st.builds(Window, k=few, window=st.none() | spans.map(Span) | st.integers(1, 5))
novelty = st.builds(
    Novelty,
    rate=st.sampled_from([0.1, 0.2, 0.29, 0.3, 0.5, 0.7, 1.0]),
    period=st.sampled_from([1, 2, 3, 5, 7, 10, 100]),
    mode=st.sampled_from(["lazy", "eager"]),
    measure=st.sampled_from(["rate", "interval"]),
    algorithm=st.sampled_from(["threshold", "sampling", "random"]),
    aging=st.sampled_from([1.0, 1.0, 0.5, 0.1, 0.0]),
    seed=st.sampled_from([0, 1, 2**64 - 1, -1]),
)


@st.composite
def candidates(draw, time, position):
    """A publication that matches one to three subscriptions; the best of them is named."""
    names = sorted(draw(st.sets(st.sampled_from(SUBSCRIPTIONS), min_size=1)))
    matches = tuple(ScoredMatch(name, draw(st.integers(0, 4)) / 2, 1.0, 0.5) for name in names)
    named = max(matches, key=lambda match: (match.score, -ord(match.subscription)))
    alive_for = draw(st.none() | st.integers(1, 9))
    publication = Publication(
        id=f"p{position}",
        source="s",
        time=time,
        position=position,
        expiry=None if alive_for is None else time + alive_for,
    )
    refresh = draw(st.none() | st.none() | spans)
    return Candidate(publication, "list", named.score, named, matches, refresh)


@st.composite
def streams(draw, most=30):
    """Calls in order of time: arrivals, cancellations and mere passing of time."""
    gaps = draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7]), max_size=most))
    calls = []
    for position, time in enumerate(accumulate(gaps, initial=draw(st.integers(-9, 9)))):
        kind = draw(st.sampled_from(["arrive"] * 6 + ["cancel", "advance"]))
        if kind == "arrive":
            calls.append((kind, draw(candidates(time, position))))
        elif kind == "cancel":
            calls.append((kind, draw(st.sampled_from(SUBSCRIPTIONS)), time))
        else:
            calls.append((kind, time))
    end = draw(st.sampled_from(["advance", "advance", "close"]))
    last = calls[-1][-1] if calls and isinstance(calls[-1][-1], int) else None
    if end == "close" and last is not None:
        calls.append((end, last + draw(st.integers(0, 9))))
    else:
        calls.append(("advance", END_OF_TIME))
    return calls


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


def agree(policy, calls):
    note(policy)
    expected = [made for rows in naive_answers(policy, calls) for made in rows]
    found = [made for rows in answers(policy, calls) for made in rows]
    event(f"deliveries: {min(len(expected), 9)}")
    event("promotion" if any(made.cause == "promotion" for made in expected) else "no promotion")
    assert sorted(found, key=lambda made: made[:2]) == sorted(expected, key=lambda made: made[:2])


def test_every_policy_has_a_naive_twin():
    assert set(NAIVE) == set(SELECTORS)


@examples(300)
@given(everything, streams())
def test_everything(policy, calls):
    agree(policy, calls)


@examples(2000)
@given(top_k, streams())
def test_top_k(policy, calls):
    agree(policy, calls)


@examples(3000)
@given(windows, streams())
def test_window(policy, calls):
    agree(policy, calls)


@examples(2500)
@given(novelty, streams(most=40))
def test_novelty(policy, calls):
    agree(policy, calls)


@pytest.mark.soak
@examples(20_000)
@given(st.one_of(everything, top_k, windows, novelty), streams(most=80))
def test_long_streams(policy, calls):
    agree(policy, calls)


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
