"""One block of publications with fuzzy values against segments."""

from collections.abc import Iterable

import numpy as np

from shortlist.matching.blocks import Block, Floats, Ints
from shortlist.matching.index.facts import BlockFacts
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.search import Pairs
from shortlist.matching.index.segments import Segment
from shortlist.matching.index.slots import Attribute
from shortlist.matching.kernels.judging import (
    Asked,
    Graded,
    Words,
    judge_conjunctions,
    judge_plain,
    judge_programs,
    share_out,
)
from shortlist.model.paths import Path


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

    def take(self, segment: Segment, heads: Ints, following: Ints) -> None:
        """Looks through a segment; each condition's subscriptions are a list from its head on."""
        rows = self._masks.rows(segment.slots)
        lists = heads, following
        plain, conjunctions, others = Pairs(), Pairs(), Pairs()
        first = segment.crisp.count
        plain.conjunctions(self._masks, rows, segment.crisp, 0, *lists, expand=False)
        conjunctions.conjunctions(self._masks, rows, segment.graded, first, *lists, expand=False)
        every = np.ones(segment.programs.count, np.bool_)
        others.programs(self._masks, rows, segment, every, *lists, expand=False)
        asked = self._facts.asked(segment.slots)
        words = self._facts.words_of(segment.slots, segment.grades)
        self._share(plain, self._of_plain(segment, asked, words, plain), lists)
        if segment.programs.count:
            graded = self._graded(segment)
            degrees = self._of_conjunctions(segment, graded, asked, words, conjunctions)
            self._share(conjunctions, degrees, lists)
            degrees = self._of_others(segment, rows, graded, asked, words, others)
            self._share(others, degrees, lists)

    def _share(self, pairs: Pairs, degrees: Floats, lists: tuple[Ints, Ints]) -> None:
        self._found.append(Matches(*share_out(*pairs.arrays, degrees, *lists)))

    def _of_plain(self, segment: Segment, asked: Asked, words: Words, pairs: Pairs) -> Floats:
        crisp = segment.crisp
        return judge_plain(  # type: ignore[no-any-return]
            crisp.group_slots,
            crisp.group_starts,
            crisp.offsets,
            crisp.plus,
            crisp.minus,
            asked,
            self._facts.arrays,
            words,
            *pairs.arrays,
        )

    def _of_conjunctions(
        self, segment: Segment, graded: Graded, asked: Asked, words: Words, pairs: Pairs
    ) -> Floats:
        programs = segment.programs
        return judge_conjunctions(  # type: ignore[no-any-return]
            programs.literal_offsets,
            programs.plus,
            programs.minus,
            programs.grades,
            programs.norms,
            programs.least,
            graded,
            asked,
            self._facts.arrays,
            words,
            *_programs(segment, pairs),
        )

    def _of_others(
        self,
        segment: Segment,
        rows: SlotRows,
        graded: Graded,
        asked: Asked,
        words: Words,
        pairs: Pairs,
    ) -> Floats:
        programs = segment.programs
        return judge_programs(  # type: ignore[no-any-return]
            self._masks.table,
            rows.plus,
            rows.minus,
            programs.code_offsets,
            programs.code,
            programs.plus,
            programs.minus,
            programs.grades,
            programs.weights,
            programs.norms,
            programs.least,
            programs.depth,
            graded,
            asked,
            self._facts.arrays,
            words,
            *_programs(segment, pairs),
        )

    def _graded(self, segment: Segment) -> Graded:
        grades = segment.grades
        elements = grades.elements(self._block)
        rows = [
            self._facts.row(Attribute(path, "number" if words is None else "text"))
            for path, words in grades.attributes
        ]
        return Graded(
            grades.places,
            grades.is_text,
            grades.parameters,
            np.array(rows, np.int32),
            elements.starts,
            elements.values,
        )


def _programs(segment: Segment, pairs: Pairs) -> tuple[Ints, Ints]:
    publications, conditions = pairs.arrays
    return publications, conditions - np.int32(segment.crisp.count)
