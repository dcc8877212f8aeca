"""The bank of `top-k` places what the plain selector places, and keeps no more than it must."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.policy import TopK
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.bank.preferential import PreferentialBank
from tests.selection.duels import duel
from tests.selector_calls import candidate
from tests.strategies import examples, maybe, seeds

TIMELINES = 500


def offers_to(place, scores, times=None, expiries=None):
    """Offers to one place, a microsecond apart unless said."""
    scores = np.array(scores, np.float64)
    numbers = np.arange(scores.size, dtype=np.int32)
    times = numbers.astype(np.int64) if times is None else np.array(times, np.int64)
    never = np.full(scores.size, NEVER)
    return Offers(
        places=np.full(scores.size, place, np.int32),
        times=times,
        publications=numbers,
        appeared=times,
        expiries=never if expiries is None else np.array(expiries, np.int64),
        scores=scores,
        named=np.zeros(scores.size, np.int32),
        possibilities=np.ones(scores.size),
        necessities=np.ones(scores.size),
        refreshes=np.full(scores.size, UNSET),
        matched=np.full(scores.size, ALONE, np.int32),
    )


def told(policy, offers):
    """Publications and ranks of what a fresh bank places of offers to its first place."""
    bank = PreferentialBank()
    place = bank.open("list", policy)
    assert place == 0
    placements = bank.arrive(offers, NO_SETS)
    ranked = list(zip(placements.publications.tolist(), placements.ranks.tolist(), strict=True))
    return ranked, bank.arenas[0].rows_of(place)


def skyband(offers, k):
    """What can still count of offers that were all delivered, by definition."""
    rows = list(
        zip(offers.scores.tolist(), offers.expiries.tolist(), offers.publications, strict=True)
    )
    return sorted(
        row for row in rows if sum(o[0] >= row[0] and o[1] >= row[1] and o > row for o in rows) < k
    )


def test_equals_plain_selectors():
    bank = PreferentialBank()  # one for all, so that places are used again and again
    for seed in seeds(TIMELINES):
        duel(TopK, bank, seed)


def test_equals_plain_selectors_on_long_timelines():
    for seed in seeds(50):
        duel(TopK, PreferentialBank(), seed, most=600, shortlists=2)


@examples(50)
@given(st.integers(0, 2**32))
def test_equals_a_plain_selector_on_short_timelines(seed):
    duel(TopK, PreferentialBank(), seed, most=8, shortlists=1)


def spread_candidate(pick, time, position, scale):
    """As `candidate`, but with scores and ends that seldom tie, so that many rows are kept."""
    one = candidate(pick, time, position, scale)
    score = pick(range(1000)) / 1000
    expiry = pick([None, time + pick(range(1, 90))])
    return replace(
        one,
        publication=replace(one.publication, expiry=expiry),
        score=score,
        named=one.named._replace(score=score, refresh=None),
    )


def lasting_top_k(pick):
    return TopK(
        k=pick([1, 2, 3, 8]), refresh=maybe(pick, range(20, 60)), period=maybe(pick, [50, 90])
    )


def test_equals_plain_selectors_where_much_is_kept():
    for seed in range(200):
        duel(
            TopK,
            PreferentialBank(),
            seed,
            most=400,
            shortlists=2,
            draw_policy=lasting_top_k,
            draw_candidate=spread_candidate,
        )


def test_john():
    comedy, drama = 0.9, 0.8
    shows = [comedy, drama, comedy, drama, drama, drama]
    assert [number for number, _ in told(TopK(k=2), offers_to(0, shows))[0]] == [0, 1, 2]
    over = [3, 3, 3, 9, 9, 9]
    found, _ = told(TopK(k=2), offers_to(0, shows, expiries=over))
    assert [number for number, _ in found] == [0, 1, 2, 3, 4, 5]


def test_what_was_hidden_counts_again():
    offers = offers_to(0, [0.5, 0.9, 0.3], times=[0, 5, 20], expiries=[NEVER, 10, NEVER])
    assert told(TopK(k=1), offers)[0] == [(0, 1), (1, 1)]


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_without_ends_k_rows_are_kept(k):
    random = np.random.default_rng(k)
    bank = PreferentialBank()
    place = bank.open("list", TopK(k=k))
    for _ in range(20):
        bank.arrive(offers_to(place, random.integers(0, 60, 50) / 60), NO_SETS)
        assert bank.arenas[0].rows_of(place).size <= k
    assert bank.arenas[0].rows_of(place).size == k


def test_rows_stay_few_under_refresh():
    """Of a window of w random scores about k (1 + ln(w / k)) are in the k-skyband."""
    k, w, total = 5, 1_000, 100_000
    random = np.random.default_rng(3)
    bank = PreferentialBank()
    place = bank.open("list", TopK(k=k, refresh=w))
    largest = 0
    for start in range(0, total, 100):
        times = np.arange(start, start + 100)
        bank.arrive(offers_to(place, random.random(100), times=times), NO_SETS)
        largest = max(largest, bank.arenas[0].rows_of(place).size)
    assert largest < 3 * k * (1 + np.log(w / k))
    assert bank.arenas[0].rows.size < 1_000


@pytest.mark.parametrize("k", [1, 2, 3])
def test_exactly_the_skyband_is_kept(k):
    """Scores never fall, so that all are delivered."""
    random = np.random.default_rng(k)
    for _ in range(500):
        size = random.integers(1, 30)
        scores = np.sort(random.integers(0, 9, size))
        ends = random.choice([100, 101, 102, 105, 110, NEVER], size)
        offers = offers_to(0, scores, expiries=ends)
        _, rows = told(TopK(k=k), offers)
        found = zip(rows["score"].tolist(), rows["end"].tolist(), rows["publication"], strict=True)
        assert sorted(found) == skyband(offers, k)


@pytest.mark.parametrize("span", [2**61, 2**63, 2**80])
@pytest.mark.parametrize("setting", ["refresh", "period"])
def test_spans_beyond_all_times(setting, span):
    """They last; but a period that began before the epoch ends there."""
    policy = TopK(k=1, **{setting: span})
    year = 366 * 86_400_000_000
    times = [-2000 * year, -1999 * year, 8000 * year]
    ranked, _ = told(policy, offers_to(0, [0.5, 0.4, 0.3], times=times))
    assert ranked == ([(0, 1)] if setting == "refresh" else [(0, 1), (2, 1)])
