"""The bank of `diverse` places what the plain selector places, and keeps little of the window."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.intake.reading import items_of
from shortlist.model.aspects import Aspect
from shortlist.model.durations import Span
from shortlist.model.items import Wanted
from shortlist.model.policy import Diverse
from shortlist.model.publication import Publication
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.diverse import DiverseBank
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.bank.publications import Publications
from tests.selection.duels import duel
from tests.selector_calls import RENT, candidate, diverse
from tests.strategies import examples, seeded, seeds

TIMELINES = 200


class Traveller:
    """A bank as `duel` calls it, with positions for numbers.

    Now and then publications are swept, or everything goes on in another bank that was restored.
    """

    def __init__(self, seed, draw_candidate=candidate):
        self.publications = Publications()
        self.bank = DiverseBank(self.publications)
        self._pick = seeded(seed)
        self._draw_candidate = draw_candidate
        self._drawn = {}
        self._policies = {}
        self._places = {}  # of the bank, by those that were told
        self._opened = 0

    def draw_candidate(self, pick, time, position, scale):
        one = self._draw_candidate(pick, time, position, scale)
        self._drawn[position] = one.publication
        return one

    def open(self, shortlist, policy):
        told = self._opened
        self._opened += 1
        self._policies[told] = policy
        self._places[told] = self.bank.open(shortlist, policy)
        return told

    def arrive(self, offers, sets):
        self._travel()
        positions = np.sort(offers.publications)
        first = added(self.publications, [self._drawn[at] for at in positions.tolist()])
        numbers = first + np.searchsorted(positions, offers.publications)
        places = [self._places[told] for told in offers.places.tolist()]
        offers = offers._replace(places=np.array(places, np.int32), publications=numbers)
        return self._told(self.bank.arrive(offers, sets))

    def advance(self, before):
        self._travel()
        return self._told(self.bank.advance(before))

    def retract(self, position, time):
        self._travel()
        gone = self._drawn[position]
        numbers = self.publications.named(gone.source, gone.id)
        # nobody holds what is not known any more
        number = numbers[0] if numbers else -1
        return self._told(self.bank.retract(number, time))

    def cancel(self, place, subscription, time):
        self._travel()
        return self._told(self.bank.cancel(self._places[place], subscription, time))

    def close(self, places, times):
        self._travel()
        gone = places.tolist()
        placed = self._told(self.bank.close(np.array([self._places[n] for n in gone]), times))
        for place in gone:
            del self._policies[place], self._places[place]
        return placed

    def _told(self, placements):
        told = {place: told for told, place in self._places.items()}
        positions = [self.publications[n].position for n in placements.publications.tolist()]
        return placements._replace(
            places=np.array([told[place] for place in placements.places.tolist()], np.int32),
            publications=np.array(positions, np.int32),
        )

    def _travel(self):
        how = self._pick(["stay", "stay", "sweep", "restore"])
        if how == "sweep":
            self.publications.sweep(self.bank.arenas)
        elif how == "restore":
            self._restore()

    def _restore(self):
        """As a snapshot does: by serial number, and with places of its own."""
        before, known = self.bank.arenas[0], self.publications
        rows = before.rows_of_all(np.flatnonzero(before.heads["length"]))
        held = np.unique(before.rows["publication"][rows])
        self.publications = Publications()
        self.bank = DiverseBank(self.publications)
        places = {told: self.bank.open("", self._policies[told]) for told in [*self._places][::-1]}
        self.publications.restore(known.saved(known.facts["serial"][held]), known.serials)
        own = ("start", "capacity", "is_open", "is_restored")
        for told, place in places.items():
            heads = before.heads[[self._places[told]]]
            rows = before.rows_of(self._places[told]).copy()
            rows["publication"] = np.searchsorted(held, rows["publication"])
            self.bank.arenas[0].load(
                np.array([place]),
                {name: heads[name] for name in heads.dtype.names if name not in own},
                {name: rows[name] for name in rows.dtype.names},
            )
        self._places = places


def meet(seed, draw_candidate=candidate, **settings):
    bank = Traveller(seed, draw_candidate)
    duel(Diverse, bank, seed, draw_candidate=bank.draw_candidate, **settings)


def test_equals_plain_selectors():
    for seed in seeds(TIMELINES):
        meet(seed)


@examples(30)
@given(st.integers(0, 2**32))
def test_equals_a_plain_selector_on_short_timelines(seed):
    meet(seed, most=12, shortlists=1)


def large_window(pick):
    """So that much is in it."""
    window = pick([None, Span(pick(range(20, 200))), pick(range(5, 90))])
    return replace(diverse(pick), window=window)


def close_candidate(pick, time, position, scale):
    """As `candidate`, mostly of one subscription, and with scores that values hardly tell apart."""
    one = candidate(pick, time, position, scale)
    score = pick([0, 1, 2, 3]) / 2 + pick(range(4)) * 1e-9
    named = one.named._replace(subscription=pick("aaaab"), score=score)
    expiry = pick([None, None, time + pick(range(1, 90))])
    publication = replace(one.publication, expiry=expiry)
    return replace(one, publication=publication, score=score, named=named, matches=(named,))


@pytest.mark.parametrize("draw_candidate", [candidate, close_candidate])
def test_equals_plain_selectors_where_rows_are_pruned(draw_candidate):
    for seed in seeds(12):
        meet(seed, draw_candidate, most=400, shortlists=2, draw_policy=large_window)


def by_rent(pick):
    return Diverse(
        k=pick([2, 3, 4]),
        window=pick([None, Span(300)]),
        over=(Aspect(RENT, 1.0),),
        weight=pick([0.3, 0.5, 0.7]),
    )


def spread_candidate(pick, time, position, scale):
    """Seldom ties; the best leave soon, so that others come to be chosen among those that stay."""
    one = candidate(pick, time, position, scale)
    expiry = pick([None, None, None, time + pick(range(1, 40))])
    score = pick(range(1000)) / 1000 + (0.0 if expiry is None else 0.5)
    named = one.named._replace(subscription="a", score=score)
    publication = replace(
        one.publication, expiry=expiry, data={"flat": {"rent": pick(range(1000)) / 1000}}
    )
    return replace(one, publication=publication, score=score, named=named, matches=(named,))


def test_equals_plain_selectors_where_distances_prune():
    for seed in seeds(8):
        meet(seed, spread_candidate, most=300, shortlists=1, draw_policy=by_rent)


AREA = Aspect(("area",), None)


def added(publications, some):
    """The number of the first of publications that appear."""
    return publications.add(items_of(some, Wanted(data=True))[0])


def offers_to(place, publications, areas, scores):
    """Offers to one place of publications that are added, a microsecond apart."""
    first = publications.serials
    some = [
        Publication(id=f"{n}", source="ads", time=n, position=n, data={"area": area})
        for n, area in enumerate(areas, start=first)
    ]
    start, size = added(publications, some), len(some)
    times = np.arange(first, first + size)
    return Offers(
        places=np.full(size, place, np.int32),
        times=times,
        publications=np.arange(start, start + size, dtype=np.int32),
        appeared=times,
        expiries=np.full(size, NEVER),
        scores=np.array(scores, np.float64),
        named=np.zeros(size, np.int32),
        possibilities=np.ones(size),
        necessities=np.ones(size),
        refreshes=np.full(size, UNSET),
        matched=np.full(size, ALONE, np.int32),
    )


def most_rows(policy, classes, total=20_000, block=100):
    """The largest number of rows on a long stream, with publications swept in between."""
    random, publications = np.random.default_rng(1), Publications()
    bank = DiverseBank(publications)
    place, largest = bank.open("list", policy), 0
    for _ in range(0, total, block):
        areas = random.integers(0, classes, block).tolist()
        bank.arrive(offers_to(place, publications, areas, random.random(block)), NO_SETS)
        largest = max(largest, bank.arenas[0].rows_of(place).size)
        publications.sweep(bank.arenas)
    return largest


def test_of_an_endless_window_one_of_each_kind_is_kept():
    policy = Diverse(k=5, window=None, over=(AREA,), weight=0.5)
    assert most_rows(policy, classes=20) <= 2 * 20 + 16


@pytest.mark.parametrize("window", [Span(2_000), 2_000])
def test_of_each_kind_few_are_kept(window):
    """Of w random scores about 1 + ln w are not followed by a better one."""
    policy = Diverse(k=5, window=window, over=(AREA,), weight=0.5)
    expected = 20 * (1 + np.log(2_000 / 20))
    assert most_rows(policy, classes=20) < 3 * expected


def test_without_weight_few_of_many_kinds_are_kept():
    policy = Diverse(k=5, window=2_000, over=(AREA,), weight=0.0)
    assert most_rows(policy, classes=10**9) < 2_000 / 5


def test_spaces_are_shared_and_told_apart():
    publications = Publications()
    bank = DiverseBank(publications)
    by_rent = Diverse(k=2, window=None, over=(Aspect(("rent",), 500.0),))
    by_area = Diverse(k=2, window=None, over=(AREA,))
    places = [bank.open(f"{n}", policy) for n, policy in enumerate([by_rent, by_area, by_rent])]
    offers = offers_to(0, publications, ["north", "south"], [0.5, 0.4])
    everybody = Offers._make(np.tile(column, 3) for column in offers)
    everybody = everybody._replace(places=np.repeat(np.array(places, np.int32), 2))
    placed = bank.arrive(everybody, NO_SETS)
    assert sorted(zip(placed.places.tolist(), placed.publications.tolist(), strict=True)) == [
        (places[0], 0),
        (places[1], 0),
        (places[1], 1),
        (places[2], 0),
    ]
