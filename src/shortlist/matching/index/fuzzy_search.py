"""One block of publications with fuzzy values against segments."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.facts import BlockFacts
from shortlist.matching.index.masks import BlockMasks, SlotRows
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.search import Pairs
from shortlist.matching.index.segments import Segment
from shortlist.matching.index.slots import Attribute
from shortlist.matching.kernels.judging import (
    judge_conjunctions,
    judge_plain,
    judge_programs,
    share_out,
    split,
)
from shortlist.matching.kernels.literals import Asked, Graded, Words
from shortlist.model.paths import Path

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

    def take(self, segment: Segment, heads: Ints, following: Ints) -> None:
        """Looks through a segment; each condition's subscriptions are a list from its head on."""
        lists = heads, following
        rows = self._masks.rows(segment.slots)
        programs, first = segment.programs, segment.crisp.count
        is_crisp = programs.is_strict & ~programs.is_graded
        asked = self._facts.asked(segment.slots)
        words = self._facts.words_of(segment.slots, segment.grades)

        def plain(rows: SlotRows, pairs: Pairs) -> None:
            pairs.conjunctions(self._masks, rows, segment.crisp, 0, *lists, expand=False)

        def conjunctions(rows: SlotRows, pairs: Pairs) -> None:
            pairs.conjunctions(self._masks, rows, segment.graded, first, *lists, expand=False)

        def others(rows: SlotRows, pairs: Pairs, which: Bools) -> None:
            pairs.programs(self._masks, rows, segment, which, *lists, expand=False)

        unsure = self._unsure(plain, rows, lists)
        self._share(unsure, self._of_plain(segment, asked, words, unsure), lists)
        if not programs.count:
            return
        graded = self._graded(segment)
        possible = _found(conjunctions, rows)
        degrees = self._of_conjunctions(segment, graded, asked, words, possible)
        self._share(possible, degrees, lists)
        for which in (
            _found(partial(others, which=~is_crisp), rows),
            self._unsure(partial(others, which=is_crisp), rows, lists),
        ):
            self._share(which, self._of_others(segment, rows, graded, asked, words, which), lists)

    def _unsure(self, look: Look, rows: SlotRows, lists: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Pairs that are possible and not sure; those that are sure are matches already.

        Of conditions that crisp values never grade, under a strict norm. It is sure what surely has
        the one slot of a literal and cannot have the other.
        """
        possible, sure = _found(look, rows), _found(look, SlotRows(rows.minus, rows.plus))
        publications, conditions, *shared = split(*possible, *sure, *lists)
        self._found.append(Matches.sure(*shared))
        return publications, conditions

    def _share(self, which: tuple[Ints, Ints], degrees: Floats, lists: tuple[Ints, Ints]) -> None:
        self._found.append(Matches(*share_out(*which, degrees, *lists)))

    def _of_plain(
        self, segment: Segment, asked: Asked, words: Words, which: tuple[Ints, Ints]
    ) -> Floats:
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
            *which,
        )

    def _of_conjunctions(
        self, segment: Segment, graded: Graded, asked: Asked, words: Words, which: tuple[Ints, Ints]
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
            *_programs(segment, which),
        )

    def _of_others(
        self,
        segment: Segment,
        rows: SlotRows,
        graded: Graded,
        asked: Asked,
        words: Words,
        which: tuple[Ints, Ints],
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
            *_programs(segment, which),
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
            *elements,
        )


def _found(look: Look, rows: SlotRows) -> tuple[Ints, Ints]:
    pairs = Pairs()
    look(rows, pairs)
    return pairs.arrays


def _programs(segment: Segment, which: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    publications, conditions = which
    return publications, conditions - np.int32(segment.crisp.count)
