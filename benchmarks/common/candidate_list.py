"""The baseline of a textbook: for each window, in ranked order, all that may still enter.

Each arrival is put where it belongs. It counts at all below it, and what k newer ones have been
put above is let go. All publications are looked at, and all candidates with each of them.

Compiled anew in each process: numba's cache would mix up the names by which scripts and tests know
this module.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shortlist.matching.blocks import Bools, Longs
from shortlist.matching.kernels.rounding import round9
from shortlist.selection.kernels.arena import Records

from .streams import Points

CANDIDATE = np.dtype(
    [
        ("score", "f8"),
        ("end", "i8"),
        ("publication", "i8"),
        ("newer_above", "i4"),
        ("is_delivered", "?"),
    ]
)
NEVER = 2**62


@njit(cache=False)
def placed_one_by_one(
    points: Points, times: Longs, centre: NDArray[np.float64], span: int, k: int
) -> tuple[Longs, Bools]:
    """The publications that enter one window, in that order, and which of them were promoted."""
    placed, promoted = np.empty(times.size, np.int64), np.empty(times.size, np.bool_)
    made, held = 0, np.empty(64, CANDIDATE)
    length = 0
    for publication in range(times.size):
        now = times[publication]
        while _next_end(held, min(k, length)) < now:
            length = _without_gone(held, length, _next_end(held, min(k, length)))
            made = _fill(held, min(k, length), -1, placed, promoted, made)
        if length == held.size:
            held = np.append(held, held)
        score = round9(-_distance(points[publication], centre))
        length = _with(held, length, score, publication, now, span, k)
        made = _fill(held, min(k, length), publication, placed, promoted, made)
    while length > 0:
        length = _without_gone(held, length, _next_end(held, min(k, length)))
        made = _fill(held, min(k, length), -1, placed, promoted, made)
    return placed[:made], promoted[:made]


@njit(cache=False)
def _distance(point: NDArray[np.float64], centre: NDArray[np.float64]) -> float:
    squares = 0.0
    for axis in range(centre.size):
        offset = abs(point[axis] - centre[axis])
        squares += offset * offset
    return math.sqrt(squares)


@njit(cache=False)
def _next_end(held: Records, best: int) -> int:
    end = NEVER
    for at in range(best):
        end = min(end, held[at].end)
    return end


@njit(cache=False)
def _without_gone(held: Records, length: int, now: int) -> int:
    kept = 0
    for at in range(length):
        if held[at].end > now:
            if kept < at:
                held[kept] = held[at]
            kept += 1
    return kept


@njit(cache=False)
def _with(
    held: Records, length: int, score: float, publication: int, now: int, span: int, k: int
) -> int:
    """Puts an arrival among the candidates; what has left goes."""
    length = _without_gone(held, length, now)
    above = 0
    while above < length and held[above].score > score:
        above += 1
    kept = above
    for at in range(above, length):
        held[at].newer_above += 1
        if held[at].newer_above < k:
            if kept < at:
                held[kept] = held[at]
            kept += 1
    for at in range(kept, above, -1):
        held[at] = held[at - 1]
    new = held[above]
    new.score, new.end, new.publication = score, now + span, publication
    new.newer_above, new.is_delivered = 0, False
    return kept + 1


@njit(cache=False)
def _fill(held: Records, best: int, arrival: int, placed: Longs, promoted: Bools, made: int) -> int:
    """Delivers those of the best that never were; the answer is how many there are so far."""
    for at in range(best):
        if not held[at].is_delivered:
            held[at].is_delivered = True
            placed[made], promoted[made] = held[at].publication, held[at].publication != arrival
            made += 1
    return made
