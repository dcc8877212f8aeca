"""The slots of a segment, numbered: nothing, anything, the ends of every order, and then masks."""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt
from ahocorasick_rs import BytesAhoCorasick

from shortlist.language.tree import TextOperator
from shortlist.matching.blocks import Bools, Ints, Longs
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
