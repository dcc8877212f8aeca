"""Conjunctions as arrays, in groups that one mask lets pass or not."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Bools, Ints
from shortlist.matching.index.runs import offsets_of, picked

BY_ANYTHING = 1
"""The slot that a group begins with where no better one is there: it lets everything pass."""


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Groups begin with the same slot; what else each conjunction asks follows."""

    group_slots: Ints
    group_starts: Ints
    offsets: Ints
    plus: Ints
    minus: Ints

    @property
    def count(self) -> int:
        return self.offsets.size - 1

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
