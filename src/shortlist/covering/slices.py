"""Who covers whom of very many rows: found in slices, each apart from the others, and joined."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.kernels.containment import (
    Covering,
    Places,
    covering_of_pairs,
    covering_of_rows,
    longest_depths,
)

Rows = NDArray[np.int32]
"""In lexicographic order."""


class CoveringOrder(NamedTuple):
    """Rows as nodes, each after those that cover it. Parents cover it directly."""

    nodes: NDArray[np.int64]
    """At which node each of those stands whose order it is."""
    starts: NDArray[np.int64]
    """Where the parents of each node start, and at last where they end."""
    parents: Places
    ancestors: Places
    """How many nodes cover each."""
    depths: Places
    """The longest chain that ends in each; 1 where nothing covers it."""

    def edges(self) -> list[tuple[int, int]]:
        """From each parent to its child, the children in order."""
        children = np.repeat(np.arange(self.ancestors.size), np.diff(self.starts))
        return list(zip(self.parents.tolist(), children.tolist(), strict=True))


FindCovering = Callable[[Rows], CoveringOrder]


def covering_order(rows: Rows) -> CoveringOrder:
    """Found in this process, all at once.

    >>> covering_order(np.array([[0], [0], [1]], np.int32)).ancestors.tolist()
    [0, 1, 2]
    """
    sliced = Sliced.of(rows)
    return joined([sliced.covering(0, len(rows))])


class Sliced(NamedTuple):
    """Rows from which the covering of any slice can be found; one or two numbers wide, as places
    (`covering_of_pairs`)."""

    content: Rows
    is_places: bool

    @classmethod
    def of(cls, rows: Rows) -> "Sliced":
        if rows.shape[1] > 2:
            return cls(np.ascontiguousarray(rows), False)
        return cls(_places(rows), True)

    def covering(self, first: int, last: int) -> Covering:
        """Of the rows from the first to before the last."""
        if self.is_places:
            return covering_of_pairs(self.content, first, last)
        return covering_of_rows(self.content, first, last)

    def cuts(self, count: int) -> list[tuple[int, int]]:
        """So many slices that take about as long: where all before are looked at, the later are the
        shorter.

        >>> Sliced(np.zeros((100, 3), np.int32), False).cuts(4)
        [(0, 50), (50, 71), (71, 87), (87, 100)]
        """
        shares = np.linspace(0.0, 1.0, count + 1)
        if not self.is_places:
            shares = np.sqrt(shares)
        ends = np.rint(shares * len(self.content)).astype(int).tolist()
        return [(first, last) for first, last in pairwise(ends) if last > first]


def joined(slices: Sequence[Covering]) -> CoveringOrder:
    """Slices in their order, all of them."""
    ends = np.cumsum([0, *(parents.size for _, parents, _ in slices)])
    starts = [part[0][:-1] + end for part, end in zip(slices, ends, strict=False)]
    all_starts = np.concatenate([*starts, ends[-1:]]).astype(np.int64)
    parents = np.concatenate([parents for _, parents, _ in slices])
    ancestors = np.concatenate([ancestors for *_, ancestors in slices])
    depths, nodes = longest_depths(all_starts, parents), np.arange(ancestors.size)
    return CoveringOrder(nodes, all_starts, parents, ancestors, depths)


def _places(rows: Rows) -> Places:
    """Each row's place by its second number, if any, from the largest; of equals the last first."""
    second = rows[:, 1:].sum(axis=1)
    places = np.empty(len(rows), np.int32)
    places[np.argsort(second, kind="stable")[::-1]] = np.arange(len(rows))
    return places
