"""From a block of publications to the masks of a segment's slots."""

from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Column, Ints, Longs
from shortlist.matching.index.literals import KINDS, Attribute, Kind, key, number_keys
from shortlist.matching.index.tables import Ends, Equals, Patterns, SlotTable
from shortlist.matching.index.texts import Texts
from shortlist.matching.kernels.masks import (
    add_bits,
    any_of_rows,
    between_rows,
    element_between_rows,
    end_rows,
    prefix_rows,
    set_bits,
    value_rows,
)
from shortlist.matching.values import Element, Many
from shortlist.model.paths import Path

TYPES: dict[Kind, type] = {kind: python for python, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Order:
    """Keys ascending, and whose they are."""

    keys: Longs
    places: Ints

    @classmethod
    def of(cls, keys: Longs, places: Ints) -> "Order":
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], places[order].astype(np.int32))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Every value once: those who have value n are `places[starts[n] : starts[n + 1]]`."""

    starts: Ints
    places: Ints

    @classmethod
    def of(cls, numbers: Ints, places: Ints, count: int) -> "Distinct":
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], np.arange(count + 1))
        return cls(starts.astype(np.int32), places[order].astype(np.int32))


class AttributeValues:
    """An attribute's values in a block; words of a fuzzy text count as elements.

    With `only_crisp`, fuzzy texts are left out.
    """

    def __init__(self, attribute: Attribute, block: Block, only_crisp: bool = False) -> None:
        column = block.column(attribute.path)
        self.words: list[str] = []
        self._corners = np.empty((0, 4), np.int64)
        """Of fuzzy numbers."""
        self.fuzzy = np.empty(0, np.int32)
        """Who has a fuzzy value of the type, some more than once."""
        places, keys = self._singles(attribute.kind, column)
        more_places, more_keys = self._elements(attribute.kind, column)
        if attribute.kind == "text":
            texts = column.fuzzy_texts
            is_possible = texts.degrees > (1.0 if only_crisp else 0.0)
            self.fuzzy = texts.places[is_possible]
            places = np.concatenate([places, column.element_places, self.fuzzy])
            keys = np.concatenate([keys, column.element_codes, texts.codes[is_possible]])
        elif attribute.kind == "number":
            self.fuzzy = column.fuzzy_numbers.places
            self._corners = number_keys(column.fuzzy_numbers.corners)
        several = column.element_places.size + self.fuzzy.size if attribute.kind == "text" else 0
        self.is_single = not (more_places or several)
        self._places = np.append(places, np.array(more_places, np.int32))
        self._keys = np.append(keys, np.array(more_keys, np.int64))

    @property
    def places(self) -> Ints:
        """Who has a value of the type."""
        return np.append(self._places, self.fuzzy)

    @cached_property
    def texts(self) -> Texts:
        return Texts.of(self.words)

    @cached_property
    def distinct(self) -> tuple[Longs, Distinct]:
        """The values as keys, ascending (texts: as places in `words`), and who has them.

        Fuzzy numbers are left out.
        """
        if self.words:
            numbers = self._keys.astype(np.int32)
            return self._keys, Distinct.of(numbers, self._places, len(self.words))
        keys, numbers = np.unique(self._keys, return_inverse=True)
        return keys, Distinct.of(numbers.astype(np.int32), self._places, keys.size)

    @cached_property
    def order(self) -> Order:
        """Without fuzzy numbers."""
        return Order.of(self._keys, self._places)

    def corners(self, which: int) -> Order:
        """The order in which each fuzzy number goes by one of its four corners."""
        if not self._corners.size:
            return self.order
        keys = np.append(self._keys, self._corners[:, which])
        return Order.of(keys, np.append(self._places, self.fuzzy))

    def text_order(self, places_among: Longs) -> Order:
        """Of texts, given the place of every word among the ends that are asked for."""
        return Order.of(places_among[self._keys], self._places)

    def _singles(self, kind: Kind, column: Column) -> tuple[Ints, Longs]:
        match kind:
            case "number":
                places = np.flatnonzero(~np.isnan(column.numbers))
                keys = number_keys(column.numbers[places])
            case "time":
                places = np.flatnonzero(column.is_time)
                keys = column.times[places]
            case "boolean":
                places = np.flatnonzero(column.booleans >= 0)
                keys = column.booleans[places].astype(np.int64)
            case "text":
                places = np.flatnonzero(column.codes >= 0)
                keys = column.codes[places].astype(np.int64)
                self.words = list(column.words)
        return places.astype(np.int32), keys

    def _elements(self, kind: Kind, column: Column) -> tuple[list[int], list[int]]:
        """The elements of multi-valued attributes that are not all texts."""
        places, keys = [], []
        numbers: dict[Element, int] = {}
        if kind == "text" and column.special:
            numbers = {word: number for number, word in enumerate(self.words)}
        for place, value in column.special.items():
            if not isinstance(value, Many):
                continue
            for element in value.elements:
                if type(element) is not TYPES[kind]:
                    continue
                places.append(place)
                if kind == "text":
                    keys.append(numbers.setdefault(element, len(numbers)))
                else:
                    keys.append(key(element))  # type: ignore[arg-type]
        if numbers:
            self.words = list(numbers)  # type: ignore[arg-type]
        return places, keys


Rows = npt.NDArray[np.unsignedinteger[Any]]
Fill = Callable[[int, Rows], int]
WIDTHS = (1, 8, 32)
"""Words of a mask, of 64 publications each: no more than are needed."""
MOST = WIDTHS[-1] * 64
"""Publications that are matched together at most."""
SMALL = 2**16
"""So many rows have numbers of sixteen bits."""
FUZZY = "fuzzy"
EMPTY, FULL = 0, 1
"""The rows that have no publication, and all."""


class SlotRows(NamedTuple):
    """The row of every slot at four levels: whose value possibly has it at all, fully possibly has
    it, has it with some certainty, and surely has it.

    Of possibility and necessity, `possible` has all of whom the first is above 0, `full` only those
    of whom it is 1, `some` all of whom the second is above 0, and `sure` only those of whom it is
    1. Of crisp values all four tell the same.
    """

    possible: Rows
    full: Rows
    some: Rows
    sure: Rows


LEVELS = range(4)
"""Of `SlotRows`: at level n a fuzzy number is below what its n-th corner is below."""
POSSIBLE, SOME = 0, 2
"""Where fuzzy values are not told apart these levels have all of them, and the others have none."""


class _Prefixes(NamedTuple):
    """An order's keys, each once, and the row of those before the first; the others follow."""

    keys: Longs
    row: int


