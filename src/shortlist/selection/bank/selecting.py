"""Every shortlist's policies, in banks: offers in, placements out.

The policies of a chain stand on levels, the first on the first. A level has a bank for each kind of
policy; what one places is an offer to the next level, or a delivery behind the last. Levels hear of
everything one after the other, so that what an earlier one still places comes first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.model.items import Items
from shortlist.model.policy import POLICIES, Everything, Policy, SinglePolicy, policies_of
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.combined import Combined
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.banks import bank_kind, bank_of_kind, policy_kind
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.kept_sets import KeptSets
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.publications import Publications
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.world import Subscriptions, World
from shortlist.selection.kernels.parting import moved, parted, taken

TellSome = Callable[[Bank, Longs, Longs], Placements]
"""Tells a bank something of some of its places, of each with an instant."""


class Stage(NamedTuple):
    """Where one policy of a shortlist is carried out; its level is its place in the chain."""

    kind: str
    """Of the bank."""
    place: int

    @property
    def policy(self) -> type[SinglePolicy]:
        return POLICIES[policy_kind(self.kind)]


class Level:
    """The banks for policies at one place of their chains, and who is where."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.banks: dict[str, Bank] = {}
        self._owners: dict[str, Table] = {}
        self._stages = Table([("bank", "i1"), ("place", "i4")])

    def open_all(self, numbers: Longs, shortlists: Sequence[str], policy: SinglePolicy) -> None:
        """Gives each of some shortlists a place here."""
        kind = bank_kind(policy)
        if kind not in self.banks:
            self.banks[kind] = bank_of_kind(kind, self.world)
            self._owners[kind] = Table([("shortlist", "i4")])
        places = self.banks[kind].open_all(shortlists, policy)
        self._owners[kind].put_all(places, shortlist=numbers)
        self._stages.put_all(numbers, bank=[*self.banks].index(kind), place=places)

    def stage(self, number: int) -> Stage:
        """Where a shortlist is that has a policy here."""
        bank, place = self._stages.records[number].tolist()
        return Stage([*self.banks][bank], place)

    def places(self, numbers: Longs) -> Longs:
        """Where shortlists are that have policies of one kind here."""
        places: Longs = self._stages["place"][numbers].astype(np.int64)
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        """Offers to shortlists by number, all of which have a policy here."""
        ends = np.empty(len(self.banks), np.int64)
        banks, places = (taken(self._stages[name], offers.places) for name in ("bank", "place"))
        to = parted(banks, ends)
        columns = offers._replace(places=places).aligned()
        offers = Offers._make(moved(column, to) for column in columns)
        placed, first = [NO_PLACEMENTS], 0
        for (kind, bank), end in zip(self.banks.items(), ends.tolist(), strict=True):
            if first < end:
                here = offers.kept(slice(first, end))
                placed.append(self.owned(kind, bank.arrive(here, sets)))
            first = end
        return Placements.joined(placed)

    def told(self, tell: Callable[[Bank], Placements]) -> Placements:
        """What every bank places when it is told something."""
        placed = [self.owned(kind, tell(bank)) for kind, bank in self.banks.items()]
        return Placements.joined([NO_PLACEMENTS, *placed])

    def some_told(self, numbers: Longs, times: Longs, tell: TellSome) -> Placements:
        """What banks place when they are told something of some shortlists that have a policy
        here, of each with an instant."""
        banks, places = (self._stages[name][numbers] for name in ("bank", "place"))
        placed = [NO_PLACEMENTS]
        for number, (kind, bank) in enumerate(self.banks.items()):
            which = np.flatnonzero(banks == number)
            if which.size:
                here = places[which].astype(np.int64)
                placed.append(self.owned(kind, tell(bank, here, times[which])))
        return Placements.joined(placed)

    def owners(self, kind: str, places: Ints | Longs) -> Ints:
        """The numbers of the shortlists at places of a bank."""
        numbers: Ints = self._owners[kind]["shortlist"][places]
        return numbers

    def owned(self, kind: str, placements: Placements) -> Placements:
        """The same with shortlists' numbers for places."""
        return placements._replace(places=self.owners(kind, placements.places))


