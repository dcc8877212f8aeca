"""The slots of a segment, numbered: nothing, anything, the ends of every order, and then masks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from ahocorasick_rs import BytesAhoCorasick

from shortlist.language.tree import TextOperator
from shortlist.matching.blocks import Ints, Longs
from shortlist.matching.index.slots import (
    ANYTHING,
    NOTHING,
    AnyOf,
    Attribute,
    Below,
    Between,
    End,
    Equal,
    Found,
    Present,
    Slot,
    Typed,
)
from shortlist.matching.index.texts import Texts, encoded
from shortlist.model.paths import Path

OPERATORS: tuple[TextOperator, ...] = ("contains", "starts with", "ends with")
LOWEST, HIGHEST = -(2**63), 2**63 - 1
FIRST_END = 2
"""Slots 0 and 1 are nothing and anything."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of one attribute's order that predicates ask for, ascending.

    For texts the keys are places among `texts`, which holds the ends of `Between`, too.
    """

    attribute: Attribute
    first: int
    keys: Longs
    texts: Sequence[tuple[str, bool]] = ()


@dataclass(frozen=True, slots=True)
class Equals:
    """The values of one attribute that predicates ask for: keys ascending, or texts."""

    attribute: Attribute
    first: int
    keys: Longs
    texts: Texts | None = None


@dataclass(slots=True)
class Patterns:
    """The patterns that are searched for in one attribute's texts, all at once."""

    path: Path
    first: int
    operators: npt.NDArray[np.uint8]
    """Places in `OPERATORS`."""
    patterns: Sequence[str]
    _automaton: BytesAhoCorasick | None = field(default=None, repr=False)

    @property
    def automaton(self) -> BytesAhoCorasick:
        if self._automaton is None:
            self._automaton = BytesAhoCorasick(list(map(encoded, self.patterns)))
        return self._automaton

    def found_in(self, texts: Texts) -> tuple[Ints, Ints]:
        """Which slots are found in which of the texts, in pairs."""
        hits = self.automaton.find_matches_as_indexes(texts.data.tobytes(), overlapping=True)
        flat = np.fromiter(chain.from_iterable(hits), np.int64, 3 * len(hits))
        found = flat.reshape(-1, 3)
        numbers = np.searchsorted(texts.offsets, found[:, 1], "right") - 1
        at_start = found[:, 1] == texts.offsets[numbers]
        over = found[:, 2] - texts.offsets[numbers + 1]
        contains, starts, ends = (self.operators[found[:, 0]] == n for n in range(3))
        is_found = (contains & (over <= 0)) | (starts & at_start & (over <= 0))
        is_found |= ends & (over == 0)
        slots = found[is_found, 0] + self.first
        return slots.astype(np.int32), numbers[is_found].astype(np.int32)


@dataclass(frozen=True, slots=True)
class Betweens:
    """Ranges of one attribute's order that have masks of their own."""

    attribute: Attribute
    first: int
    lows: Longs
    highs: Longs


@dataclass(frozen=True, slots=True)
class SlotTable:
    """All slots of a segment, by kind; those from `first_mask` on get a mask of their own."""

    size: int
    first_mask: int
    ends: tuple[Ends, ...]
    equals: tuple[Equals, ...]
    typed: tuple[Attribute, ...]
    first_typed: int
    present: tuple[Path, ...]
    first_present: int
    patterns: tuple[Patterns, ...]
    betweens: tuple[Betweens, ...]
    first_any_of: int
    any_of_offsets: Ints
    any_of_members: Ints

    def slots(self) -> Iterator[Slot]:
        """Every slot, in order of number."""
        known: list[Slot] = [NOTHING, ANYTHING]
        for ends in self.ends:
            known += (Below(ends.attribute, end) for end in _ends(ends, ends.keys))
        for equals in self.equals:
            keys: Iterable[Any] = equals.texts or equals.keys.tolist()
            known += (Equal(equals.attribute, key) for key in keys)
        known += (Typed(attribute) for attribute in self.typed)
        known += (Present(path) for path in self.present)
        for searched in self.patterns:
            for operator, pattern in zip(searched.operators, searched.patterns, strict=True):
                known.append(Found(searched.path, OPERATORS[operator], pattern))
        ends_of = {ends.attribute: ends for ends in self.ends}
        for betweens in self.betweens:
            lows = _ends(ends_of.get(betweens.attribute), betweens.lows)
            highs = _ends(ends_of.get(betweens.attribute), betweens.highs)
            for low, high in zip(lows, highs, strict=True):
                known.append(Between(betweens.attribute, low, high))
        starts = self.any_of_offsets.tolist()
        for start, stop in pairwise(starts):
            members = (known[number] for number in self.any_of_members[start:stop])
            known.append(AnyOf(tuple(members)))
        return iter(known)


class SlotNumbers:
    """Numbers slots as they come; `table` puts them in order."""

    def __init__(self) -> None:
        self._numbers: dict[Slot, int] = {}
        self.number(NOTHING)
        self.number(ANYTHING)

    def number(self, slot: Slot) -> int:
        if slot not in self._numbers and isinstance(slot, AnyOf):
            for member in slot.slots:
                self.number(member)
        return self._numbers.setdefault(slot, len(self._numbers))

    def table(self) -> tuple[SlotTable, Ints]:
        """The slots in order, and the new number of each old one."""
        return _Layout(self._numbers).table()


