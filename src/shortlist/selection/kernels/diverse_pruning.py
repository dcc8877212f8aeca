"""What can still be chosen from diverse windows: the rest is let go, as docs/diverse.md proves.

A row is hopeless while there is one that does not differ from it and is always worth more, or k
such that differ from it and from each other. They must leave no earlier, and name its own
subscription, whose cancellation takes them and the row together.
"""

from typing import Any

import numpy as np

from shortlist.matching.arrays import Bools
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.differences import RELATIVE_ROUNDING, ROUNDING
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.diverse_rows import put_in_order
from shortlist.selection.kernels.points import Points, distance
from shortlist.selection.kernels.skyband import packed

LEAST = 16
"""So few rows are not worth looking into, and so few are always looked at."""


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
    rivals, weight = rows[head.start : head.start + head.length], head.weight
    stays = (rivals["end"] > now) & (rivals["push"] > head.matches)
    _drop_those_with_better_alike(rivals, head.chosen, weight, points, stays)
    if head.k < head.length:
        most = head.chosen + compared
        _drop_those_with_k_better(rivals, head.chosen, most, weight, head.k, points, stays)
    head.length = head.ranked = head.pruned = packed(rows, head.start, stays)


@kernel
def _drop_those_with_better_alike(
    rows: Records, chosen: int, weight: float, points: Points, stays: Bools
) -> None:
    """The chosen differ from each other and stay."""
    alike, size, last_class = np.empty(stays.size, np.int64), 0, -1
    classes = points.classes[rows["publication"]]
    for at in np.argsort(classes, kind="mergesort"):  # alike ones together, the best first
        if classes[at] != last_class:
            last_class, size = classes[at], 0
        if at >= chosen and stays[at]:
            for better in alike[:size]:
                one, other = rows[better], rows[at]
                if _leaves_no_earlier(one, other) and _beats_alike(one, other, weight):
                    stays[at] = False
                    break
        if stays[at]:
            alike[size] = at
            size += 1


@kernel
def _drop_those_with_k_better(
    rows: Records, chosen: int, most: int, weight: float, k: int, points: Points, stays: Bools
) -> None:
    """Looks at the chosen and at the best of the others; one alike may count: it alone suffices."""
    found_classes = np.empty(k, np.int32)
    for at in range(chosen, stays.size):
        found = 0
        if not stays[at]:
            continue
        for better in range(min(at, most)):
            one, other = rows[better], rows[at]
            if (
                _leaves_no_earlier(one, other)
                and points.classes[one.publication] not in found_classes[:found]
                and _beats(one, other, weight, points)
            ):
                found_classes[found] = points.classes[one.publication]
                found += 1
                if found == k:
                    stays[at] = False
                    break


@kernel
def _leaves_no_earlier(one: Any, other: Any) -> bool:
    """Neither by time, nor by matches, nor by a cancellation."""
    return bool(
        one.end >= other.end and one.push >= other.push and one.subscription == other.subscription
    )


@kernel
def _beats(one: Any, other: Any, weight: float, points: Points) -> bool:
    """Whether one is worth more than another that differs, whenever both can be chosen."""
    if weight == 0.0:
        return _beats_alike(one, other, weight)
    if not _is_ahead(one, other, weight, 0.0):
        return False
    if _is_ahead(one, other, weight, weight):
        return True
    apart = distance(points, one.publication, other.publication)
    return _is_ahead(one, other, weight, weight * apart)


@kernel
def _beats_alike(one: Any, other: Any, weight: float) -> bool:
    """Whether one is worth more than another for which the chosen always are equally far away."""
    if one.publication > other.publication:
        return bool((1.0 - weight) * one.key >= (1.0 - weight) * other.key)
    return _is_ahead(one, other, weight, 0.0)


@kernel
def _is_ahead(one: Any, other: Any, weight: float, distances: float) -> bool:
    """Whether scores make up for so much in distances, however values are rounded."""
    share, other_share = (1.0 - weight) * one.key, (1.0 - weight) * other.key
    margin = ROUNDING + RELATIVE_ROUNDING * (abs(share) + abs(other_share))
    return bool(share - other_share > distances + margin)
