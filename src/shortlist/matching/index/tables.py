"""The slots of a segment, numbered: nothing, anything, the ends of every order, and then masks."""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, starmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ahocorasick_rs import BytesAhoCorasick

from shortlist.language.tree import TextOperator
from shortlist.matching.arrays import offsets_of
from shortlist.matching.blocks import Bools, Ints, Longs
from shortlist.matching.index.literals import (
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

Section = tuple[int, Callable[[int], Slot]]
"""Where slots of one kind and attribute start, and what the n-th of them is."""


@dataclass(slots=True)
class TextEnds:
    """Places before (False) or after (True) a text, ascending.

    >>> TextEnds.of([("drama", True), ("war", False)])[1]
    ('war', False)
    """

    texts: Texts
    after: Bools
    _decoded: list[tuple[str, bool]] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, ends: Iterable[tuple[str, bool]]) -> "TextEnds":
        known = list(ends)
        after = np.array([after for _, after in known], np.bool_)
        return cls(Texts.plain(text for text, _ in known), after)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, place: int) -> tuple[str, bool]:
        if self._decoded is None:
            self._decoded = list(zip(self.texts, self.after.tolist(), strict=True))
        return self._decoded[place]


NO_TEXTS = TextEnds.of(())


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of one attribute's order that predicates ask for, ascending.

    For texts the keys are places among `texts`, which holds the ends of `Between`, too.
    """

    attribute: Attribute
    first: int
    keys: Longs
    texts: TextEnds = field(default_factory=lambda: NO_TEXTS)

    def end(self, key: int) -> End:
        return self.texts[key] if self.attribute.kind == "text" else key


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
    patterns: Texts
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

    @property
    def paths(self) -> set[Path]:
        """Where the slots look."""
        keyed: tuple[Ends | Equals | Betweens, ...] = (*self.ends, *self.equals, *self.betweens)
        attributes = {each.attribute.path for each in keyed} | {path for path, _ in self.typed}
        return attributes | {*self.present} | {each.path for each in self.patterns}

    def slots(self, numbers: Ints) -> Iterator[Slot]:
        """The slots with these numbers."""
        sections = list(self._sections())
        starts = [first for first, _ in sections]
        for number in numbers.tolist():
            first, make = sections[bisect(starts, number) - 1]
            yield make(number - first)

    def _sections(self) -> Iterator[Section]:
        yield 0, (NOTHING, ANYTHING).__getitem__
        yield from map(_belows, self.ends)
        yield from map(_equals, self.equals)
        yield self.first_typed, lambda place: Typed(self.typed[place])
        yield self.first_present, lambda place: Present(self.present[place])
        yield from map(_found, self.patterns)
        ends = {each.attribute: each for each in self.ends}
        for betweens in self.betweens:
            yield _between(betweens, ends.get(betweens.attribute))
        yield self.first_any_of, self._any_of

    def _any_of(self, place: int) -> AnyOf:
        start, stop = self.any_of_offsets[place], self.any_of_offsets[place + 1]
        return AnyOf(tuple(self.slots(self.any_of_members[start:stop])))  # type: ignore[arg-type]


def _belows(ends: Ends) -> Section:
    return ends.first, lambda place: Below(ends.attribute, ends.end(int(ends.keys[place])))


def _equals(equals: Equals) -> Section:
    texts, keys = equals.texts, equals.keys
    return equals.first, lambda place: Equal(
        equals.attribute, int(keys[place]) if texts is None else texts[place]
    )


def _found(patterns: Patterns) -> Section:
    return patterns.first, lambda place: Found(
        patterns.path, OPERATORS[patterns.operators[place]], patterns.patterns[place]
    )


def _between(betweens: Betweens, ends: Ends | None) -> Section:
    def end(key: int) -> End | None:
        if key in (LOWEST, HIGHEST):
            return None
        return key if ends is None else ends.end(key)

    return betweens.first, lambda place: Between(
        betweens.attribute, end(int(betweens.lows[place])), end(int(betweens.highs[place]))
    )


KEYED = (Below, Equal)
"""What whole numbers tell apart, where it is not about texts."""


class _Keyed(NamedTuple):
    """Slots of one attribute that whole numbers tell apart."""

    known: dict[int, int]
    """By key, the numbers of those that came one by one."""
    numbers: list[int]
    keys: list[int]
    """Of those that came together; some may come again."""


class SlotNumbers:
    """Numbers slots as they come: one by one each has one number, together (`more`) it may have
    several; `table` puts each in order once.

    >>> numbers, rent = SlotNumbers(), Attribute(("rent",), "number")
    >>> [numbers.number(slot) for slot in (Below(rent, 7), Below(rent, 5), NOTHING, Below(rent, 7))]
    [2, 3, 0, 2]
    >>> numbers.more(Below, rent, np.array([7, 9]))
    range(4, 6)
    >>> table, final = numbers.table()
    >>> table.ends[0].keys, final
    (array([5, 7, 9]), array([0, 1, 3, 2, 3, 4], dtype=int32))
    """

    def __init__(self) -> None:
        self._count = 2
        self._others: dict[Slot, int] = {NOTHING: 0, ANYTHING: 1}
        self._keyed: dict[tuple[type[Slot], Attribute], _Keyed] = {}
        self._members: dict[int, list[int]] = {}

    def number(self, slot: Slot) -> int:
        known: dict[Any, int] = self._others
        key: Any = slot
        if isinstance(slot, KEYED) and slot.attribute.kind != "text":
            known = self._of(type(slot), slot.attribute).known
            key = slot.end if isinstance(slot, Below) else slot.key
        number = known.get(key)
        if number is None:
            if isinstance(slot, AnyOf):
                members = [self.number(member) for member in slot.slots]
                self._members[self._count] = members
            number = known[key] = self._count
            self._count += 1
        return number

    def numbers(self, table: SlotTable, is_used: Bools) -> Ints:
        """The numbers of those slots of a table that are used, by the numbers they had there."""
        new, is_left = np.zeros(table.size, np.int32), is_used.copy()
        keyed: tuple[Ends | Equals, ...] = (*table.ends, *table.equals)
        for each in keyed:
            if each.attribute.kind != "text":
                here = slice(each.first, each.first + each.keys.size)
                used = np.flatnonzero(is_used[here])
                kind = Below if isinstance(each, Ends) else Equal
                new[each.first + used] = self.more(kind, each.attribute, each.keys[used])
                is_left[here] = False
        left = np.flatnonzero(is_left).astype(np.int32)
        new[left] = [self.number(slot) for slot in table.slots(left)]
        return new

    def more(self, kind: type[Slot], attribute: Attribute, keys: Longs) -> range:
        """Numbers for many slots of one attribute, which is not one of texts."""
        first = self._count
        self._count += keys.size
        if keys.size:
            keyed = self._of(kind, attribute)
            keyed.keys.extend(keys.tolist())
            keyed.numbers.extend(range(first, self._count))
        return range(first, self._count)

    def table(self) -> tuple[SlotTable, Ints]:
        """The slots in order, and the new number of each old one."""
        layout = _Layout(self._others, self._keyed, self._count)
        return layout.table(self._members), layout.final

    def _of(self, kind: type[Slot], attribute: Attribute) -> _Keyed:
        keyed = self._keyed.get((kind, attribute))
        if keyed is None:
            keyed = self._keyed[kind, attribute] = _Keyed({}, [], [])
        return keyed


class _Layout:
    def __init__(
        self,
        others: dict[Slot, int],
        keyed: dict[tuple[type[Slot], Attribute], _Keyed],
        count: int,
    ) -> None:
        self.final = np.zeros(count, np.int32)
        self._others = others
        self._keyed = keyed
        self._by_kind: dict[type, list[Slot]] = {}
        for slot in others:
            self._by_kind.setdefault(type(slot), []).append(slot)
        self._next = 0

    def table(self, members: dict[int, list[int]]) -> SlotTable:
        self._place([NOTHING, ANYTHING])
        betweens: list[Between] = sorted(
            self._of(Between), key=lambda slot: (slot.attribute, repr(slot))
        )
        text_ends = _text_ends(self._of(Below), betweens)
        ends = (*starmap(Ends, self._placed_keys(Below)), *self._text_ends(text_ends))
        first_mask = self._next
        equals = (*starmap(Equals, self._placed_keys(Equal)), *self._text_equals())
        typed = sorted(self._of(Typed))
        first_typed = self._place(typed)
        present = sorted(self._of(Present))
        first_present = self._place(present)
        patterns = tuple(self._patterns())
        placed_betweens = tuple(self._betweens(betweens, text_ends))
        any_of = self._of(AnyOf)
        first_any_of = self._place(any_of)
        joined = [members[self._others[slot]] for slot in any_of]
        return SlotTable(
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
            any_of_offsets=offsets_of([len(each) for each in joined]),
            any_of_members=self.final[[number for each in joined for number in each]],
        )

    def _of(self, kind: type) -> Any:
        return self._by_kind.get(kind, [])

    def _place(self, slots: Sequence[Slot]) -> int:
        first = self._next
        self._next += len(slots)
        self.final[[self._others[slot] for slot in slots]] = range(first, self._next)
        return first

    def _placed_keys(self, kind: type[Slot]) -> Iterator[tuple[Attribute, int, Longs]]:
        """Attributes with the first number and the distinct keys of each one's slots."""
        for (found, attribute), keyed in sorted(self._keyed.items(), key=lambda item: item[0][1]):
            if found is kind:
                every = np.array([*keyed.known, *keyed.keys], np.int64)
                keys, places = np.unique(every, return_inverse=True)
                first = self._next
                self.final[[*keyed.known.values(), *keyed.numbers]] = first + places
                self._next += keys.size
                yield attribute, first, keys

    def _text_ends(self, text_ends: dict[Attribute, TextEnds]) -> Iterator[Ends]:
        belows = _grouped(self._of(Below))
        for attribute, texts in text_ends.items():
            slots = belows.get(attribute, [])
            keys = _keys([slot.end for slot in slots], texts)
            yield Ends(attribute, self._place(slots), keys, texts)

    def _text_equals(self) -> Iterator[Equals]:
        for attribute, slots in _grouped(self._of(Equal)).items():
            texts = Texts.hashed(slot.key for slot in slots)
            first = self._place([Equal(attribute, text) for text in texts])
            yield Equals(attribute, first, np.zeros(0, np.int64), texts)

    def _patterns(self) -> Iterator[Patterns]:
        slots = sorted(self._of(Found))
        for path, group in groupby(slots, key=lambda slot: slot.path):
            found = list(group)
            operators = np.array([OPERATORS.index(slot.operator) for slot in found], np.uint8)
            patterns = Texts.plain(slot.pattern for slot in found)
            yield Patterns(path, self._place(found), operators, patterns)

    def _betweens(
        self, betweens: list[Between], text_ends: dict[Attribute, TextEnds]
    ) -> Iterator[Betweens]:
        for attribute, group in groupby(betweens, key=lambda slot: slot.attribute):
            slots = list(group)
            texts = text_ends.get(attribute, NO_TEXTS)
            lows = _keys([slot.low for slot in slots], texts, LOWEST)
            highs = _keys([slot.high for slot in slots], texts, HIGHEST)
            yield Betweens(attribute, self._place(slots), lows, highs)


def _grouped(slots: Iterable[Any]) -> dict[Attribute, list[Any]]:
    groups: dict[Attribute, list[Any]] = {}
    for slot in sorted(slots):
        groups.setdefault(slot.attribute, []).append(slot)
    return groups


def _text_ends(belows: Iterable[Below], betweens: Iterable[Between]) -> dict[Attribute, TextEnds]:
    ends: dict[Attribute, set[Any]] = {}
    for below in belows:
        ends.setdefault(below.attribute, set()).add(below.end)
    for between in betweens:
        if between.attribute.kind == "text":
            given = {between.low, between.high} - {None}
            ends.setdefault(between.attribute, set()).update(given)
    return {attribute: TextEnds.of(sorted(ends[attribute])) for attribute in sorted(ends)}


def _keys(ends: Sequence[End | None], texts: TextEnds, unlimited: int = 0) -> Longs:
    places = {texts[place]: place for place in range(len(texts))}
    keys = [
        unlimited if end is None else places[end] if isinstance(end, tuple) else end for end in ends
    ]
    return np.array(keys, np.int64)
