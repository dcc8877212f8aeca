"""Some conditions as arrays that kernels run over; a segment never changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shortlist.matching.blocks import Ints
from shortlist.matching.index.conditions import Condition
from shortlist.matching.index.conjunctions import Conjunctions
from shortlist.matching.index.grades import Grades
from shortlist.matching.index.literals import Grade
from shortlist.matching.index.programs import Programs
from shortlist.matching.index.runs import joined, offsets_of, picked
from shortlist.matching.index.slot_numbers import SlotNumbers
from shortlist.matching.index.tables import SlotTable


@dataclass(frozen=True, slots=True)
class Segment:
    """Conditions by number: plain conjunctions, other conjunctions, and all the rest.

    The last two have a program each; of conjunctions, masks are asked first.
    """

    slots: SlotTable
    crisp: Conjunctions
    graded: Conjunctions
    programs: Programs
    grades: Grades

    @property
    def count(self) -> int:
        return self.crisp.count + self.programs.count

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> tuple["Segment", Ints]:
        """A segment that has equal conditions once, and the place of each there."""
        slots = SlotNumbers()
        known: dict[Condition, int] = {}
        which = [known.setdefault(condition, len(known)) for condition in conditions]
        distinct = list(known)
        is_plain = [each.is_plain for each in distinct]
        crisp, others = np.flatnonzero(is_plain), np.flatnonzero(np.logical_not(is_plain))
        plain = [distinct[place] for place in crisp.tolist()]
        literals = [literal for each in plain for literal in each.literals]
        plus = np.array([slots.number(literal.plus) for literal in literals], np.int32)
        minus = np.array([slots.number(literal.minus) for literal in literals], np.int32)
        offsets = offsets_of([len(each.literals) for each in plain])
        grades: dict[Grade | None, int] = {None: -1}

        def grade(one: Grade | None) -> int:
            return grades.setdefault(one, len(grades) - 1)

        programs = Programs.of([distinct[place] for place in others.tolist()], slots.number, grade)
        graded = Grades.of([one for one in grades if one is not None])
        segment, order = _arranged(slots, (offsets, plus, minus), programs, graded)
        places = np.empty(len(distinct), np.int32)
        places[np.append(crisp, others)[order]] = np.arange(len(distinct))
        return segment, places[which]

    @classmethod
    def merged(cls, some: Sequence[tuple["Segment", Ints]]) -> tuple["Segment", Ints]:
        """Those conditions of several segments that are named, and which came to each place.

        Conditions count on from one segment to the next.
        """
        slots = SlotNumbers()
        crisp, programs, grades, kept = [], [], [], []
        before = 0
        for segment, named in some:
            offsets, plus, minus = segment.crisp.literals()
            of_crisp = named[named < segment.crisp.count]
            members, offsets = picked(offsets, of_crisp)
            plus, minus = plus[members], minus[members]
            rest = named[named >= segment.crisp.count]
            taken = segment.programs.taken(rest - segment.crisp.count)
            is_used = np.zeros(segment.slots.size, np.bool_)
            for used in (plus, minus, taken.plus, taken.minus):
                is_used[used] = True
            new = slots.numbers(segment.slots, is_used)
            crisp.append((offsets, new[plus], new[minus]))
            programs.append(replace(taken, plus=new[taken.plus], minus=new[taken.minus]))
            grades.append((segment.grades, taken.grades))
            kept.append((of_crisp + before, rest + before))
            before += segment.count
        all_crisp = (
            joined([offsets for offsets, _, _ in crisp]),
            np.concatenate([plus for _, plus, _ in crisp]),
            np.concatenate([minus for _, _, minus in crisp]),
        )
        graded, numbers = Grades.joined(grades)
        all_programs = replace(Programs.joined(programs), grades=numbers)
        segment, order = _arranged(slots, all_crisp, all_programs, graded)
        origin = np.concatenate([part for parts in zip(*kept, strict=True) for part in parts])
        return segment, origin[order].astype(np.int32)


def _arranged(
    numbers: SlotNumbers, crisp: tuple[Ints, Ints, Ints], programs: Programs, grades: Grades
) -> tuple[Segment, Ints]:
    """All in order: numbers of slots are those of `numbers`; which one came to each place."""
    slots, final = numbers.table()
    begin = slots.first_mask
    offsets, plus, minus = crisp
    conjunctions, order = Conjunctions.arranged(offsets, final[plus], final[minus], begin)
    programs = replace(programs, plus=final[programs.plus], minus=final[programs.minus])
    first = np.flatnonzero(programs.is_conjunction)
    chosen = programs.taken(first)
    literals = chosen.literal_offsets, chosen.plus, chosen.minus
    graded, among = Conjunctions.arranged(*literals, begin)
    program_order = np.append(first[among], np.flatnonzero(~programs.is_conjunction))
    segment = Segment(slots, conjunctions, graded, programs.taken(program_order), grades)
    return segment, np.append(order, program_order + conjunctions.count).astype(np.int32)
