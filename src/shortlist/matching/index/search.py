"""One block of publications against segments; what is fuzzy in it are facts that slots ask of."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Bools, Floats, Ints, Longs
from shortlist.matching.index.literals import BOTTOM, TOP, Attribute, keyed_numbers
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.segments import Conjunctions, Segment
from shortlist.matching.index.tables import HIGHEST, LOWEST, SlotTable
from shortlist.matching.kernels.conditions import kernels
from shortlist.matching.kernels.grades import HUGE
from shortlist.matching.kernels.judging import judge_conjunctions, judge_programs, share_out
from shortlist.matching.kernels.levels import telling_conjunctions, telling_programs
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
from shortlist.matching.kernels.opening import judge_open
from shortlist.model.paths import Path

Lists = tuple[Ints, Ints]
"""The head of each condition's list of subscriptions, and who follows whom."""


class Pairs:
    """Publications and numbers side by side, growing."""

    def __init__(self, room: int = 4096) -> None:
        self.pairs = np.empty(room, np.int32), np.empty(room, np.int32), 0
        """Kernels write behind as many as the last number says, or into larger arrays."""

    @property
    def arrays(self) -> tuple[Ints, Ints]:
        publications, numbers, count = self.pairs
        return publications[:count], numbers[:count]

    def add(self, publications: Ints, numbers: Ints) -> None:
        """Writes down more of them."""
        first, theirs, count = self.pairs
        end = count + publications.size
        if end > first.size:
            first, theirs = np.empty(end, np.int32), np.empty(end, np.int32)
            first[:count], theirs[:count] = self.arrays
        first[count:end], theirs[count:end] = publications, numbers
        self.pairs = first, theirs, end

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
        if not conjunctions.size:
            return
        match_conjunctions, _ = kernels(masks.words)
        arrays = tuple([_index(array) for array in conjunctions])
        table = masks.table[: masks.end]
        self.pairs = match_conjunctions(
            (table, rows.possible, rows.sure), arrays, first, lists, expand, self.pairs
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
            first, table = segment.crisp.size, (masks.table, rows.possible, rows.sure)
            self.pairs = match_programs(
                table, arrays, some.depth, wanted, first, lists, expand, self.pairs
            )


class GradedPairs:
    """Publications, subscriptions and degrees side by side, growing.

    There are two rows of degrees, or one where possibility and necessity are the same.
    """

    def __init__(self, room: int, rows: int) -> None:
        self._found = np.empty((2, room), np.int32), np.empty((rows, room)), 0

    def add(self, pairs: tuple[Ints, Ints], degrees: Floats, lists: Lists) -> None:
        """Notes those pairs of publications and conditions whose possibility is above 0."""
        self._found = share_out(*pairs, degrees, lists, self._found)

    def matches(self, sure: Pairs, uncertain: Pairs) -> Matches:
        """These, and before them pairs with the degrees (1, 1) and (1, 0)."""
        (publications, numbers), degrees, count = self._found
        between = uncertain.arrays
        sure.add(*between)
        sure.add(publications[:count], numbers[:count])
        rows = [row[:count] for row in degrees]
        return Matches(*sure.arrays, rows[0], rows[-1], between[0].size)


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
        fuzzy, texts = 0, 0
        for path in paths:
            column = block.column(path)
            if column.fuzzy_numbers.places.size:
                rows[Attribute(path, "number")] = len(starts)
                starts.append(fuzzy + np.searchsorted(column.fuzzy_numbers.places, every))
                corners.append(column.fuzzy_numbers.corners)
                shapes.append(column.fuzzy_numbers.shapes)
                fuzzy += column.fuzzy_numbers.places.size
            if column.fuzzy_texts.places.size:
                rows[Attribute(path, "text")] = len(starts)
                starts.append(texts + np.searchsorted(column.fuzzy_texts.places, every))
                codes, places = np.unique(column.fuzzy_texts.codes, return_inverse=True)
                words[path] = [column.words[code] for code in codes.tolist()]
                numbers.append(places)
                degrees.append(column.fuzzy_texts.degrees)
                texts += column.fuzzy_texts.places.size
        values = np.concatenate(corners)
        every_start = np.array(starts, np.int32).reshape(-1, block.size + 1)
        texts_of = np.concatenate(numbers), np.concatenate(degrees)
        is_usual = bool((np.isinf(values) | (np.abs(values) <= HUGE)).all())
        arrays = Facts(every_start, values, np.concatenate(shapes), *texts_of, is_usual)
        return cls(arrays, rows, BlockMasks(Block.of_words(words)))

    def fuzzy(self, segment: Segment) -> Fuzzy:
        """What kernels are told for a segment."""
        words = Words(self.words.table, np.zeros(0, np.uint16), np.empty((0, 0)))
        if self.arrays.words.size:
            rows, grades = self.words.rows(segment.slots).possible, segment.grades
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
                found = _ranges(betweens.lows, betweens.highs)
                lows[here], highs[here], low_open[here], high_open[here] = found
        any_of = slice(slots.first_any_of, slots.first_any_of + slots.any_of_offsets.size - 1)
        firsts = slots.any_of_members[slots.any_of_offsets[:-1]]
        rows[any_of] = rows[firsts]
        kinds[any_of] = np.where(kinds[firsts] == TEXT, TEXT, ANY_OF)
        ranges = lows, highs, low_open, high_open
        members = slots.first_any_of, slots.any_of_offsets, slots.any_of_members
        return Asked(kinds, rows, *ranges, *members)


def _ranges(lows: Longs, highs: Longs) -> tuple[Floats, Floats, Bools, Bools]:
    """Ranges of numbers from keys; of one-sided ones the other end tells which number is meant."""
    from_low, to_high = lows == LOWEST, highs == HIGHEST
    after_low, before_high = highs == TOP, from_low
    low = np.where(after_low, keyed_numbers(lows - 1), keyed_numbers(lows))
    high = np.where(before_high, keyed_numbers(highs), keyed_numbers(highs - 1))
    low[from_low | (lows == BOTTOM)] = -np.inf
    high[to_high | (highs == TOP)] = np.inf
    return low, high, after_low, before_high


class Search:
    """Matches of a block, segment by segment.

    Where nothing fuzzy was published, what a crisp condition leads to is certain; other matches
    have a degree, which is possibility and necessity in one. Otherwise, of conditions that crisp
    values never grade, under a strict norm, masks tell most degrees. Of others they tell what is
    possible, and then possibility and necessity of each pair are computed.
    """

    def __init__(self, block: Block, room: int = 4096, fuzzy: Collection[Path] = ()) -> None:
        """Of a block with `fuzzy` values at some of these paths."""
        self._block = block
        self._facts = BlockFacts.of(block, fuzzy) if fuzzy else None
        self._masks = BlockMasks(block, is_fuzzy=bool(fuzzy))
        self._graded = GradedPairs(room, 2 if fuzzy else 1)
        self._sure = Pairs(room)
        self._uncertain = Pairs(room // 2 if fuzzy else 0)
        self._entries = np.empty((4, 4096), np.int32)

    def matches(self) -> Matches:
        """All that was found so far."""
        return self._graded.matches(self._sure, self._uncertain)

    def take(self, segment: Segment, lists: Lists) -> None:
        """Looks through a segment."""
        masks, programs = self._masks, segment.programs
        rows, fuzzy = masks.rows(segment.slots), None
        crisp, others = segment.others(~programs.is_graded), segment.others(programs.is_graded)
        if self._facts is None:
            self._sure.conjunctions(masks, rows, segment.crisp, 0, lists, expand=True)
            self._sure.programs(masks, rows, segment, crisp, lists, expand=True)
            if segment.graded.size == others.size == 0:
                return
        else:
            fuzzy = self._facts.fuzzy(segment)
            self._tell_conjunctions(segment, rows, fuzzy, lists)
            if not programs.size:
                return
        graded = segment.grades.graded(self._block)
        pairs = Pairs()
        pairs.conjunctions(masks, rows, segment.graded, segment.crisp.size, lists)
        which = segment.of_programs(pairs.arrays)
        degrees = judge_conjunctions(programs, graded, fuzzy, *which)
        self._graded.add(pairs.arrays, degrees, lists)
        pairs = Pairs()
        pairs.programs(masks, rows, segment, others, lists)
        left = [pairs.arrays]
        if fuzzy is not None:
            left.append(self._tell_programs(segment, rows, fuzzy, crisp, lists))
        asked = (masks.table, rows.possible, rows.sure), programs, programs.depth, graded, fuzzy
        for undecided in left:
            degrees = judge_programs(*asked, *segment.of_programs(undecided))
            self._graded.add(undecided, degrees, lists)

    def _tell_conjunctions(
        self, segment: Segment, rows: SlotRows, fuzzy: Fuzzy, lists: Lists
    ) -> None:
        tell = telling_conjunctions(self._masks.words)
        masks = self._masks.table[: self._masks.end], *rows, segment.slots.first_mask
        crisp = tuple([_index(array) for array in segment.crisp]), segment.crisp.longest
        found = self._sure.pairs, self._uncertain.pairs, (self._entries, 0)
        self._sure.pairs, self._uncertain.pairs, open_ones = tell(masks, *crisp, lists, *found)
        self._judge_open(fuzzy, open_ones, None, 0, lists)

    def _tell_programs(
        self, segment: Segment, rows: SlotRows, fuzzy: Fuzzy, wanted: Longs, lists: Lists
    ) -> tuple[Ints, Ints]:
        """The answer are pairs that are undecided; the others that match are noted."""
        programs, undecided, first = segment.programs, Pairs(), segment.crisp.size
        tell = telling_programs(self._masks.words)
        masks = self._masks.table, *rows, segment.slots.first_mask
        literals = programs.literal_offsets, _index(programs.plus), _index(programs.minus)
        code = programs.code_offsets, programs.code, programs.norms, programs.least, first
        asked = masks, (*literals, *code), programs.depth, wanted, lists
        found = self._sure.pairs, self._uncertain.pairs, undecided.pairs, (self._entries, 0)
        told = tell(*asked, *found)
        self._sure.pairs, self._uncertain.pairs, undecided.pairs, open_ones = told
        self._judge_open(fuzzy, open_ones, programs.least, first, lists)
        return undecided.arrays

    def _judge_open(
        self,
        fuzzy: Fuzzy,
        open_ones: tuple[Ints, int],
        least: Floats | None,
        first: int,
        lists: Lists,
    ) -> None:
        self._entries, count = open_ones
        publications, which, degrees = judge_open(fuzzy, self._entries, count, least, first)
        self._graded.add((publications, which), degrees, lists)
