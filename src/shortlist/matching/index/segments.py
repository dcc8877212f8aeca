"""Some conditions as arrays that kernels run over, and the segments of an index."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Ints, joined, offsets_of, picked, with_length
from shortlist.matching.blocks import Bools, Floats
from shortlist.matching.index.columns import Columns, LiteralColumn
from shortlist.matching.index.grades import Grades
from shortlist.matching.index.literals import Grade, Numbered
from shortlist.matching.index.numbering import NOBODY, Sharers
from shortlist.matching.index.tables import SlotNumbers, SlotTable
from shortlist.matching.index.terms import Condition
from shortlist.matching.kernels.conditions import settle
from shortlist.model.rounding import added

BY_ANYTHING = 1
"""The slot that a group begins with where no better one is there: it lets everything pass."""


class Conjunctions(NamedTuple):
    """Groups begin with the same slot; what else each conjunction asks follows."""

    group_slots: Ints
    group_starts: Ints
    offsets: Ints
    plus: Ints
    minus: Ints

    @property
    def size(self) -> int:
        return self.offsets.size - 1

    @property
    def longest(self) -> int:
        """So many literals has none more than, that with which its group begins included."""
        return 1 + int(np.diff(self.offsets).max(initial=0))

    @classmethod
    def arranged(
        cls, offsets: Ints, plus: Ints, minus: Ints, first_mask: int
    ) -> tuple["Conjunctions", Ints]:
        """Conjunctions of literals, put in order, and which one came to each place.

        A conjunction begins with the rarest slot that has a mask of its own and is not negated.
        """
        count = offsets.size - 1
        owner = np.repeat(np.arange(count), np.diff(offsets))
        beginning, is_used = _beginnings(count, owner, plus, minus, first_mask)
        literals = np.flatnonzero(~is_used)
        literals = literals[np.lexsort((minus[literals], plus[literals], owner[literals]))]
        left = np.bincount(owner[literals], minlength=count)
        # neighbours should ask for ends that lie close together
        second = np.zeros(count, np.int32)
        second[left > 0] = plus[literals[offsets_of(left)[:-1][left > 0]]]
        order = np.lexsort((second, beginning))
        members, new_offsets = picked(offsets_of(left), order)
        chosen = literals[members]
        group_slots, group_starts = np.unique(beginning[order], return_index=True)
        arranged = cls(
            group_slots.astype(np.int32),
            np.append(group_starts, count).astype(np.int32),
            new_offsets,
            plus[chosen],
            minus[chosen],
        )
        return arranged, order.astype(np.int32)

    def literals(self) -> tuple[Ints, Ints, Ints]:
        """Offsets, plus and minus, with the slots that groups begin with put back."""
        beginning = np.repeat(self.group_slots, np.diff(self.group_starts))
        at = self.offsets[:-1]
        plus, minus = np.insert(self.plus, at, beginning), np.insert(self.minus, at, 0)
        return (self.offsets + np.arange(self.offsets.size)).astype(np.int32), plus, minus


def _beginnings(
    count: int, owner: npt.NDArray[np.int64], plus: Ints, minus: Ints, first_mask: int
) -> tuple[Ints, Bools]:
    """The slot that each begins with, and which literals those are."""
    masks = np.flatnonzero((minus == 0) & (plus >= first_mask))
    usage = np.bincount(plus[masks], minlength=1)
    rarest_first = masks[np.lexsort((usage[plus[masks]], owner[masks]))]
    owners, firsts = np.unique(owner[rarest_first], return_index=True)
    beginning = np.full(count, BY_ANYTHING, np.int32)
    beginning[owners] = plus[rarest_first[firsts]]
    is_used = np.zeros(plus.size, np.bool_)
    is_used[rarest_first[firsts]] = True
    return beginning, is_used


class Programs(NamedTuple):
    """Each has its literals and its code in order; code counts from the first literal of all."""

    literal_offsets: Ints
    plus: Ints
    minus: Ints
    grades: Ints
    """Each literal's grade, or -1."""
    weights: Floats
    code_offsets: Ints
    code: Ints
    norms: npt.NDArray[np.uint8]
    is_strict: Bools
    is_conjunction: Bools
    is_graded: Bools
    least: Floats
    """From which possibility and necessity on a match counts, in two columns."""

    @property
    def size(self) -> int:
        return self.norms.size

    @property
    def depth(self) -> int:
        """No program stacks more results than it has literals."""
        return int(np.diff(self.literal_offsets).max(initial=1))

    @classmethod
    def of(cls, conditions: Sequence[Condition], numbered: Sequence[Numbered]) -> "Programs":
        """The programs of conditions, given the numbers of each one's literals."""
        offsets = offsets_of([len(each.literals) for each in conditions])
        code_offsets = offsets_of([len(each.code) for each in conditions])
        code = _flat((each.code for each in conditions), np.int32)
        firsts = np.repeat(offsets[:-1], np.diff(code_offsets))
        return cls(
            literal_offsets=offsets,
            plus=_flat((each.plus for each in numbered), np.int32),
            minus=_flat((each.minus for each in numbered), np.int32),
            grades=_flat((each.grades for each in numbered), np.int32),
            weights=_flat(map(_weights, conditions), np.float64),
            code_offsets=code_offsets,
            code=np.where(code >= 0, code + firsts, code),
            norms=np.array([each.norm for each in conditions], np.uint8),
            is_strict=np.array([each.is_strict for each in conditions], np.bool_),
            is_conjunction=np.array([each.is_conjunction for each in conditions], np.bool_),
            is_graded=np.array([each.is_graded for each in conditions], np.bool_),
            least=np.array([each.least for each in conditions], np.float64).reshape(-1, 2),
        )

    @classmethod
    def joined(cls, some: Sequence["Programs"]) -> "Programs":
        """All programs of several."""
        before = np.cumsum([0, *(each.plus.size for each in some)])
        codes = [
            np.where(each.code >= 0, each.code + shift, each.code)
            for each, shift in zip(some, before, strict=False)
        ]

        def all_of(name: str) -> np.ndarray:
            return np.concatenate([getattr(each, name) for each in some])

        return cls(
            literal_offsets=joined([each.literal_offsets for each in some]),
            code_offsets=joined([each.code_offsets for each in some]),
            code=np.concatenate(codes).astype(np.int32),
            **{name: all_of(name) for name in (*_PER_LITERAL, *_PER_PROGRAM)},
        )

    def taken(self, which: Ints) -> "Programs":
        """Some of the programs, in this order."""
        literals, literal_offsets = picked(self.literal_offsets, which)
        steps, code_offsets = picked(self.code_offsets, which)
        moved = np.repeat(literal_offsets[:-1] - self.literal_offsets[which], np.diff(code_offsets))
        code = self.code[steps]
        return Programs(
            literal_offsets=literal_offsets,
            code_offsets=code_offsets,
            code=np.where(code >= 0, code + moved, code).astype(np.int32),
            **{name: getattr(self, name)[literals] for name in _PER_LITERAL},
            **{name: getattr(self, name)[which] for name in _PER_PROGRAM},
        )


