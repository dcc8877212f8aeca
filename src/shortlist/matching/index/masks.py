"""From a block of publications to the masks of a segment's slots."""

from bisect import bisect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Ints, Longs
from shortlist.matching.index.slots import Attribute, number_key
from shortlist.matching.index.tables import Betweens, Ends, Equals, Patterns, SlotTable
from shortlist.matching.index.values import AttributeValues, Order
from shortlist.matching.kernels.masks import (
    any_of_rows,
    between_rows,
    element_between_rows,
    end_rows,
    prefix_rows,
    set_bits,
    value_rows,
)
from shortlist.model.paths import Path

Rows = npt.NDArray[np.unsignedinteger[Any]]
WIDTHS = (1, 8, 32)
"""Words of a mask, of 64 publications each: no more than are needed."""
MOST = WIDTHS[-1] * 64
"""Publications that are matched together at most."""
SMALL = 2**16
"""So many rows have numbers of sixteen bits."""
EMPTY, FULL = 0, 1
"""The rows that have no publication, and all."""


class SlotRows(NamedTuple):
    """The row of every slot.

    By `plus` those publications count that may have it, by `minus` those that surely have it: they
    are the same unless something fuzzy was published.
    """

    plus: Rows
    minus: Rows


class _Prefixes(NamedTuple):
    """An order's keys, each once, and the row of those before the first; the others follow."""

    keys: Longs
    row: int


