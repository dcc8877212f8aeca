"""One block of publications against segments."""

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block, Ints
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.segments import Conjunctions, Segment
from shortlist.matching.kernels.conditions import kernels
from shortlist.matching.kernels.judging import judge_conjunctions, judge_programs, share_out

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