class BankSelecting:
    """Shortlists are known by number, and so are subscriptions."""

    def __init__(self, subscriptions: Subscriptions) -> None:
        self.publications = Publications()
        self.sets = KeptSets()
        self.world = World(self.publications, subscriptions, self.sets)
        self.levels: list[Level] = []
        self._shortlists = Table([("depth", "i4"), ("is_unranked", "?")])

    def open_all(self, shortlists: Mapping[int, Shortlist]) -> None:
        """Shortlists begin, by number; those of one policy together."""
        alike: dict[Policy, list[int]] = {}
        for number, shortlist in shortlists.items():
            alike.setdefault(shortlist.policy, []).append(number)
        for policy, numbers in alike.items():
            names = [shortlists[number].id for number in numbers]
            self.open_alike(policy, np.array(numbers), names)

    def open_alike(self, policy: Policy, numbers: Longs, shortlists: Sequence[str]) -> None:
        """Shortlists of one policy begin, with their numbers and names."""
        choosy = _choosy(policy)
        while len(self.levels) < len(choosy):
            self.levels.append(Level(self.world))
        for level, each in zip(self.levels, choosy, strict=False):
            level.open_all(numbers, shortlists, each)
        is_unranked = isinstance(policies_of(policy)[-1], Everything)
        self._shortlists.put_all(numbers, depth=len(choosy), is_unranked=is_unranked)

    def stages(self, number: int) -> list[Stage]:
        """Where the policies of a live shortlist are carried out, one behind the other."""
        return [level.stage(number) for level in self.levels[: self._shortlists["depth"][number]]]

    def close_all(self, instants: Mapping[int, int]) -> Placements:
        """Shortlists go, by number, each at an instant; only what is due by then still happens."""
        return self._some_told(instants, lambda bank, *some: bank.close(*some))

    def change_alike(self, policy: Policy, instants: Mapping[int, int]) -> Placements:
        """Shortlists get a policy that keeps what they hold, by number, each at an instant; what
        is due by then happens before.

        The last one of a chain first, so that what is released for that goes by the new policies.
        """
        policies = _choosy(policy)
        found = [self._some_told(instants, lambda bank, *some: bank.settle(*some))]
        for depth in reversed(range(len(policies))):
            change = partial(_change, policies[depth])
            flow = self.levels[depth].some_told(*_columns(instants), change)
            appeared = self.publications.facts["time"][flow.publications]
            flow = flow._replace(promoted=flow.promoted & (appeared < flow.times))
            for later in range(depth + 1, len(policies)):
                _, flow = self._passed_on(later, NO_PLACEMENTS, flow)
            found.append(self._ranked(flow))
        return Placements.joined(found)

    def cancel(self, number: int, subscription: int, time: int) -> Placements:
        """A subscription of a shortlist goes."""
        is_chained = self._shortlists["depth"][number] > 1

        def cancel(bank: Bank, places: Longs, times: Longs) -> Placements:
            place, due = int(places[0]), NO_PLACEMENTS
            if is_chained:
                # what was due takes the whole set of its matches along
                due = bank.settle(places, times)
                for arena in bank.arenas:
                    if arena.holds("matched"):
                        known = arena.rows_of(place)["matched"]
                        known[:] = self.sets.without(subscription, known)
            return Placements.joined([due, bank.cancel(place, subscription, time)])

        return self._some_told({number: time}, cancel)

    def publish(
        self, publications: Items, first: int, combined: Combined, sets: MatchSets
    ) -> Placements:
        """Publications appear, in order, with the shortlists that match them; `first` is the
        number of the first of them."""
        times = taken(publications.times, combined.publications)
        offers = self._offers(
            combined,
            places=combined.shortlists,
            publications=combined.publications + np.int32(first),
            times=times,
            appeared=times,
            expiries=taken(publications.numbers("expiry", NEVER), combined.publications),
        )
        return self._ranked(self._arrived(offers, sets))

    def _arrived(self, offers: Offers, sets: MatchSets) -> Placements:
        is_chained = taken(self._shortlists["depth"], offers.places) > 1
        if not is_chained.any():
            return self._chosen(offers, sets)
        chained = offers.kept(is_chained)
        chained = chained._replace(matched=self.sets.keep(chained.matched, sets))
        delivered = self._chosen(offers.kept(~is_chained), sets)
        flow = self.levels[0].arrive(chained, self.sets.sets)
        for depth in range(1, len(self.levels)):
            delivered, flow = self._passed_on(depth, delivered, flow)
        return Placements.joined([delivered, flow])

    def advance(self, before: int) -> Placements:
        """Everything that is due before an instant happens, in every shortlist."""
        return self._told(lambda _, level: level.told(lambda bank: bank.advance(before)))

    def retract(self, source: str, publication: str, time: int) -> Placements:
        """A publication leaves at an instant, after all that is due before in any shortlist."""

        def retracted(number: int) -> Placements:
            return self._told(lambda _, level: level.told(lambda bank: bank.retract(number, time)))

        numbers = self.publications.named(source, publication)
        return Placements.joined([NO_PLACEMENTS, *map(retracted, numbers)])

    def expected(self, until: int) -> tuple[Floats, Ints]:
        """What offers up to an instant must reach, by shortlist: a floor and a k, as `Hopes` has
        it, -1 where every offer matters."""
        depths = self._shortlists["depth"]
        floors, ks = np.full(depths.size, -np.inf), np.full(depths.size, -1, np.int32)
        for kind, bank in self.levels[0].banks.items() if self.levels else ():
            hopes = bank.expected(until)
            if hopes is not None:
                owners = self.levels[0].owners(kind, hopes.places)
                floors[owners], ks[owners] = hopes.floors, hopes.ks
        return floors, np.where(depths == 1, ks, np.int32(-1))

    def sweep(self) -> None:
        """Forgets what no shortlist holds any more. Numbers of publications change."""
        if self.publications.is_worth_sweeping:
            self.publications.sweep(self.arenas())
        if self.sets.is_worth_sweeping:
            self.sets.sweep(self.arenas())

    def arenas(self) -> Iterator[Arena]:
        """All state of all shortlists."""
        for level in self.levels:
            for bank in level.banks.values():
                yield from bank.arenas

    @property
    def threshold_changes(self) -> int:
        """How often what a publication needs to be among the k best of a window has changed."""
        heads = (bank.arenas[0].heads for level in self.levels for bank in level.banks.values())
        counting = (each for each in heads if "threshold_changes" in (each.dtype.names or ()))
        return sum(int(each["threshold_changes"].sum()) for each in counting)

    def _told(self, tell: Callable[[int, Level], Placements]) -> Placements:
        """What shortlists place when their policies are told something, level by level."""
        delivered = flow = NO_PLACEMENTS
        for depth, level in enumerate(self.levels):
            delivered, flow = self._passed_on(depth, delivered, flow)
            flow = Placements.joined([flow, tell(depth, level)])
        return self._ranked(Placements.joined([delivered, flow]))

    def _some_told(self, instants: Mapping[int, int], tell: TellSome) -> Placements:
        """The same of some shortlists by number, each with an instant."""
        numbers, times = _columns(instants)
        depths = self._shortlists["depth"][numbers]

        def tell_some(depth: int, level: Level) -> Placements:
            has_stage = depths > depth
            return level.some_told(numbers[has_stage], times[has_stage], tell)

        return self._told(tell_some)

    def _passed_on(
        self, depth: int, delivered: Placements, flow: Placements
    ) -> tuple[Placements, Placements]:
        """Parts what the level above placed: deliveries, and what this level makes of the rest."""
        if not flow.places.size:
            return delivered, flow
        goes_on = self._shortlists["depth"][flow.places] > depth
        delivered = Placements.joined([delivered, flow.kept(~goes_on)])
        flow = flow.kept(goes_on)
        if not flow.places.size:
            return delivered, NO_PLACEMENTS
        # in order of time they are already; what comes to one shortlist has to stand together
        flow = flow.kept(np.argsort(flow.places, kind="stable"))
        placed = self.levels[depth].arrive(self._passed(flow), self.sets.sets)
        was_promoted = np.isin(_keys(placed), _keys(flow.kept(flow.promoted)))
        return delivered, placed._replace(promoted=placed.promoted | was_promoted)

    def _passed(self, placed: Placements) -> Offers:
        """What one level placed, as the next one takes it."""
        facts = self.publications.facts[placed.publications]
        return self._offers(
            placed,
            places=placed.places,
            publications=placed.publications,
            times=placed.times,
            appeared=facts["time"],
            expiries=facts["expiry"],
        )

    def _offers(self, found: Combined | Placements, **columns: Any) -> Offers:
        """What was found, with what is known of publications and subscriptions, as offers."""
        return Offers(
            scores=found.scores,
            named=found.named,
            possibilities=found.possibilities,
            necessities=found.necessities,
            matched=found.matched,
            refreshes=taken(self.world.subscriptions.refreshes(), found.named),
            **columns,
        )

    def _chosen(self, offers: Offers, sets: MatchSets) -> Placements:
        """What shortlists with one policy, or with none that chooses, place."""
        is_choosy = taken(self._shortlists["depth"], offers.places) > 0
        if is_choosy.all():
            return self.levels[0].arrive(offers, sets) if offers.places.size else NO_PLACEMENTS
        every = offers.placed(~is_choosy)
        if not is_choosy.any():
            return every
        return Placements.joined([every, self.levels[0].arrive(offers.kept(is_choosy), sets)])

    def _ranked(self, placed: Placements) -> Placements:
        """The same without ranks where the last policy of a chain has none."""
        if not placed.places.size:
            return placed
        is_unranked = self._shortlists["is_unranked"][placed.places]
        return placed._replace(ranks=np.where(is_unranked, np.int32(0), placed.ranks))


def _choosy(policy: Policy) -> list[SinglePolicy]:
    """What passes everything on changes nothing, but for the rank if it is the last."""
    return [each for each in policies_of(policy) if not isinstance(each, Everything)]


def _change(policy: SinglePolicy, bank: Bank, places: Longs, times: Longs) -> Placements:
    """As `TellSome`, once it has a policy."""
    return bank.change(places, policy, times)


def _columns(instants: Mapping[int, int]) -> tuple[Longs, Longs]:
    """Numbers of shortlists, and an instant for each."""
    size = len(instants)
    return np.fromiter(instants, np.int64, size), np.fromiter(instants.values(), np.int64, size)


def _keys(placed: Placements) -> Longs:
    """What tells placements of one level apart."""
    keys: Longs = (placed.places.astype(np.int64) << 32) | placed.publications
    return keys
