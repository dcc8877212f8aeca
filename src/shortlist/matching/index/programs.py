"""Conditions that are more than a crisp conjunction, as arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Bools, Floats, Ints
from shortlist.matching.index.conditions import Condition
from shortlist.matching.index.literals import Grade
from shortlist.matching.index.runs import joined, offsets_of, picked
from shortlist.matching.index.slots import Slot
from shortlist.model.rounding import added


@dataclass(frozen=True, slots=True)
class Programs:
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
    def count(self) -> int:
        return self.norms.size

    @property
    def depth(self) -> int:
        """No program stacks more results than it has literals."""
        return int(np.diff(self.literal_offsets).max(initial=1))

    @classmethod
    def of(
        cls,
        conditions: Sequence[Condition],
        number: Callable[[Slot], int],
        grade: Callable[[Grade | None], int],
    ) -> "Programs":
        """The programs of conditions, given what numbers slots and grades."""
        literals = [literal for each in conditions for literal in each.literals]
        offsets = offsets_of([len(each.literals) for each in conditions])
        code = [
            step + first if step >= 0 else step
            for each, first in zip(conditions, offsets.tolist(), strict=False)
            for step in each.code
        ]
        return cls(
            literal_offsets=offsets,
            plus=np.array([number(literal.plus) for literal in literals], np.int32),
            minus=np.array([number(literal.minus) for literal in literals], np.int32),
            grades=np.array([grade(literal.grade) for literal in literals], np.int32),
            weights=np.array([*chain.from_iterable(map(_weights, conditions))], np.float64),
            code_offsets=offsets_of([len(each.code) for each in conditions]),
            code=np.array(code, np.int32),
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


def _weights(condition: Condition) -> Sequence[float]:
    weights = condition.weights or (0.0,) * len(condition.literals)
    if not isfinite(added(weights)):
        return [weight / max(weights) for weight in weights]
    return weights
