"""The bank of `novelty` places what the plain selector places, whatever happens to its arenas."""

from itertools import count, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.measures.distance import interdelivery_distance
from shortlist.measures.spread import entropy
from shortlist.model.policy import Novelty
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.novelty import NoveltyBank
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import renumber
from tests.selection.duels import Player, bank_rows, duel, offers_of, plain_row
from tests.selector_calls import novelty
from tests.strategies import examples, seeded, seeds

TIMELINES = 500
MODES = list(product(["lazy", "eager"], ["threshold", "sampling", "random"]))
every_mode = pytest.mark.parametrize(("mode", "algorithm"), MODES, ids=map("-".join, MODES))


def test_equals_plain_selectors():
    bank = NoveltyBank()  # one for all, so that places are used again and again
    for seed in seeds(TIMELINES):
        duel(Novelty, bank, seed)


@every_mode
def test_equals_plain_selectors_through_many_periods(mode, algorithm):
    def policy(pick):
        return Novelty(
            rate=pick([0.05, 0.2, 0.5, 0.9, 1.0]),
            period=pick([1, 2, 3, 8, 30, 31, 64]),
            mode=mode,
            measure=pick(["rate", "interval"]),
            algorithm=algorithm,
            aging=pick([1.0, 0.3]),
        )

    for seed in range(60):
        duel(Novelty, NoveltyBank(), seed, most=700, shortlists=2, draw_policy=policy)


@examples(50)
@given(st.integers(0, 2**32))
def test_equals_a_plain_selector_on_short_timelines(seed):
    duel(Novelty, NoveltyBank(), seed, most=9, shortlists=1)


# ---- many subscriptions, and all that may happen to arenas between calls ----

NAMES = [f"s{number:02}" for number in range(40)]


def wide_candidate(pick, position):
    """A publication that matches up to five of many subscriptions, some of them often."""
    names = sorted({pick(NAMES[: pick([3, 10, 40])]) for _ in range(pick([1, 1, 2, 5]))})
    matches = tuple(ScoredMatch(name, 1.0, pick([0.25, 1.0]), 0.25) for name in names)
    publication = Publication(id=f"p{position}", source="s", time=0, position=position)
    return Candidate(publication, "list", 1.0, pick(matches), matches)


def renumbered(pick, bank, players):
    """Subscriptions get other numbers, in the order of the old ones."""
    new, numbers = count(pick([0, 3])), np.full(1 << 16, -1, np.int32)
    for old in sorted(number for player in players for number in player.numbers.values()):
        numbers[old] = next(new)
    for arena in bank.arenas:
        if arena.holds("subscription"):
            renumber(*arena.field("subscription"), numbers)
    for player in players:
        player.numbers = {name: int(numbers[old]) for name, old in player.numbers.items()}


def reborn(bank):
    """Another bank with the same state, which stands at other places of its arenas."""
    other = NoveltyBank()
    for arena, new in zip(bank.arenas, other.arenas, strict=True):
        new.reserve(arena.heads.size - 1)
        for name in set(arena.heads.dtype.names) - {"start", "length", "capacity", "is_restored"}:
            new.heads[name] = arena.heads[name]
        for place in np.flatnonzero(arena.heads["length"])[::-1].tolist():
            new.put(place, arena.rows_of(place))
        new.heads["is_restored"] = 1
    return other


def reordered(pick, bank, players):
    """As when state is read that was saved: numbers are others, in another order."""
    other = reborn(bank)
    numbers = np.arange(1 << 16, dtype=np.int32)
    for player in players:
        names = list(player.numbers)
        old = np.array([player.numbers[name] for name in names])
        new = np.array(sorted(old, key=lambda _: pick(range(1000))))
        numbers[old] = new
        player.numbers = dict(zip(names, new.tolist(), strict=True))
    for arena in other.arenas:
        if arena.holds("subscription"):
            renumber(*arena.field("subscription"), numbers)
    return other


def wide_duel(seed):
    pick = seeded(seed)
    bank, players = NoveltyBank(), []
    for number in range(pick([1, 2, 4])):
        policy, name = novelty(pick), f"list {number}"
        numbers = {each: 100 * number + at for at, each in enumerate(NAMES)}
        players.append(Player(name, policy, bank.open(name, policy), numbers))
    for start in range(0, 400, 40):
        block, expected = [], []
        for position in range(start, start + pick([1, 5, 40])):
            player, one = pick(players), wide_candidate(pick, position)
            placements = player.plain.arrive(one, 0).placements
            expected += [plain_row(player, placed) for placed in placements]
            block.append((player, one, 0))
        found = bank_rows(bank.arrive(*offers_of(block)), players)
        assert sorted(found) == sorted(expected), (seed, [player.policy for player in players])
        event = pick(["cancel", "cancel", "renumber", "reborn", "reorder", None])
        if event == "cancel":
            player, name = pick(players), pick(NAMES[:10])
            player.plain.cancel(name, 0)
            bank.cancel(player.place, player.numbers[name], 0)
        elif event == "renumber":
            renumbered(pick, bank, players)
        elif event == "reborn":
            bank = reborn(bank)
        elif event == "reorder":
            bank = reordered(pick, bank, players)


