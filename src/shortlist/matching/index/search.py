"""One block of publications against segments."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.grades import Elements
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.segments import Conjunctions, Segment
from shortlist.matching.kernels.conditions import kernels, sharers, write_sharers
from shortlist.matching.kernels.grades import grade_conjunctions, grade_pairs

Array = npt.NDArray[Any]


class Pairs:
    """Publications and numbers side by side, growing."""

    def __init__(self, room: int = 4096) -> None:
        self._publications = np.empty(room, np.int32)
        self._numbers = np.empty(room, np.int32)
        self._count = 0

    @property
    def arrays(self) -> tuple[Ints, Ints]:
        return self._publications[: self._count], self._numbers[: self._count]

    def conjunctions(
        self,
        masks: BlockMasks,
        rows: SlotRows,
        conjunctions: Conjunctions,
        first: int,
        heads: Ints,
        following: Ints,
        expand: bool,
    ) -> None:
        match_conjunctions, _ = kernels(masks.words)
        self._publications, self._numbers, self._count = match_conjunctions(
            masks.table,
            rows.plus,
            rows.minus,
            _index(conjunctions.group_slots),
            _index(conjunctions.group_starts),
            _index(conjunctions.offsets),
            _index(conjunctions.plus),
            _index(conjunctions.minus),
            first,
            heads,
            following,
            expand,
            self._publications,
            self._numbers,
            self._count,
        )

    def programs(
        self,
        masks: BlockMasks,
        rows: SlotRows,
        segment: Segment,
        is_wanted: Bools,
        heads: Ints,
        following: Ints,
        expand: bool,
    ) -> None:
        """Those of a segment's programs that are no conjunctions."""
        programs = segment.programs
        if segment.graded.count == programs.count:
            return
        _, match_programs = kernels(masks.words)
        self._publications, self._numbers, self._count = match_programs(
            masks.table,
            rows.plus,
            rows.minus,
            segment.graded.count,
            programs.count,
            _index(programs.code_offsets),
            programs.code,
            _index(programs.plus),
            _index(programs.minus),
            programs.is_strict,
            is_wanted,
            programs.depth,
            segment.crisp.count,
            heads,
            following,
            expand,
            self._publications,
            self._numbers,
            self._count,
        )


class GradedPairs:
    """Publications, numbers and degrees side by side, growing."""

    def __init__(self, room: int) -> None:
        self._publications = np.empty(room, np.int32)
        self._numbers = np.empty(room, np.int32)
        self._degrees = np.empty(room)
        self._count = 0

    def add(
        self, publications: Ints, conditions: Ints, degrees: Floats, heads: Ints, following: Ints
    ) -> None:
        """Pairs with a degree above 0, one for each subscription that shares the condition."""
        pairs = publications, conditions, degrees, heads, following
        written = write_sharers(*pairs, *self._free())
        if written < 0:
            self._reserve(self._count + sharers(*pairs[1:]))
            written = write_sharers(*pairs, *self._free())
        self._count += written

    def _free(self) -> tuple[Ints, Ints, Floats]:
        start = self._count
        return self._publications[start:], self._numbers[start:], self._degrees[start:]

    def _reserve(self, least: int) -> None:
        self._publications = _with_room(self._publications, self._count, 2 * least)
        self._numbers = _with_room(self._numbers, self._count, 2 * least)
        self._degrees = _with_room(self._degrees, self._count, 2 * least)

    def matches(self, publications: Ints, numbers: Ints) -> Matches:
        """All pairs, and after them these, which are certain."""
        if self._count == 0:
            return Matches.sure(publications, numbers)
        stop = self._count + publications.size
        if stop > self._numbers.size:
            self._reserve(stop)
        self._publications[self._count : stop] = publications
        self._numbers[self._count : stop] = numbers
        degrees = self._degrees[: self._count]
        return Matches(self._publications[:stop], self._numbers[:stop], degrees, degrees)


def _with_room(array: Array, used: int, room: int) -> Array:
    larger = np.empty(room, array.dtype)
    larger[:used] = array[:used]
    return larger


class Search:
    """Matches of a block in which nothing fuzzy was published, segment by segment.

    What a crisp condition leads to is certain; other matches have a degree, which is possibility
    and necessity in one.
    """

    def __init__(self, block: Block, certain_room: int = 4096, graded_room: int = 4096) -> None:
        self._block = block
        self._masks = BlockMasks(block)
        self._certain = Pairs(certain_room)
        self._graded = GradedPairs(graded_room)

    def matches(self) -> Matches:
        """All that was found so far."""
        return self._graded.matches(*self._certain.arrays)

    def take(self, segment: Segment, heads: Ints, following: Ints) -> None:
        """Looks through a segment; each condition's subscriptions are a list from its head on."""
        rows = self._masks.rows(segment.slots)
        lists = heads, following
        self._certain.conjunctions(self._masks, rows, segment.crisp, 0, *lists, expand=True)
        programs = segment.programs
        if programs.count == 0:
            return
        crisp_programs = ~programs.is_graded
        self._certain.programs(self._masks, rows, segment, crisp_programs, *lists, expand=True)
        if segment.graded.count == 0 and crisp_programs.all():
            return
        first = segment.crisp.count
        conjunctions, others = Pairs(), Pairs()
        conjunctions.conjunctions(self._masks, rows, segment.graded, first, *lists, expand=False)
        others.programs(self._masks, rows, segment, programs.is_graded, *lists, expand=False)
        elements = segment.grades.elements(self._block)
        for pairs, degrees_of in ((conjunctions, self._of_conjunctions), (others, self._of_others)):
            publications, conditions = pairs.arrays
            which = publications, conditions - np.int32(first)
            degrees = degrees_of(segment, rows, elements, which)
            self._graded.add(publications, conditions, degrees, heads, following)

    def _of_conjunctions(
        self, segment: Segment, rows: SlotRows, elements: Elements, which: tuple[Ints, Ints]
    ) -> Floats:
        programs, grades = segment.programs, segment.grades
        return grade_conjunctions(  # type: ignore[no-any-return]
            programs.literal_offsets,
            programs.grades,
            programs.norms,
            programs.least.max(axis=1),
            grades.places,
            grades.is_text,
            grades.parameters,
            *elements,
            *which,
        )

    def _of_others(
        self, segment: Segment, rows: SlotRows, elements: Elements, which: tuple[Ints, Ints]
    ) -> Floats:
        programs, grades = segment.programs, segment.grades
        return grade_pairs(  # type: ignore[no-any-return]
            self._masks.table,
            rows.plus,
            programs.code_offsets,
            programs.code,
            programs.plus,
            programs.minus,
            programs.grades,
            programs.weights,
            programs.norms,
            programs.least.max(axis=1),
            programs.depth,
            grades.places,
            grades.is_text,
            grades.parameters,
            elements.starts,
            elements.values,
            *which,
        )


def _index(places: Ints) -> npt.NDArray[np.uint32]:
    """Places as numbers that are never negative, which spares kernels the question."""
    return places.view(np.uint32)