class BlockMasks:
    """The table of masks of a block; rows that segments share come before a segment's own.

    With `is_fuzzy`, fuzzy values may have been published, and a mask has all to whom it may apply.
    """

    def __init__(self, block: Block, is_fuzzy: bool = False) -> None:
        self.block = block
        self.is_fuzzy = is_fuzzy
        self.words = next(words for words in WIDTHS if block.size <= words * 64)
        self.table = _table(2048, self.words)
        set_bits(np.arange(block.size, dtype=np.int32), self.table, FULL)
        self._shared = 2
        self._values: dict[Attribute, AttributeValues] = {}
        self._prefixes: dict[Attribute, tuple[_Prefixes, _Prefixes]] = {}
        self._rows_of: dict[Attribute | Path, int] = {}

    def values(self, attribute: Attribute) -> AttributeValues:
        if attribute not in self._values:
            self._values[attribute] = AttributeValues(attribute, self.block)
        return self._values[attribute]

    def rows(self, slots: SlotTable) -> SlotRows:
        """The rows of a segment's slots, which hold until the next segment's are asked for."""
        texts = {ends.attribute: ends for ends in slots.ends if ends.attribute.kind == "text"}
        orders = [self._orders(ends.attribute, texts) for ends in slots.ends]
        typed = [self._typed_row(attribute) for attribute in slots.typed]
        present = [self._present_row(path) for path in slots.present]
        ranges = [self._ranges(betweens, texts) for betweens in slots.betweens]
        free = self._shared
        most_rows = free + slots.size - slots.first_mask
        self._reserve(most_rows)
        is_small = most_rows < SMALL
        plus: Rows = np.zeros(slots.size, np.uint16 if is_small else np.uint32)
        plus[1] = FULL
        minus = plus.copy() if self.is_fuzzy else plus
        for ends, (least, most) in zip(slots.ends, orders, strict=True):
            end_rows(ends.keys, ends.first, least.keys, least.row, plus)
            if self.is_fuzzy and ends.attribute not in texts:
                end_rows(ends.keys, ends.first, most.keys, most.row, minus)
        plus[slots.first_typed : slots.first_typed + len(typed)] = typed
        for rows in (plus, minus):
            rows[slots.first_present : slots.first_present + len(present)] = present
        for equals in slots.equals:
            free = self._fill_equal(equals, free, plus)
        for patterns in slots.patterns:
            free = self._fill_found(patterns, free, plus)
        for fill in ranges:
            free = fill(free, plus)
        any_of = slots.any_of_offsets, slots.any_of_members, slots.first_any_of
        any_of_rows(*any_of, self.table, free, plus)
        return SlotRows(plus, minus)

    def _fill_equal(self, equals: Equals, free: int, rows: Rows) -> int:
        values = self.values(equals.attribute)
        keys, distinct = values.distinct
        found = equals.texts.find(values.texts) if equals.texts else _among(equals.keys, keys)
        hits = np.flatnonzero(found >= 0).astype(np.int32)
        slots = found[hits] + np.int32(equals.first)
        free = value_rows(slots, hits, distinct.starts, distinct.places, self.table, free, rows)
        for place, value in values.fuzzy.items():
            start = np.searchsorted(equals.keys, number_key(value.m1))
            stop = np.searchsorted(equals.keys, number_key(value.m4), "right")
            touched = np.arange(start, stop, dtype=np.int32) + np.int32(equals.first)
            only = np.zeros(touched.size, np.int32), np.array([0, 1], np.int32)
            free = value_rows(touched, *only, np.array([place], np.int32), self.table, free, rows)
        return free

    def _fill_found(self, patterns: Patterns, free: int, rows: Rows) -> int:
        values = self.values(Attribute(patterns.path, "text"))
        slots, numbers = patterns.found_in(values.texts)
        _, distinct = values.distinct
        return value_rows(slots, numbers, distinct.starts, distinct.places, self.table, free, rows)

    def _ranges(self, each: Betweens, texts: dict[Attribute, Ends]) -> Callable[[int, Rows], int]:
        """What fills the rows of ranges."""
        is_single = self.values(each.attribute).is_single
        if self.is_fuzzy and not is_single:
            every = self._typed_row(each.attribute)

            def all_may(free: int, rows: Rows) -> int:
                rows[each.first : each.first + each.lows.size] = every
                return free

            return all_may
        asked = each.lows, each.highs, each.first
        if is_single:
            least, most = self._orders(each.attribute, texts)
            return lambda free, rows: between_rows(
                *asked, least.keys, least.row, most.keys, most.row, self.table, free, rows
            )
        order = self._order(each.attribute, texts)
        return lambda free, rows: element_between_rows(
            *asked, order.keys, order.places, self.table, free, rows
        )

    def _orders(
        self, attribute: Attribute, texts: dict[Attribute, Ends]
    ) -> tuple[_Prefixes, _Prefixes]:
        """What each has at least, and what each has at most, in order."""
        if attribute in texts:
            prefixes = self._prefixes_of(self._order(attribute, texts))
            return prefixes, prefixes
        if attribute not in self._prefixes:
            least = most = self._prefixes_of(self._order(attribute, texts))
            values = self.values(attribute)
            if values.fuzzy:
                most = self._prefixes_of(values.highs)
            self._prefixes[attribute] = least, most
        return self._prefixes[attribute]

    def _order(self, attribute: Attribute, texts: dict[Attribute, Ends]) -> Order:
        """What each has at least; texts go by their places among the ends that are asked for."""
        values = self.values(attribute)
        if attribute not in texts:
            return values.lows
        ends = texts[attribute].texts
        # (text, False) is the end before a text, (text, True) the one after it
        among = [bisect(ends, (word, 0.5)) - 1 for word in values.words]
        return values.text_order(np.array(among, np.int64))

    def _prefixes_of(self, order: Order) -> _Prefixes:
        row = self._shared
        self._reserve(row + order.keys.size + 1)
        keys = prefix_rows(order.keys, order.places, self.table, row)
        self._shared += keys.size + 1
        return _Prefixes(keys, row)

    def _typed_row(self, attribute: Attribute) -> int:
        if attribute not in self._rows_of:
            row = self._rows_of[attribute] = self._share(1)
            set_bits(self.values(attribute).places, self.table, row)
        return self._rows_of[attribute]

    def _present_row(self, path: Path) -> int:
        if path not in self._rows_of:
            row = self._rows_of[path] = self._share(1)
            here = np.flatnonzero(self.block.column(path).present).astype(np.int32)
            set_bits(here, self.table, row)
        return self._rows_of[path]

    def _share(self, count: int) -> int:
        first = self._shared
        self._shared += count
        self._reserve(self._shared)
        return first

    def _reserve(self, size: int) -> None:
        if size > self.table.shape[0]:
            larger = _table(max(size, 2 * self.table.shape[0]), self.words)
            larger[: self.table.shape[0]] = self.table
            self.table = larger


def _table(rows: int, words: int) -> npt.NDArray[np.uint64]:
    """Rows that each lie in one line of the cache."""
    room = np.zeros(rows * words + 8, np.uint64)
    start = (-room.ctypes.data % 64) // 8
    return room[start : start + rows * words].reshape(rows, words)


def _among(keys: Longs, wanted: Longs) -> Ints:
    """The place of each wanted key among ascending ones, or -1."""
    places = np.searchsorted(keys, wanted)
    places[places == keys.size] = 0
    return np.where(keys[places] == wanted, places, -1).astype(np.int32)