_PER_LITERAL = ("plus", "minus", "grades", "weights")
_PER_PROGRAM = ("norms", "is_strict", "is_conjunction", "is_graded", "least")


def _flat(runs: Iterable[Iterable[float]], kind: type) -> np.ndarray:
    return np.array([*chain.from_iterable(runs)], kind)


def _weights(condition: Condition) -> Sequence[float]:
    weights = condition.weights
    if not weights:
        return (0.0,) * len(condition.literals)
    if not isfinite(added(weights)):
        return [weight / max(weights) for weight in weights]
    return weights


Alike = tuple[Columns, int, Sequence[LiteralColumn]]
"""So many plain conditions of one template: what they have in common, and their literals."""


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
        return self.crisp.size + self.programs.size

    def others(self, wanted: Bools) -> Ints:
        """Those programs that are wanted, but for conjunctions, which come first."""
        return np.flatnonzero(wanted[self.graded.size :]) + self.graded.size

    def of_programs(self, pairs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Pairs of publications and conditions, as pairs of publications and programs."""
        publications, conditions = pairs
        return publications, conditions - np.int32(self.crisp.size)

    @classmethod
    def of(
        cls, conditions: Iterable[Condition], alike: Iterable[Alike] = ()
    ) -> tuple["Segment", Ints]:
        """A segment, and the place of each condition there, those that are alike behind the others.

        Others that are equal are there once.
        """
        slots = SlotNumbers()
        grades: dict[Grade | None, int] = {None: -1}

        # conditions are told apart by their numbers, since slots take long to compare
        known: dict[Hashable, int] = {}
        which: list[int] = []
        distinct: list[tuple[Condition, Numbered]] = []
        for each in conditions:
            numbered = Numbered(
                tuple([slots.number(one.plus) for one in each.literals]),
                tuple([slots.number(one.minus) for one in each.literals]),
                tuple([grades.setdefault(one.grade, len(grades) - 1) for one in each.literals]),
            )
            which.append(known.setdefault((numbered, each.program), len(known)))
            if len(known) > len(distinct):
                distinct.append((each, numbered))
        is_plain = [each.is_plain for each, _ in distinct]
        crisp, others = np.flatnonzero(is_plain), np.flatnonzero(np.logical_not(is_plain))
        plain = [distinct[place][1] for place in crisp.tolist()]
        plus = [_flat((each.plus for each in plain), np.int32)]
        minus = [_flat((each.minus for each in plain), np.int32)]
        lengths = [len(each.plus) for each in plain]
        for columns, size, filling in alike:
            more_plus, more_minus = columns.numbered(size, filling, slots)
            plus.append(more_plus.ravel())
            minus.append(more_minus.ravel())
            lengths += [more_plus.shape[1]] * size
        first = len(distinct)
        total = first + len(lengths) - len(plain)
        which += range(first, total)
        crisp = np.append(crisp, np.arange(first, total))
        rest = [distinct[place] for place in others.tolist()]
        programs = Programs.of([each for each, _ in rest], [numbers for _, numbers in rest])
        graded = Grades.of([one for one in grades if one is not None])
        conjunctions = offsets_of(lengths), np.concatenate(plus), np.concatenate(minus)
        segment, order = _arranged(slots, conjunctions, programs, graded)
        places = np.empty(total, np.int32)
        places[np.append(crisp, others)[order]] = np.arange(total)
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
            of_crisp = named[named < segment.crisp.size]
            members, offsets = picked(offsets, of_crisp)
            plus, minus = plus[members], minus[members]
            rest = named[named >= segment.crisp.size]
            taken = segment.programs.taken(rest - segment.crisp.size)
            is_used = np.zeros(segment.slots.size, np.bool_)
            for used in (plus, minus, taken.plus, taken.minus):
                is_used[used] = True
            new = slots.numbers(segment.slots, is_used)
            crisp.append((offsets, new[plus], new[minus]))
            programs.append(taken._replace(plus=new[taken.plus], minus=new[taken.minus]))
            grades.append((segment.grades, taken.grades))
            kept.append((of_crisp + before, rest + before))
            before += segment.count
        all_crisp = (
            joined([offsets for offsets, _, _ in crisp]),
            np.concatenate([plus for _, plus, _ in crisp]),
            np.concatenate([minus for _, _, minus in crisp]),
        )
        graded, numbers = Grades.joined(grades)
        all_programs = Programs.joined(programs)._replace(grades=numbers)
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
    programs = programs._replace(plus=final[programs.plus], minus=final[programs.minus])
    first = np.flatnonzero(programs.is_conjunction)
    chosen = programs.taken(first)
    literals = chosen.literal_offsets, chosen.plus, chosen.minus
    graded, among = Conjunctions.arranged(*literals, begin)
    program_order = np.append(first[among], np.flatnonzero(~programs.is_conjunction))
    segment = Segment(slots, conjunctions, graded, programs.taken(program_order), grades)
    return segment, np.append(order, program_order + conjunctions.size).astype(np.int32)


FULL = 16_384
"""Conditions of a full segment: what its masks point into stays in a core's own cache."""
FAN = 4
"""So many segments of about one size are merged into one."""
REST = FAN - 2
"""Blocks after a merge without another: each block brings one segment at most, and a merge takes
`FAN - 1` away."""


@dataclass(slots=True)
class Held:
    """A segment, and the first subscription of each condition; nobody is left where it is -1."""

    segment: Segment
    heads: Ints
    live: int


@dataclass(slots=True)
class Shelf:
    """Segments by number, and the place of every subscription's condition."""

    held: dict[int, Held] = field(default_factory=dict)
    sharers: Sharers = field(default_factory=Sharers)
    segment_of: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))
    condition_of: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))
    next: int = 0
    unconditional: int = NOBODY
    """The head of those who have no condition; they have no segment."""
    resting: int = 0
    """Blocks until segments may be merged again."""

    def __iter__(self) -> Iterator[Held]:
        return iter(self.held.values())

    def put(self, segment: Segment, numbers: Ints, places: Ints) -> None:
        """Adds a segment, given subscriptions and each one's condition in it."""
        self.reserve(int(numbers.max()) + 1)
        heads = np.full(segment.count, NOBODY, np.int32)
        self.sharers.put_all(numbers, places, heads)
        self._hold(segment, heads)

    def put_unconditional(self, numbers: Ints) -> None:
        """Adds subscriptions without a condition."""
        self.reserve(int(numbers.max()) + 1)
        head = np.array([self.unconditional], np.int32)
        self.sharers.put_all(numbers, np.zeros_like(numbers), head)
        self.unconditional = int(head[0])
        self.segment_of[numbers] = NOBODY

    def join(self, number: int, sharer: int) -> None:
        """Lets a subscription share another one's condition."""
        where, condition = self._home(sharer)
        if where == NOBODY:
            self.put_unconditional(np.array([number], np.int32))
            return
        self.reserve(number + 1)
        held = self.held[where]
        held.heads[condition] = self.sharers.put(number, int(held.heads[condition]))
        self.segment_of[number], self.condition_of[number] = where, condition

    def drop(self, number: int) -> int:
        """Takes a subscription away; the answer is one that shares its condition, or nobody."""
        where, condition = self._home(number)
        if where == NOBODY:
            self.unconditional = self.sharers.drop(number, self.unconditional)
            return self.unconditional
        held = self.held[where]
        held.heads[condition] = self.sharers.drop(number, int(held.heads[condition]))
        if held.heads[condition] == NOBODY:
            held.live -= 1
            if held.live == 0:
                del self.held[where]
        return int(held.heads[condition])

    def tidy(self) -> None:
        """Before a block: merges a few segments, if there are too many small ones; never more than
        fill one, and not before every block, so that nobody waits for several merges."""
        if self.resting:
            self.resting -= 1
            return
        for size in (FULL // FAN**2, FULL // FAN, FULL):
            small = [where for where, held in self.held.items() if held.live <= size // FAN]
            if len(small) >= FAN:
                self._merge(small[:FAN])
                return
        for where, held in self.held.items():
            if 2 * held.live < held.segment.count:
                self._merge([where])
                return

    def _merge(self, some: list[int]) -> None:
        self.resting = REST
        old = [self.held.pop(where) for where in some]
        named = [
            (held.segment, np.flatnonzero(held.heads != NOBODY).astype(np.int32)) for held in old
        ]
        segment, origin = Segment.merged(named)
        self._hold(segment, np.concatenate([held.heads for held in old])[origin])

    def _hold(self, segment: Segment, heads: Ints) -> None:
        """All conditions have somebody."""
        self.held[self.next] = Held(segment, heads, heads.size)
        settle(heads, self.sharers.following, self.next, self.segment_of, self.condition_of)
        self.next += 1

    def _home(self, number: int) -> tuple[int, int]:
        return int(self.segment_of[number]), int(self.condition_of[number])

    def reserve(self, count: int) -> None:
        """Makes room for subscriptions with numbers below this count."""
        self.sharers.reserve(count)
        self.segment_of = with_length(self.segment_of, count, NOBODY)
        self.condition_of = with_length(self.condition_of, count, NOBODY)