def test_equals_plain_selectors_with_many_subscriptions():
    for seed in range(400):
        wide_duel(seed)


# ---- known answers ----

SUBSCRIPTIONS = 10


@pytest.fixture(scope="module")
def zipf():
    weights = 1 / np.arange(1, SUBSCRIPTIONS + 1) ** 1.25
    random = np.random.default_rng(42)
    return random.choice(SUBSCRIPTIONS, size=100_000, p=weights / weights.sum())


def offers_to(place, named):
    """Offers to one place, each of which matches one subscription."""
    named = np.asarray(named, np.int32)
    numbers = np.arange(named.size, dtype=np.int32)
    times = numbers.astype(np.int64)
    return Offers(
        places=np.full(named.size, place, np.int32),
        times=times,
        publications=numbers,
        appeared=times,
        expiries=np.full(named.size, NEVER),
        scores=np.ones(named.size),
        named=named,
        possibilities=np.ones(named.size),
        necessities=np.ones(named.size),
        refreshes=np.full(named.size, UNSET),
        matched=np.full(named.size, ALONE, np.int32),
    )


def delivered_of(kinds, **policy):
    bank = NoveltyBank()
    place = bank.open("list", Novelty(rate=0.2, period=1000, **policy))
    return bank.arrive(offers_to(place, kinds), NO_SETS).named


@pytest.mark.parametrize(
    ("policy", "bits", "share"),
    [
        ({"measure": "rate"}, 3.3219, 0.2),
        ({"measure": "interval"}, 3.28, 0.176),
        ({"measure": "interval", "aging": 0.1}, 3.32, None),
        ({"algorithm": "sampling"}, 3.32, 0.195),
    ],
    ids=["threshold-rate", "threshold-interval", "threshold-interval-aging", "sampling"],
)
def test_figures(zipf, policy, bits, share):
    delivered = delivered_of(zipf, **policy)
    spread = entropy(np.bincount(delivered, minlength=SUBSCRIPTIONS).tolist())
    assert spread == pytest.approx(bits, abs=1e-4 if bits == 3.3219 else 0.01)
    if share is not None:
        assert delivered.size / zipf.size == pytest.approx(share, abs=0.003)


def test_each_subscription_comes_back_after_ten_deliveries(zipf):
    distance = interdelivery_distance(delivered_of(zipf, measure="rate").tolist())
    assert distance.mean == pytest.approx(SUBSCRIPTIONS, abs=0.01)


# ---- what is kept ----


@every_mode
def test_memory_is_bounded_by_the_period(zipf, mode, algorithm):
    """A row for each subscription, and for each match of a period at most one and some room."""
    bank = NoveltyBank()
    policy = Novelty(rate=0.5, period=50, mode=mode, algorithm=algorithm)
    place = bank.open("list", policy)
    for start in range(0, 20_000, 10):
        bank.arrive(offers_to(place, zipf[start : start + 10]), NO_SETS)
    rows = [arena.rows_of(place).size for arena in bank.arenas]
    assert rows[0] == SUBSCRIPTIONS
    assert all(held <= 70 for held in rows)
    assert all(arena.rows.size < 300 for arena in bank.arenas)


@every_mode
def test_memory_grows_only_with_matches(mode, algorithm):
    bank = NoveltyBank()
    place = bank.open("list", Novelty(rate=1.0, period=2**80, mode=mode, algorithm=algorithm))
    assert bank.arrive(offers_to(place, [0, 1, 0]), NO_SETS).publications.tolist() == [0, 1, 2]
    assert all(arena.rows_of(place).size <= 4 for arena in bank.arenas)


@every_mode
def test_a_place_that_closes_leaves_nothing(mode, algorithm):
    bank, policy = NoveltyBank(), Novelty(rate=0.5, period=4, mode=mode, algorithm=algorithm)
    first = bank.open("list", policy)
    before = bank.arrive(offers_to(first, [0, 1, 0, 0, 1, 0, 0]), NO_SETS)
    bank.close(np.array([first]), np.array([0]))
    assert all(not arena.rows_of(first).size for arena in bank.arenas)
    assert bank.open("list", policy) == first
    after = bank.arrive(offers_to(first, [0, 1, 0, 0, 1, 0, 0]), NO_SETS)
    assert after.publications.tolist() == before.publications.tolist()
