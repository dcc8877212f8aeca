"""The fuzzy values of a block, and what the slots of a segment ask of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shortlist.matching.blocks import Block, Bools, Floats, Longs
from shortlist.matching.index.grades import Grades
from shortlist.matching.index.masks import BlockMasks
from shortlist.matching.index.slots import BOTTOM, TOP, Attribute, keyed_numbers
from shortlist.matching.index.tables import HIGHEST, LOWEST, SlotTable
from shortlist.matching.kernels.literals import (
    ANY_OF,
    BELOW,
    OTHER,
    RANGE,
    TEXT,
    TYPED,
    Asked,
    Facts,
    Words,
)
from shortlist.model.paths import Path


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """The fuzzy values at some paths of a block; `rows` tells the row of each attribute."""

    arrays: Facts
    rows: dict[Attribute, int]
    words: BlockMasks
    """Over publications that each have one of the words of fuzzy texts."""

    @classmethod
    def of(cls, block: Block, paths: Iterable[Path]) -> "BlockFacts":
        rows: dict[Attribute, int] = {}
        starts: list[Longs] = []
        corners, shapes = [np.empty((0, 4))], [np.empty((0, 2), np.int64)]
        numbers, degrees = [np.empty(0, np.int64)], [np.empty(0)]
        words: dict[Path, list[str]] = {}
        every = np.arange(block.size + 1)
        values, texts = 0, 0
        for path in paths:
            column = block.column(path)
            if column.fuzzy_numbers.places.size:
                rows[Attribute(path, "number")] = len(starts)
                starts.append(values + np.searchsorted(column.fuzzy_numbers.places, every))
                corners.append(column.fuzzy_numbers.corners)
                shapes.append(column.fuzzy_numbers.shapes)
                values += column.fuzzy_numbers.places.size
            if column.fuzzy_texts.places.size:
                rows[Attribute(path, "text")] = len(starts)
                starts.append(texts + np.searchsorted(column.fuzzy_texts.places, every))
                codes, places = np.unique(column.fuzzy_texts.codes, return_inverse=True)
                words[path] = [column.words[code] for code in codes.tolist()]
                numbers.append(places)
                degrees.append(column.fuzzy_texts.degrees)
                texts += column.fuzzy_texts.places.size
        arrays = Facts(
            np.array(starts, np.int32).reshape(-1, block.size + 1),
            np.concatenate(corners),
            np.concatenate(shapes),
            np.concatenate(numbers),
            np.concatenate(degrees),
        )
        return cls(arrays, rows, BlockMasks(Block.of_words(words)))

    @property
    def has_words(self) -> bool:
        return self.arrays.words.size > 0

    def words_of(self, slots: SlotTable, grades: Grades) -> Words:
        """How a segment's slots and grades take the words."""
        if not self.has_words:
            return Words(self.words.table, np.zeros(0, np.uint16), np.empty((0, 0)))
        rows = self.words.rows(slots).plus
        return Words(self.words.table, rows, grades.elements(self.words.block).singles)

    def row(self, attribute: Attribute) -> int:
        """The row of an attribute, or -1."""
        return self.rows.get(attribute, -1)

    def asked(self, slots: SlotTable) -> Asked:
        """What a segment's slots ask."""
        size = slots.size
        kinds, rows = np.full(size, OTHER, np.uint8), np.full(size, -1, np.int32)
        lows, highs = np.full(size, -np.inf), np.full(size, np.inf)
        low_open, high_open = np.zeros(size, np.bool_), np.zeros(size, np.bool_)

        def place(attribute: Attribute, first: int, count: int, kind: int) -> slice:
            """Most attributes have nothing fuzzy, and then nothing is asked of it."""
            here = slice(first, first + count)
            rows[here] = self.row(attribute)
            kinds[here] = TEXT if attribute.kind == "text" else kind
            return here

        for ends in slots.ends:
            here = place(ends.attribute, ends.first, ends.keys.size, BELOW)
            if ends.attribute.kind == "number":
                lows[here], highs[here] = keyed_numbers(ends.keys), keyed_numbers(ends.keys - 1)
        for equals in slots.equals:
            count = len(equals.texts) if equals.texts else equals.keys.size
            here = place(equals.attribute, equals.first, count, RANGE)
            if equals.attribute.kind == "number":
                lows[here] = highs[here] = keyed_numbers(equals.keys)
        for number, attribute in enumerate(slots.typed):
            place(attribute, slots.first_typed + number, 1, TYPED)
        for patterns in slots.patterns:
            attribute = Attribute(patterns.path, "text")
            place(attribute, patterns.first, patterns.operators.size, TEXT)
        for betweens in slots.betweens:
            here = place(betweens.attribute, betweens.first, betweens.lows.size, RANGE)
            if betweens.attribute.kind == "number":
                ranges = _ranges(betweens.lows, betweens.highs)
                lows[here], highs[here], low_open[here], high_open[here] = ranges
        any_of = slice(slots.first_any_of, slots.first_any_of + slots.any_of_offsets.size - 1)
        firsts = slots.any_of_members[slots.any_of_offsets[:-1]]
        rows[any_of] = rows[firsts]
        kinds[any_of] = np.where(kinds[firsts] == TEXT, TEXT, ANY_OF)
        return Asked(
            kinds,
            rows,
            lows,
            highs,
            low_open,
            high_open,
            slots.first_any_of,
            slots.any_of_offsets,
            slots.any_of_members,
        )


def _ranges(lows: Longs, highs: Longs) -> tuple[Floats, Floats, Bools, Bools]:
    """Ranges of numbers from keys; of one-sided ones the other end tells which number is meant."""
    from_low, to_high = lows == LOWEST, highs == HIGHEST
    after_low, before_high = highs == TOP, from_low
    low = np.where(after_low, keyed_numbers(lows - 1), keyed_numbers(lows))
    high = np.where(before_high, keyed_numbers(highs), keyed_numbers(highs - 1))
    low[from_low | (lows == BOTTOM)] = -np.inf
    high[to_high | (highs == TOP)] = np.inf
    return low, high, after_low, before_high
