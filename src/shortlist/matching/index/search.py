"""One block of publications against segments; what is fuzzy in it are facts that slots ask of."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Bools, Floats, Ints, Longs
from shortlist.matching.index.literals import BOTTOM, TOP, Attribute, keyed_numbers
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.segments import Conjunctions, Segment
from shortlist.matching.index.tables import HIGHEST, LOWEST, SlotTable
from shortlist.matching.kernels.conditions import kernels
from shortlist.matching.kernels.judging import (
    judge_conjunctions,
    judge_plain,
    judge_programs,
    share_out,
    split,
)
from shortlist.matching.kernels.literals import (
    ANY_OF,
    BELOW,
    OTHER,
    RANGE,
    TEXT,
    TYPED,
    Asked,
    Facts,
    Fuzzy,
    Words,
)
from shortlist.model.paths import Path

Lists = tuple[Ints, Ints]
"""The head of each condition's list of subscriptions, and who follows whom."""


class Pairs:
    """Publications and numbers side by side, growing."""

    def __init__(self, room: int = 4096) -> None:
        self._pairs = np.empty(room, np.int32), np.empty(room, np.int32), 0

    @property
    def arrays(self) -> tuple[Ints, Ints]:
        publications, numbers, count = self._pairs
        return publications[:count], numbers[:count]

    def conjunctions(
        self,
        masks: BlockMasks,
        rows: SlotRows,
        conjunctions: Conjunctions,
        first: int,
        lists: Lists,
        expand: bool = False,
    ) -> None:
        """Adds what meets conjunctions, whose numbers count from `first`.

        To expand is to write down the subscriptions of a condition in place of its number.
        """
        match_conjunctions, _ = kernels(masks.words)
        arrays = tuple([_index(array) for array in conjunctions])
        self._pairs = match_conjunctions(
            (masks.table, *rows), arrays, first, lists, expand, self._pairs
        )

    def programs(
        self,
        masks: BlockMasks,
        rows: SlotRows,
        segment: Segment,
        wanted: Ints,
        lists: Lists,
        expand: bool = False,
    ) -> None:
        """Adds what may meet some programs of a segment, given by number."""
        if wanted.size:
            _, match_programs = kernels(masks.words)
            some = segment.programs
            code = _index(some.code_offsets), some.code
            arrays = *code, _index(some.plus), _index(some.minus), some.is_strict
            first, table = segment.crisp.size, (masks.table, *rows)
            self._pairs = match_programs(
                table, arrays, some.depth, wanted, first, lists, expand, self._pairs
            )


class Search:
    """Matches of a block in which nothing fuzzy was published, segment by segment.

    What a crisp condition leads to is certain; other matches have a degree, which is possibility
    and necessity in one.
    """

    def __init__(self, block: Block, room: int = 4096) -> None:
        self._block = block
        self._masks = BlockMasks(block)
        self._certain = Pairs(room)
        self._graded: list[Matches] = []

    def matches(self) -> Matches:
        """All that was found so far."""
        return Matches.joined([*self._graded, Matches.sure(*self._certain.arrays)])

    def take(self, segment: Segment, lists: Lists) -> None:
        """Looks through a segment."""
        masks, programs = self._masks, segment.programs
        rows = masks.rows(segment.slots)
        self._certain.conjunctions(masks, rows, segment.crisp, 0, lists, expand=True)
        crisp, others = segment.others(~programs.is_graded), segment.others(programs.is_graded)
        self._certain.programs(masks, rows, segment, crisp, lists, expand=True)
        if segment.graded.size == others.size == 0:
            return
        graded = segment.grades.graded(self._block)
        pairs = Pairs()
        pairs.conjunctions(masks, rows, segment.graded, segment.crisp.size, lists)
        which = segment.of_programs(pairs.arrays)
        self._share(pairs, judge_conjunctions(programs, graded, None, *which), lists)
        pairs = Pairs()
        pairs.programs(masks, rows, segment, others, lists)
        asked = (masks.table, *rows), programs, programs.depth, graded, None
        degrees = judge_programs(*asked, *segment.of_programs(pairs.arrays))
        self._share(pairs, degrees, lists)

    def _share(self, pairs: Pairs, degrees: npt.NDArray[np.float64], lists: Lists) -> None:
        """Notes pairs with a degree above 0, one for each subscription that has the condition."""
        publications, numbers, both, _ = share_out(*pairs.arrays, degrees, *lists)
        self._graded.append(Matches(publications, numbers, both, both))