class _Section(NamedTuple):
    """Slots of one attribute that get masks of their own, and what gives them these.

    `fill` is given the next free row and the rows of slots, and answers with the next free row.
    """

    attribute: Attribute
    first: int
    size: int
    fill: Fill


class BlockMasks:
    """The table of masks of a block; rows that segments share come before a segment's own.

    With `is_fuzzy`, fuzzy values may have been published, and slots have a row for each level.
    """

    def __init__(self, block: Block, is_fuzzy: bool = False) -> None:
        self.block = block
        self.is_fuzzy = is_fuzzy
        needed = -(-block.size // 64)
        self.words = next((words for words in WIDTHS if needed <= words), needed)
        self.table = _table(2048, self.words)
        self.end = 0
        """Where the rows of the last segment end."""
        self.table[EMPTY] = 0
        set_bits(np.arange(block.size, dtype=np.int32), self.table, FULL)
        self._shared = 2
        self._values: dict[tuple[Attribute, bool], AttributeValues] = {}
        self._prefixes: dict[tuple[Attribute, int], _Prefixes] = {}
        self._rows_of: dict[object, int] = {}
        """Of those who have a value of a type, any value at a path, or a fuzzy one."""

    def values(self, attribute: Attribute, only_crisp: bool = False) -> AttributeValues:
        key = attribute, only_crisp
        if key not in self._values:
            if only_crisp and not self.values(attribute).fuzzy.size:
                self._values[key] = self.values(attribute)
            else:
                self._values[key] = AttributeValues(attribute, self.block, only_crisp)
        return self._values[key]

    def _values_at(self, attribute: Attribute, level: int) -> AttributeValues:
        only_crisp = attribute.kind == "text" and level not in (POSSIBLE, SOME)
        return self.values(attribute, only_crisp)

    def rows(self, slots: SlotTable) -> SlotRows:
        """The rows of a segment's slots, which hold until the next segment's are asked for."""
        texts = {ends.attribute: ends for ends in slots.ends if ends.attribute.kind == "text"}
        # those of texts went by another segment's ends
        self._prefixes = {of: rows for of, rows in self._prefixes.items() if of[0] not in texts}
        levels = LEVELS if self.is_fuzzy else LEVELS[:1]
        # what segments share comes before their own
        orders = [
            [self._order(ends.attribute, texts, level) for ends in slots.ends] for level in levels
        ]
        typed = [self._typed_row(attribute) for attribute in slots.typed]
        present = [self._present_row(path) for path in slots.present]
        sections = [list(self._sections(slots, texts, level)) for level in levels]
        free = self._shared
        most_rows = free + (slots.size - slots.first_mask) * len(levels)
        self._reserve(most_rows)
        possible: Rows = np.zeros(slots.size, np.uint16 if most_rows < SMALL else np.uint32)
        possible[1] = FULL
        possible[slots.first_typed : slots.first_typed + len(typed)] = typed
        possible[slots.first_present : slots.first_present + len(present)] = present
        filled: list[Rows] = []
        for level in levels:
            rows = filled[POSSIBLE].copy() if filled else possible
            for ends, order in zip(slots.ends, orders[level], strict=True):
                end_rows(ends.keys, ends.first, order.keys, order.row, rows)
            for attribute, first, size, fill in sections[level]:
                if level == POSSIBLE or self.values(attribute).fuzzy.size:
                    rows[first : first + size] = EMPTY
                    free = fill(free, rows)
            if level != SOME:  # something may be certain that is so of none of its parts
                rows[slots.first_any_of :] = EMPTY
                any_of = slots.any_of_offsets, slots.any_of_members, slots.first_any_of
                free = any_of_rows(*any_of, self.table, free, rows)
            filled.append(rows)
        self.end = free
        return SlotRows(*filled) if self.is_fuzzy else SlotRows(*filled * len(LEVELS))

    def _sections(
        self, slots: SlotTable, texts: dict[Attribute, Ends], level: int
    ) -> Iterator[_Section]:
        for equals in slots.equals:
            size = len(equals.texts) if equals.texts else equals.keys.size
            yield _Section(equals.attribute, equals.first, size, self._equals(equals, level))
        for patterns in slots.patterns:
            attribute = Attribute(patterns.path, "text")
            found = partial(self._fill_found, patterns, self._values_at(attribute, level))
            yield _Section(attribute, patterns.first, patterns.operators.size, found)
        for each in slots.betweens:
            ends = each.lows, each.highs
            ranges = self._ranges(each.attribute, *ends, each.first, texts, level)
            yield _Section(each.attribute, each.first, each.lows.size, ranges)

    def _equals(self, equals: Equals, level: int) -> Fill:
        values = self._values_at(equals.attribute, level)
        if values.fuzzy.size and equals.texts is None:
            ends = equals.keys, equals.keys + 1
            return self._ranges(equals.attribute, *ends, equals.first, {}, level)
        return partial(self._fill_equal, equals, values)

    def _fill_equal(self, equals: Equals, values: AttributeValues, free: int, rows: Rows) -> int:
        keys, distinct = values.distinct
        found = equals.texts.find(values.texts) if equals.texts else _among(equals.keys, keys)
        hits = np.flatnonzero(found >= 0).astype(np.int32)
        slots = found[hits] + np.int32(equals.first)
        return value_rows(slots, hits, distinct.starts, distinct.places, self.table, free, rows)

    def _fill_found(
        self, patterns: Patterns, values: AttributeValues, free: int, rows: Rows
    ) -> int:
        slots, numbers = patterns.found_in(values.texts)
        _, distinct = values.distinct
        return value_rows(slots, numbers, distinct.starts, distinct.places, self.table, free, rows)

    def _ranges(
        self,
        attribute: Attribute,
        lows: Longs,
        highs: Longs,
        first: int,
        texts: dict[Attribute, Ends],
        level: int,
    ) -> Fill:
        """What fills the rows of ranges."""
        values = self._values_at(attribute, level)
        if values.is_single:
            least = self._order(attribute, texts, level)
            most = self._order(attribute, texts, LEVELS[-1] - level)
            return lambda free, rows: between_rows(
                lows, highs, first, *least, *most, self.table, free, rows
            )
        order = self._text_order(values, texts[attribute]) if attribute in texts else values.order
        fuzzy = 0
        if attribute.kind == "number" and level in (POSSIBLE, SOME) and values.fuzzy.size:
            fuzzy = self._shared_row((attribute, FUZZY), lambda: values.fuzzy)

        def fill(free: int, rows: Rows) -> int:
            free = element_between_rows(
                lows, highs, first, order.keys, order.places, self.table, free, rows
            )
            # fuzzy numbers beside several crisp ones are not told apart
            return add_bits(fuzzy, first, lows.size, self.table, free, rows) if fuzzy else free

        return fill

    def _order(self, attribute: Attribute, texts: dict[Attribute, Ends], level: int) -> _Prefixes:
        """Who is below what, at a level."""
        key = attribute, level if self.values(attribute).fuzzy.size else POSSIBLE
        if key not in self._prefixes:
            values = self._values_at(attribute, level)
            is_text = attribute in texts
            order = self._text_order(values, texts[attribute]) if is_text else values.corners(level)
            self._prefixes[key] = self._prefixes_of(order)
        return self._prefixes[key]

    def _text_order(self, values: AttributeValues, ends: Ends) -> Order:
        """What each has at least: texts go by their places among the ends that are asked for."""
        # (text, False) is the end before a text, (text, True) the one after it
        among = [bisect(ends.texts, (word, 0.5)) - 1 for word in values.words]
        return values.text_order(np.array(among, np.int64))

    def _prefixes_of(self, order: Order) -> _Prefixes:
        row = self._shared
        self._reserve(row + order.keys.size + 1)
        keys = prefix_rows(order.keys, order.places, self.table, row)
        self._shared += keys.size + 1
        return _Prefixes(keys, row)

    def _typed_row(self, attribute: Attribute) -> int:
        return self._shared_row(attribute, lambda: self.values(attribute).places)

    def _present_row(self, path: Path) -> int:
        present = self.block.column(path).present
        return self._shared_row(path, lambda: np.flatnonzero(present).astype(np.int32))

    def _shared_row(self, key: object, places: Callable[[], Ints]) -> int:
        """The row of those at some places."""
        if key not in self._rows_of:
            row = self._rows_of[key] = self._shared
            self._reserve(row + 1)
            self._shared += 1
            set_bits(places(), self.table, row)
        return self._rows_of[key]

    def _reserve(self, size: int) -> None:
        if size > self.table.shape[0]:
            larger = _table(max(size, 2 * self.table.shape[0]), self.words)
            larger[: self._shared] = self.table[: self._shared]
            self.table = larger


def _table(rows: int, words: int) -> npt.NDArray[np.uint64]:
    """Rows that each begin with a line of the cache, with anything in them."""
    room = np.empty(rows * words + 8, np.uint64)
    start = (-room.ctypes.data % 64) // 8
    return room[start : start + rows * words].reshape(rows, words)


def _among(keys: Longs, wanted: Longs) -> Ints:
    """The place of each wanted key among ascending ones, or -1."""
    places = np.searchsorted(keys, wanted)
    places[places == keys.size] = 0
    return np.where(keys[places] == wanted, places, -1).astype(np.int32)
