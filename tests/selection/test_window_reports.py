"""What windows report beside placements: thresholds, cells, floors, how much they keep."""

from bisect import bisect_left

import numpy as np
import pytest

from shortlist.model.durations import Span
from shortlist.model.policy import Window
from shortlist.scoring.match_sets import NO_SETS
from shortlist.selection.bank.offers import NEVER, Placements
from shortlist.selection.bank.window import CountWindowBank, WindowBank
from shortlist.selection.window import WindowSelector
from tests.selection.streams import blocks_of, offers_to, rows_of
from tests.selection.windows import drawn
from tests.strategies import seeded

BREAKPOINTS = np.array([0.5, 1.0, 2.25, 4.0])


class Watcher(WindowSelector):
    """Counts what its threshold does."""

    def __init__(self, policy, shortlist):
        super().__init__(policy, shortlist)
        self.threshold, self.changes, self.crossings = float("-inf"), 0, 0

    def _fill(self, now, arrival=None):
        placements = super()._fill(now, arrival)
        full = len(self._ranked) >= self._k
        threshold = self._ranked[self._k - 1].candidate.score if full else float("-inf")
        self.changes += threshold != self.threshold
        self.crossings += bisect_left(BREAKPOINTS, threshold) != bisect_left(
            BREAKPOINTS, self.threshold
        )
        self.threshold = threshold
        return placements


@pytest.mark.parametrize(
    ("bank", "sizes"),
    [(WindowBank, [None, Span(3), Span(8), Span(60)]), (CountWindowBank, [1, 3, 10, 40])],
)
def test_threshold_and_cell_changes(bank, sizes):
    for seed in range(150):
        pick = seeded(seed)
        policy = Window(k=pick([1, 2, 4]), window=pick(sizes))
        plain, time, arrivals = Watcher(policy, "list"), 0, []
        for position in range(200):
            time += pick([0, 0, 1, 1, 4])
            one = drawn(pick, time, position, time, pick(range(20)), often=pick([0, 0, 1]))
            plain.arrive(one, time)
            arrivals.append((time, one.score, one.publication.expiry or NEVER))
        plain.advance(NEVER)
        banks = bank(piece=pick([1, 7, 64]))
        places = [banks.open(name, policy) for name in "pq"]
        banks.watch(places[1], BREAKPOINTS)
        times, scores, expiries = zip(*arrivals, strict=True)
        offers = offers_to(places, times, scores, expiries)
        for block in blocks_of(offers, sorted(pick(range(200)) for _ in range(pick(range(9))))):
            banks.arrive(block, NO_SETS)
        banks.advance(NEVER)
        heads = banks.arenas[0].heads[places]
        assert heads["threshold_changes"].tolist() == [plain.changes] * 2, seed
        assert heads["cell_changes"].tolist() == [0, plain.crossings], seed


def test_floors_tell_what_may_be_left_out():
    left_out = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        k, size = int(draw.integers(1, 5)), 400
        times = np.cumsum(draw.integers(0, 3, size))
        scores = draw.integers(0, 200, (2, size)).astype(float)
        expires = draw.random(size) < draw.choice([0, 0.3])
        expiries = np.where(expires, times + draw.integers(1, 200, size), NEVER)
        policy = Window(
            k=k, window=Span(int(draw.integers(20, 300))), error=draw.choice([0.0, 0.0, 0.2])
        )
        named = draw.integers(0, draw.choice([1, 3]), size)
        full, spared = WindowBank(), WindowBank()
        places = [full.open(name, policy) for name in "pq"]
        assert places == [spared.open(name, policy) for name in "pq"]
        offers = offers_to(places, times, scores, expiries, named)
        lasting = offers.expiries >= offers.times + policy.window.micros
        told = {id(bank): [] for bank in (full, spared)}
        for first in range(0, size, 100):
            mine = (offers.publications >= first) & (offers.publications < first + 100)
            floors = dict(zip(places, spared.floors(places, times[first + 99]), strict=True))
            needed = mine.copy()
            for at in np.flatnonzero(mine):
                better = (
                    mine
                    & lasting
                    & (offers.places == offers.places[at])
                    & (offers.named == offers.named[at])
                    & (offers.publications > offers.publications[at])
                    & (offers.scores >= offers.scores[at])
                )
                hopeless = offers.scores[at] < floors[offers.places[at]]
                needed[at] = not (hopeless and better.sum() >= k)
            left_out += (mine & ~needed).sum()
            told[id(full)].append(full.arrive(offers.kept(mine), NO_SETS))
            told[id(spared)].append(spared.arrive(offers.kept(needed), NO_SETS))
        for bank in (full, spared):
            told[id(bank)].append(bank.advance(NEVER))
        one, other = (rows_of(Placements.joined(told[id(bank)])) for bank in (full, spared))
        assert one == other, seed
    assert left_out > 1000


def test_what_must_be_counted_has_no_floor():
    policy = Window(k=1, window=5)
    bank = CountWindowBank()
    place = bank.open("p", policy)
    bank.arrive(offers_to([place], [1, 2], [3.0, 4.0]), NO_SETS)
    assert bank.floors([place], 2).tolist() == [-np.inf]


@pytest.mark.parametrize(("bank", "window"), [(WindowBank, Span(2000)), (CountWindowBank, 2000)])
@pytest.mark.parametrize("block", [1000, 7])
def test_rows_stay_few(bank, window, block):
    """About k (1 + ln(w / k)) of w are kept."""
    banks = bank()
    places = [banks.open(str(n), Window(k=3, window=window)) for n in range(4)]
    draw = np.random.default_rng(1)
    offers = offers_to(places, np.arange(12_000), draw.random((4, 12_000)))
    most = 0
    for part in blocks_of(offers, range(block, 12_000, block)):
        banks.arrive(part, NO_SETS)
        most = max(most, banks.arenas[0].heads["length"].max())
    assert 20 < most < 60


def test_an_endless_window_keeps_only_the_best():
    bank = WindowBank()
    place = bank.open("p", Window(k=3, window=None))
    draw = np.random.default_rng(1)
    bank.arrive(offers_to([place], np.arange(5000), draw.random((1, 5000))), NO_SETS)
    assert bank.arenas[0].heads["length"][place] < 3 + 3 // 8 + 9
