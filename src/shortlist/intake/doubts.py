"""Subscriptions of many pieces, checked against each other: by columns, and those that there is
doubt about one by one, with the words of the one reader."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.intake.cutting import Numbered, Part, parts_of_file, parts_of_list
from shortlist.intake.files import Entry, RegistryBuilder, repeated
from shortlist.intake.tables import NotATable
from shortlist.matching.arrays import Bools, Longs
from shortlist.matching.index.texts import Texts, stable_hash
from shortlist.model.problem import Problem
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.wording import MOST_COMPARED


class Named(NamedTuple):
    """What is known of the subscriptions of a piece, though some may be broken."""

    part: Part
    numbers: Longs
    ids: Texts
    """Empty where there is none."""
    hashes: Longs
    shortlists: Texts
    labels: dict[int, str]

    def entry(self, row: int) -> Entry:
        number, name = int(self.numbers[row]), self.ids[row] or None
        file, _ = self.part.place(number)
        home = self.shortlists[row] or None
        return Entry("subscription", file, name, self.labels.get(row), home, None)


class Cutter(RegistryBuilder):
    """Reads all of a registry but its subscriptions, which it cuts into parts."""

    def __init__(self, limits: Limits, lanes: int) -> None:
        super().__init__(limits)
        self._lanes = lanes
        self.parts: list[Part] = []
        self._told: list[int] = []
        """How many problems there were before each part."""
        self._named: Sequence[Named] = ()

    def extend(self, kind: str, entries: Iterable[object], file: str) -> None:
        if kind == "subscriptions":
            self._take(parts_of_list(file, entries, self._lanes))
        else:
            super().extend(kind, entries, file)

    def is_read_elsewhere(self, kind: str, file: Path) -> bool:
        if kind != "subscriptions":
            return False
        try:
            self._take(parts_of_file(file, self._lanes))
        except NotATable as error:
            self.complain(file.name, str(error), unread=kind)
        return True

    def _take(self, parts: Sequence[Part]) -> None:
        self.parts += parts
        self._told += [len(self._problems)] * len(parts)

    def rest(self, problems: Sequence[Sequence[Numbered]], named: Sequence[Named]) -> Registry:
        """What was read here, if all is good; given what is wrong with each part, and all pieces
        in order."""
        told = [*self._problems]
        for before, found in reversed([*zip(self._told, problems, strict=True)]):
            told[before:before] = [problem for _, problem in sorted(found, key=lambda one: one[0])]
        self._problems, self._named = told, named
        return self.registry()

    def _conflicts(self) -> Iterator[Problem]:
        shortlists = {entry.id for entry in self._entries["shortlists"] if entry.id is not None}
        doubts = _Doubts(self._named, shortlists)
        yield from repeated(self._entries["shortlists"])
        yield from repeated(doubts.entries(doubts.repeated()))
        yield from repeated(self._entries["advertisements"])
        yield from self._home_conflicts(doubts.entries(doubts.homes()), doubts.few_owners())


class _Doubts:
    """Rows that may be in conflict with something, counted over all pieces."""

    def __init__(self, named: Sequence[Named], shortlists: set[str]) -> None:
        self._named, self._shortlists = named, shortlists
        self._starts = np.cumsum([0, *(each.numbers.size for each in named)])
        self._hashes = np.concatenate([np.empty(0, np.uint64), *(each.hashes for each in named)])
        owns = [np.diff(each.shortlists.offsets) == 0 for each in named]
        self._owns: Bools = np.concatenate([np.empty(0, np.bool_), *owns])

    def entries(self, rows: Longs) -> list[Entry]:
        pieces = np.searchsorted(self._starts, rows, "right") - 1
        return [
            self._named[piece].entry(row - int(self._starts[piece]))
            for piece, row in zip(pieces.tolist(), rows.tolist(), strict=True)
        ]

    def repeated(self) -> Longs:
        """Those with an id that others have, too, as far as hashes tell."""
        order = np.argsort(self._hashes, kind="stable")
        same = self._hashes[order][1:] == self._hashes[order][:-1]
        return np.unique(np.append(order[1:][same], order[:-1][same]))

    def homes(self) -> Longs:
        """Those whose own shortlist has the id of another, or that name one that is not there."""
        taken = np.array([stable_hash(name) for name in self._shortlists], np.uint64)
        clashes = np.flatnonzero(self._owns & np.isin(self._hashes, taken))
        return np.union1d(clashes, self._unknown())

    def few_owners(self) -> set[str | None]:
        """The ids of those who have a shortlist of their own: so many that nobody would compare
        more."""
        rows = np.flatnonzero(self._owns)
        _, firsts = np.unique(self._hashes[rows], return_index=True)
        return {entry.id for entry in self.entries(rows[firsts[: MOST_COMPARED + 2]])}

    def _unknown(self) -> Longs:
        if self._owns.all():
            return np.empty(0, np.int64)
        homes = self._column("shortlists")
        different = pc.unique(homes)
        known = pa.array([*self._shortlists, ""], pa.large_string())
        missing = different.filter(pc.invert(pc.is_in(different, value_set=known)))
        if len(missing):
            owners = self._column("ids").filter(pa.array(self._owns))
            missing = missing.filter(pc.invert(pc.is_in(missing, value_set=owners)))
        return np.flatnonzero(np.asarray(pc.is_in(homes, value_set=missing)))

    def _column(self, name: str) -> pa.LargeStringArray:
        every = [getattr(each, name).arrow() for each in self._named]
        return pa.concat_arrays(every)
