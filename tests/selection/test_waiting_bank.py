"""The banks of `digest`, `quiet` and `cap` place what plain selectors place."""

from dataclasses import replace

import numpy as np
import pytest

from shortlist.model.durations import Span
from shortlist.model.policy import Cap, Digest, Quiet
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank import waiting
from shortlist.selection.bank.cap import CapBank
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.bank.waiting import WaitingBank
from tests.selection.duels import duel
from tests.selector_calls import candidate
from tests.strategies import seeds

TIMELINES = 200
BANKS = {Digest: WaitingBank, Quiet: WaitingBank, Cap: CapBank}
every_kind = pytest.mark.parametrize("kind", BANKS, ids=lambda kind: kind.__name__)


@pytest.fixture(params=[1, 2**20], ids=["a small inbox", "a large inbox"], autouse=True)
def inbox(request, monkeypatch):
    monkeypatch.setattr(waiting, "MOST_IN_BOX", request.param)


@every_kind
def test_as_plain(kind):
    for seed in seeds(TIMELINES):
        duel(kind, BANKS[kind](), seed)


@every_kind
def test_as_plain_with_few_scores_and_short_lives(kind):
    """Many ties, much that has expired when it is released."""

    def brief(pick, time, position, scale):
        one = candidate(pick, time, position, scale)
        expiry = pick([None, time + 1, time + 2])
        publication = replace(one.publication, expiry=expiry)
        return replace(one, publication=publication, score=pick([0.0, 1.0]))

    for seed in seeds(TIMELINES):
        duel(kind, BANKS[kind](), seed, draw_candidate=brief)


@pytest.mark.soak
@every_kind
def test_as_plain_for_long(kind):
    for seed in range(20_000):
        duel(kind, BANKS[kind](), seed, most=300, shortlists=9)


def offers(places, times, scores):
    count = len(times)
    return Offers(
        places=np.array(places, np.int32),
        times=np.array(times, np.int64),
        publications=np.arange(count, dtype=np.int32),
        appeared=np.array(times, np.int64),
        expiries=np.full(count, NEVER),
        scores=np.array(scores, np.float64),
        named=np.zeros(count, np.int32),
        possibilities=np.ones(count),
        necessities=np.ones(count),
        refreshes=np.full(count, UNSET),
        matched=np.full(count, ALONE, np.int32),
    )


@pytest.mark.parametrize("k", [3, 63, 64, 65, 100, 500, None])
def test_few_and_many_are_chosen_alike(k):
    """However many are chosen, they are the best, ties to the later."""
    scores = np.random.default_rng(7).integers(0, 40, 300)
    bank = WaitingBank()
    bank.open("list", Digest(k=k, every=Span(1000)))
    bank.arrive(offers([0] * 300, range(300), scores), NO_SETS)
    placed = bank.advance(2000)
    best = sorted(range(300), key=lambda number: (-scores[number], -number))[:k]
    assert placed.publications.tolist() == best
    assert placed.ranks.tolist() == [*range(1, len(best) + 1)]
    assert set(placed.times.tolist()) == {1000}


def test_rows_of_the_expired_are_used_again():
    bank = WaitingBank()
    bank.open("list", Digest(every="day"))
    for start in range(0, 10_000, 100):
        some = offers([0] * 100, range(start, start + 100), [1.0] * 100)
        bank.arrive(some._replace(expiries=some.times + 5), NO_SETS)
        (arena,) = bank.arenas
    assert arena.nbytes < 100_000
