"""The probabilistic windows: the error is small, and does not depend on how calls are cut."""

import numpy as np
import pytest

from shortlist.model.durations import Span
from shortlist.model.policy import Window
from shortlist.scoring.match_sets import NO_SETS
from shortlist.selection.bank.offers import NEVER, Placements
from shortlist.selection.bank.window import CountWindowBank, WindowBank
from shortlist.selection.kernels.chances import at_most
from tests.selection.streams import blocks_of, offers_to, rows_of

KINDS = [(WindowBank, Span), (CountWindowBank, int)]
REPORTS = ["threshold_changes", "cell_changes", "dropped", "bar", "above_bar"]


def played(bank, policy, places, offers, cuts, cancelled=None, advances=False):
    """All placements, and the reports, of shortlists that get offers in blocks."""
    for place in range(places):
        assert bank.open(str(place), policy) == place
        bank.watch(place, np.array([0.2, 0.5, 0.9, 0.99]))
    told = []
    for block in blocks_of(offers, cuts):
        if not block.times.size:
            continue
        if cancelled is not None and block.publications.min() == cancelled:
            time = block.times.min()
            told += [bank.cancel(place, 1, time) for place in range(places)]
        if advances:
            told.append(bank.advance(block.times.min()))
        told.append(bank.arrive(block, NO_SETS))
    reports = bank.arenas[0].heads[:places][REPORTS].tolist()
    told.append(bank.advance(NEVER))
    return rows_of(Placements.joined(told)), reports


@pytest.mark.parametrize(("bank", "sized"), KINDS)
def test_every_cut_gives_the_same(bank, sized):
    dropped = 0
    for seed in range(25):
        draw = np.random.default_rng(seed)
        size, places = 600, 2
        times = np.cumsum(draw.integers(0, 3, size))
        expires = draw.random(size) < draw.choice([0, 0.2])
        expiries = np.where(expires, times + draw.integers(1, 100, size), NEVER)
        scores = np.round(draw.random((places, size)), draw.choice([1, 3, 9]))
        offers = offers_to(np.arange(places), times, scores, expiries, draw.integers(0, 3, size))
        policy = Window(
            k=int(draw.integers(1, 6)),
            window=sized(int(draw.integers(5, 300))),
            error=float(draw.choice([0.3, 0.05, 0.001])),
        )
        cancelled = int(draw.integers(1, size))
        outcomes = [
            played(bank(piece), policy, places, offers, cuts, cancelled, advances)
            for piece, cuts, advances in [
                (64, [cancelled], False),
                (5, sorted({cancelled, *draw.integers(0, size, 10)}), True),
                (64, range(1, size), True),
                (1, sorted({cancelled, *range(50, size, 50)}), False),
            ]
        ]
        assert all(outcome == outcomes[0] for outcome in outcomes), seed
        dropped += sum(report[REPORTS.index("dropped")] for report in outcomes[0][1])
    assert dropped > 10_000


@pytest.mark.parametrize(("bank", "sized"), KINDS)
@pytest.mark.parametrize("error", [0.01, 0.001])
def test_error_is_within_the_requested_one(bank, sized, error):
    size, places = 30_000, 6
    draw = np.random.default_rng(5)
    offers = offers_to(np.arange(places), np.arange(size), draw.random((places, size)))
    cuts = range(1000, size, 1000)
    delivered, rows = [], []
    for allowed in (0.0, error):
        banks = bank()
        placements, _ = played(
            banks, Window(k=4, window=sized(2000), error=allowed), places, offers, cuts
        )
        delivered.append({(row[0], row[2]) for row in placements})
        rows.append(banks.arenas[0].tail[0])
    exact, probable = delivered
    assert 0 < len(exact ^ probable) <= error * size * places
    assert rows[1] < rows[0]


def test_endless_windows_drop_nothing_by_chance():
    policy = Window(k=2, window=None, error=0.9)
    offers = offers_to([0], np.arange(2000), np.random.default_rng(1).random((1, 2000)))
    _, reports = played(WindowBank(), policy, 1, offers, range(100, 2000, 100))
    assert reports[0][REPORTS.index("dropped")] == 0


def test_the_chance_of_at_most_some_events():
    """As simulated: a rate of which only the events so far are known, then events at that rate."""
    draw = np.random.default_rng(3)
    for seen, during, ahead, most in [(0, 1, 1, 0), (3, 2, 1, 1), (9, 1, 2, 12), (4, 5, 5, 4)]:
        rates = draw.gamma(seen + 1, 1 / during, 200_000)
        simulated = np.mean(draw.poisson(rates * ahead) <= most)
        assert at_most(seen, float(during), float(ahead), most) == pytest.approx(
            simulated, abs=0.01
        )
