"""What can still be chosen from diverse windows: the rest is let go, as docs/diverse.md proves.

A row is hopeless while there is one that does not differ from it and is always worth more, or k
such that differ from it and from each other. They must leave no earlier, and name its own
subscription, whose cancellation takes them and the row together.
"""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Bools, Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.differences import RELATIVE_ROUNDING, ROUNDING
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.diverse_rows import put_in_order
from shortlist.selection.kernels.points import Points, distance
from shortlist.selection.kernels.skyband import packed
from shortlist.selection.kernels.window_rows import is_there

LEAST = 16
"""So few rows are not worth looking into, and so few are always looked at."""


class Rivals(NamedTuple):
    """The rows of a place as columns, the chosen first."""

    shares: Floats
    """Of the values, by the scores alone."""
    ends: Longs
    pushes: Longs
    publications: Longs
    subscriptions: Ints
    classes: Ints


@kernel
def prune_if_grown(heads: Records, rows: Records, place: int, now: int, points: Points) -> None:
    """Lets hopeless rows go where there are twice as many rows as the last pruning left."""
    head = heads[place]
    if head.length >= 2 * head.pruned + LEAST:
        # the best beat most of what can be
        compared = head.k + LEAST + int(np.sqrt(head.length))
        prune(heads, rows, place, now, points, compared)


@kernel
def prune(
    heads: Records, rows: Records, place: int, now: int, points: Points, compared: int
) -> None:
    """Lets rows go that are found to be hopeless: all that are, if all are compared.

    Each row is compared with all that are alike, with the chosen, and with so many of the best.
    """
    head = heads[place]
    put_in_order(heads, rows, place, head.chosen)
    stays = np.zeros(head.length, np.bool_)
    for at in range(head.length):
        stays[at] = is_there(rows, head.start + at, now, head.matches)
    rivals = _rivals(rows[head.start : head.start + head.length], head.weight, points)
    _drop_those_with_better_alike(rivals, head.chosen, stays)
    if head.k < head.length:
        most = head.chosen + compared
        _drop_those_with_k_better(rivals, head.chosen, most, head.weight, head.k, points, stays)
    head.length = head.ranked = head.pruned = packed(rows, head.start, stays)


@kernel
def _rivals(rows: Records, weight: float, points: Points) -> Rivals:
    rivals = Rivals(
        np.empty(rows.size, np.float64),
        np.empty(rows.size, np.int64),
        np.empty(rows.size, np.int64),
        np.empty(rows.size, np.int64),
        np.empty(rows.size, np.int32),
        np.empty(rows.size, np.int32),
    )
    for at in range(rows.size):
        row = rows[at]
        rivals.shares[at] = (1.0 - weight) * row.key
        rivals.ends[at] = row.end
        rivals.pushes[at] = row.push
        rivals.publications[at] = row.publication
        rivals.subscriptions[at] = row.subscription
        rivals.classes[at] = points.classes[row.publication]
    return rivals


@kernel
def _drop_those_with_better_alike(rivals: Rivals, chosen: int, stays: Bools) -> None:
    """The chosen differ from each other and stay."""
    alike, size, last_class = np.empty(stays.size, np.int64), 0, -1
    for at in np.argsort(rivals.classes, kind="mergesort"):  # alike ones together, the best first
        if rivals.classes[at] != last_class:
            last_class, size = rivals.classes[at], 0
        if at >= chosen and stays[at]:
            for better in alike[:size]:
                if _leaves_no_earlier(rivals, better, at) and _beats_alike(rivals, better, at):
                    stays[at] = False
                    break
        if stays[at]:
            alike[size] = at
            size += 1


@kernel
def _drop_those_with_k_better(
    rivals: Rivals, chosen: int, most: int, weight: float, k: int, points: Points, stays: Bools
) -> None:
    """Looks at the chosen and at the best of the others; one alike may count: it alone suffices."""
    found_classes = np.empty(k, np.int32)
    for at in range(chosen, stays.size):
        found = 0
        if not stays[at]:
            continue
        for better in range(min(at, most)):
            if (
                _leaves_no_earlier(rivals, better, at)
                and rivals.classes[better] not in found_classes[:found]
                and _beats(rivals, better, at, weight, points)
            ):
                found_classes[found] = rivals.classes[better]
                found += 1
                if found == k:
                    stays[at] = False
                    break


@kernel
def _leaves_no_earlier(rivals: Rivals, one: int, other: int) -> bool:
    """Neither by time, nor by matches, nor by a cancellation."""
    return bool(
        rivals.ends[one] >= rivals.ends[other]
        and rivals.pushes[one] >= rivals.pushes[other]
        and rivals.subscriptions[one] == rivals.subscriptions[other]
    )


@kernel
def _beats(rivals: Rivals, one: int, other: int, weight: float, points: Points) -> bool:
    """Whether one is worth more than another that differs, whenever both can be chosen."""
    if weight == 0.0:
        return _beats_alike(rivals, one, other)
    if not _is_ahead(rivals, one, other, 0.0):
        return False
    if _is_ahead(rivals, one, other, weight):
        return True
    apart = distance(points, rivals.publications[one], rivals.publications[other])
    return _is_ahead(rivals, one, other, weight * apart)


@kernel
def _beats_alike(rivals: Rivals, one: int, other: int) -> bool:
    """Whether one is worth more than another for which the chosen always are equally far away."""
    if rivals.publications[one] > rivals.publications[other]:
        return bool(rivals.shares[one] >= rivals.shares[other])
    return _is_ahead(rivals, one, other, 0.0)


@kernel
def _is_ahead(rivals: Rivals, one: int, other: int, distances: float) -> bool:
    """Whether scores make up for so much in distances, however values are rounded."""
    share, other_share = rivals.shares[one], rivals.shares[other]
    margin = ROUNDING + RELATIVE_ROUNDING * (abs(share) + abs(other_share))
    return bool(share - other_share > distances + margin)
