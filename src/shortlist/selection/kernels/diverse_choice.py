"""The greedy choice of a place: whether an arrival changes it, and from which step on."""

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.diverse_rows import bring_forward, put_in_order, value_of
from shortlist.selection.kernels.points import Points, distance
from shortlist.selection.kernels.window_rows import is_there

NO_STEP = 2**31 - 1
NOTHING = -1
OUT = -1
"""In place of a count: cannot be chosen any more."""


@kernel
def step_won(
    heads: Records,
    rows: Records,
    place: int,
    score: float,
    publication: int,
    before: int,
    points: Points,
) -> int:
    """The first step before a given one at which an arrival beats the chosen, or `NO_STEP`.

    It needs not beat anybody at a step at which nobody could be chosen.
    """
    head, nearest = heads[place], 1.0
    for step in range(before):
        chosen = rows[head.start + step]
        value = value_of(head.weight, score, nearest)
        if value > chosen.value or (value == chosen.value and publication > chosen.publication):
            return step
        if points.classes[publication] == points.classes[chosen.publication]:
            return NO_STEP
        nearest = min(nearest, distance(points, publication, chosen.publication))
    return before if before < head.k else NO_STEP


@kernel
def choose_from(
    heads: Records, rows: Records, place: int, step: int, now: int, points: Points
) -> None:
    """Keeps what was chosen before a step, and chooses from there on anew."""
    put_in_order(heads, rows, place, step)
    head = heads[place]
    first, options = head.start + step, head.length - step
    nearest, compared = np.ones(options), np.zeros(options, np.int32)
    chosen = np.empty(min(head.k, head.length), np.int64)
    chosen[:step] = rows[head.start : head.start + step]["publication"]
    picked, picks = np.empty(chosen.size - step, np.int64), 0
    while picks < picked.size:
        best = _best(heads, rows, place, now, chosen[: step + picks], nearest, compared, points)
        if best == NOTHING:
            break
        rows[best].value = value_of(head.weight, rows[best].key, nearest[best - first])
        chosen[step + picks] = rows[best].publication
        compared[best - first] = OUT
        picked[picks] = best
        picks += 1
    bring_forward(heads, rows, place, picked[:picks])


@kernel
def _best(
    heads: Records,
    rows: Records,
    place: int,
    now: int,
    chosen: Longs,
    nearest: Floats,
    compared: Ints,
    points: Points,
) -> int:
    """The ranked row that is to be chosen next, or `NOTHING`.

    `nearest` and `compared` say how far the nearest of how many of the chosen was found to be: the
    more are compared, the less a row is worth, so that most need not be compared with all.
    """
    head = heads[place]
    first = head.start + head.chosen
    best, best_value = NOTHING, -np.inf
    for row in range(first, head.start + head.length):
        held, at = rows[row], row - first
        if value_of(head.weight, held.key, 1.0) < best_value:
            break
        if compared[at] == OUT or value_of(head.weight, held.key, nearest[at]) < best_value:
            continue
        if not is_there(rows, row, now, head.matches):
            compared[at] = OUT
            continue
        _compare(held.publication, chosen, at, nearest, compared, points)
        if compared[at] == OUT:
            continue
        value = value_of(head.weight, held.key, nearest[at])
        if value > best_value or (
            value == best_value and held.publication > rows[best].publication
        ):
            best, best_value = row, value
    return best


@kernel
def _compare(
    publication: int, chosen: Longs, at: int, nearest: Floats, compared: Ints, points: Points
) -> None:
    """Compares a row with those of the chosen that it was not compared with yet."""
    for other in chosen[compared[at] :]:
        if points.classes[other] == points.classes[publication]:
            compared[at] = OUT
            return
        nearest[at] = min(nearest[at], distance(points, publication, other))
    compared[at] = chosen.size