class _Layout:
    def __init__(self, numbers: dict[Slot, int]) -> None:
        self._numbers = numbers
        self._by_kind: dict[type, list[Slot]] = {}
        for slot in numbers:
            self._by_kind.setdefault(type(slot), []).append(slot)
        self._final = np.zeros(len(numbers), np.int32)
        self._next = 0

    def table(self) -> tuple[SlotTable, Ints]:
        self._place([NOTHING])
        self._place([ANYTHING])
        betweens: list[Between] = sorted(self._of(Between), key=_attribute_first)
        text_ends = _text_ends(self._of(Below), betweens)
        ends = tuple(self._ends(text_ends))
        first_mask = self._next
        equals = tuple(self._equals())
        typed = sorted(self._of(Typed))
        first_typed = self._place(typed)
        present = sorted(self._of(Present))
        first_present = self._place(present)
        patterns = tuple(self._patterns())
        placed_betweens = tuple(self._betweens(betweens, text_ends))
        any_of = list(self._of(AnyOf))
        first_any_of = self._place(any_of)
        members = [[self._final[self._numbers[slot]] for slot in one.slots] for one in any_of]
        table = SlotTable(
            size=self._next,
            first_mask=first_mask,
            ends=ends,
            equals=equals,
            typed=tuple(slot.attribute for slot in typed),
            first_typed=first_typed,
            present=tuple(slot.path for slot in present),
            first_present=first_present,
            patterns=patterns,
            betweens=placed_betweens,
            first_any_of=first_any_of,
            any_of_offsets=np.cumsum([0, *map(len, members)], dtype=np.int32),
            any_of_members=np.array([slot for one in members for slot in one], np.int32),
        )
        return table, self._final

    def _of(self, kind: type) -> Any:
        return self._by_kind.get(kind, [])

    def _place(self, slots: Sequence[Slot]) -> int:
        first = self._next
        for slot in slots:
            self._final[self._numbers[slot]] = self._next
            self._next += 1
        return first

    def _ends(self, text_ends: dict[Attribute, list[tuple[str, bool]]]) -> Iterator[Ends]:
        for attribute, group in _by_attribute(self._of(Below)):
            slots = sorted(group, key=lambda slot: slot.end)
            texts = text_ends.get(attribute, ())
            keys = _keys([slot.end for slot in slots], texts)
            yield Ends(attribute, self._place(slots), keys, texts)
        only_between = text_ends.keys() - {slot.attribute for slot in self._of(Below)}
        for attribute in sorted(only_between):
            yield Ends(attribute, self._next, np.zeros(0, np.int64), text_ends[attribute])

    def _equals(self) -> Iterator[Equals]:
        for attribute, group in _by_attribute(self._of(Equal)):
            if attribute.kind == "text":
                texts = Texts.hashed(slot.key for slot in group)
                first = self._place([Equal(attribute, text) for text in texts])
                yield Equals(attribute, first, np.zeros(0, np.int64), texts)
            else:
                slots = sorted(group)
                keys = np.array([slot.key for slot in slots], np.int64)
                yield Equals(attribute, self._place(slots), keys)

    def _patterns(self) -> Iterator[Patterns]:
        slots = sorted(self._of(Found))
        for path, group in groupby(slots, key=lambda slot: slot.path):
            found = list(group)
            operators = np.array([OPERATORS.index(slot.operator) for slot in found], np.uint8)
            yield Patterns(path, self._place(found), operators, [slot.pattern for slot in found])

    def _betweens(
        self, betweens: list[Between], text_ends: dict[Attribute, list[tuple[str, bool]]]
    ) -> Iterator[Betweens]:
        for attribute, group in groupby(betweens, key=lambda slot: slot.attribute):
            slots = list(group)
            texts = text_ends.get(attribute, ())
            lows = _keys([slot.low for slot in slots], texts, LOWEST)
            highs = _keys([slot.high for slot in slots], texts, HIGHEST)
            yield Betweens(attribute, self._place(slots), lows, highs)


def _by_attribute(slots: Iterable[Any]) -> Iterator[tuple[Attribute, list[Any]]]:
    groups: dict[Attribute, list[Any]] = {}
    for slot in slots:
        groups.setdefault(slot.attribute, []).append(slot)
    for attribute in sorted(groups):
        yield attribute, groups[attribute]


def _attribute_first(slot: Between) -> Any:
    return slot.attribute, repr(slot)


def _text_ends(
    belows: Iterable[Below], betweens: Iterable[Between]
) -> dict[Attribute, list[tuple[str, bool]]]:
    ends: dict[Attribute, set[Any]] = {}
    for below in belows:
        if below.attribute.kind == "text":
            ends.setdefault(below.attribute, set()).add(below.end)
    for between in betweens:
        if between.attribute.kind == "text":
            given = {between.low, between.high} - {None}
            ends.setdefault(between.attribute, set()).update(given)
    return {attribute: sorted(found) for attribute, found in ends.items()}


def _keys(
    ends: Sequence[End | None], texts: Sequence[tuple[str, bool]], unlimited: int = 0
) -> npt.NDArray[np.int64]:
    places = {end: place for place, end in enumerate(texts)}
    keys = [
        unlimited if end is None else places[end] if isinstance(end, tuple) else end for end in ends
    ]
    return np.array(keys, np.int64)


def _ends(ends: Ends | None, keys: Longs) -> list[Any]:
    texts = ends.texts if ends else ()
    return [
        None if key in (LOWEST, HIGHEST) else texts[key] if texts else key for key in keys.tolist()
    ]