def _index(places: Ints) -> npt.NDArray[np.uint32]:
    """Places as numbers that are never negative, which spares kernels the question."""
    return places.view(np.uint32)


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

    def fuzzy(self, segment: Segment) -> Fuzzy:
        """What kernels are told for a segment."""
        words = Words(self.words.table, np.zeros(0, np.uint16), np.empty((0, 0)))
        if self.arrays.words.size:
            rows, grades = self.words.rows(segment.slots).plus, segment.grades
            words = Words(self.words.table, rows, grades.graded(self.words.block).singles)
        rows_of = [
            self.row(Attribute(path, "number" if graded is None else "text"))
            for path, graded in segment.grades.attributes
        ]
        return Fuzzy(self.asked(segment.slots), self.arrays, words, np.array(rows_of, np.int32))

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


Look = Callable[[SlotRows, Pairs], None]
"""Writes down the pairs that rows of masks let pass."""


class FuzzySearch:
    """Matches of a block in which anything was published, segment by segment.

    Masks tell what is possible, and what surely is not; then the possibility and the necessity of
    each pair are computed.
    """

    def __init__(self, block: Block, paths: Iterable[Path]) -> None:
        self._block = block
        self._masks = BlockMasks(block, is_fuzzy=True)
        self._facts = BlockFacts.of(block, paths)
        self._found: list[Matches] = []

    def matches(self) -> Matches:
        """All that was found so far."""
        return Matches.joined(self._found or [Matches.of_rows([])])

    def take(self, segment: Segment, lists: Lists) -> None:
        """Looks through a segment."""
        masks, programs = self._masks, segment.programs
        rows = masks.rows(segment.slots)
        fuzzy = self._facts.fuzzy(segment)

        def plain(rows: SlotRows, pairs: Pairs) -> None:
            pairs.conjunctions(masks, rows, segment.crisp, 0, lists)

        def conjunctions(rows: SlotRows, pairs: Pairs) -> None:
            pairs.conjunctions(masks, rows, segment.graded, segment.crisp.size, lists)

        def others(rows: SlotRows, pairs: Pairs, which: Ints) -> None:
            pairs.programs(masks, rows, segment, which, lists)

        unsure = self._unsure(plain, rows, lists)
        self._share(unsure, judge_plain(segment.crisp, fuzzy, *unsure), lists)
        if not programs.size:
            return
        graded = segment.grades.graded(self._block)
        possible = _found(conjunctions, rows)
        which = segment.of_programs(possible)
        self._share(possible, judge_conjunctions(programs, graded, fuzzy, *which), lists)
        is_crisp = programs.is_strict & ~programs.is_graded
        asked = (masks.table, *rows), programs, programs.depth, graded, fuzzy
        for pairs in (
            _found(partial(others, which=segment.others(~is_crisp)), rows),
            self._unsure(partial(others, which=segment.others(is_crisp)), rows, lists),
        ):
            self._share(pairs, judge_programs(*asked, *segment.of_programs(pairs)), lists)

    def _unsure(self, look: Look, rows: SlotRows, lists: Lists) -> tuple[Ints, Ints]:
        """Pairs that are possible and not sure; those that are sure are matches already.

        Of conditions that crisp values never grade, under a strict norm. It is sure what surely has
        the one slot of a literal and cannot have the other.
        """
        possible, sure = _found(look, rows), _found(look, SlotRows(rows.minus, rows.plus))
        publications, conditions, *shared = split(*possible, *sure, *lists)
        self._found.append(Matches.sure(*shared))
        return publications, conditions

    def _share(self, pairs: tuple[Ints, Ints], degrees: Floats, lists: Lists) -> None:
        self._found.append(Matches(*share_out(*pairs, degrees, *lists)))


def _found(look: Look, rows: SlotRows) -> tuple[Ints, Ints]:
    pairs = Pairs()
    look(rows, pairs)
    return pairs.arrays
