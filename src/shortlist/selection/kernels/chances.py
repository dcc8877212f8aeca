"""How likely it is that a row ever comes among the k best; docs/windows.md has the derivation.

A clock is the time in a time window, and the number of matches in a count window.
"""

import numpy as np
from numba import njit

from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.largest import keep_largest
from shortlist.selection.kernels.skyband import packed, undominated
from shortlist.selection.kernels.window_rows import LASTING, Longs, push_of

JUDGEMENTS = 16
"""So often is each row judged while the window passes over it."""


@njit(cache=True)
def stride_of(heads: Records, place: int) -> int:
    """From one judgement to the next, on the clock."""
    head = heads[place]
    return max(1, (head.count if head.count > 0 else head.span) // JUDGEMENTS)


@njit(cache=True)
def at_most(seen: int, during: float, ahead: float, most: int) -> float:
    """The probability of at most so many events in the time ahead, after some were seen in a time.

    They come at a steady rate of which nothing else is known: a negative binomial distribution.

    >>> at_most(0, 1.0, 1.0, 0), at_most(0, 1.0, 1.0, 1), round(at_most(9, 1.0, 2.0, 8), 6)
    (0.5, 0.75, 0.021631)
    """
    share = ahead / (during + ahead)
    term = (1.0 - share) ** (seen + 1)
    total = term
    for events in range(most):
        term *= share * (seen + 1 + events) / (events + 1)
        total += term
    return total


@njit(cache=True)
def is_likely(
    ends: Longs, seen: int, during: float, now: int, end: int, allowed: float
) -> bool:
    """Whether a row enters with at least the allowed probability, by a bound from above.

    `ends` are the last k ends among better rows, ascending. When the j-th last of them has left,
    j - 1 are still there, and the row enters if at most k - j better ones have come until then.
    """
    k, chance = ends.size, 0.0
    for behind in range(k):
        if ends[behind] >= end:
            break
        chance += at_most(seen, during, float(max(0, ends[behind] - now)), behind)
        if chance >= allowed:
            return True
    return False


@njit(cache=True)
def judge(heads: Records, rows: Records, place: int, now: int) -> None:
    """Drops the rows that are not likely enough to come among the k best, at a point of the clock.

    What is dominated goes first, so that the outcome depends on nothing but the offers so far.
    """
    head = heads[place]
    counted, k, start = head.count > 0, head.k, head.start
    before = head.length
    instant, matches = (-(2**62), now) if counted else (now - 1, 0)
    length = undominated(rows, start, before, k, counted, instant, matches)
    window = head.count if counted else head.span
    stays = np.ones(length, np.bool_)
    lasting, lasting_size = np.empty(k, np.int64), 0
    ends, size = np.empty(k, np.int64), 0
    for at in range(length):
        row = start + at
        end = push_of(rows, row) if counted else rows[row].end
        lasts = (rows[row].marks & LASTING) != 0
        if at >= k and lasting_size == k:
            during = float(max(now - (lasting[0] - window), stride_of(heads, place)))
            stays[at] = is_likely(np.sort(ends), k, during, now, end, head.allowed)
        if lasts:
            lasting_size = keep_largest(lasting, lasting_size, end)
        if lasts or not counted:
            size = keep_largest(ends, size, end)
    head.length = packed(rows, start, stays)
    head.dropped += length - head.length
    head.pruned = head.length
    if head.length != before:
        head.touched = 1


@njit(cache=True)
def judge_until(heads: Records, rows: Records, place: int, now: int) -> None:
    """The judgements of a time window that are due at or before an instant."""
    head = heads[place]
    if head.allowed == 0.0 or head.count > 0:
        return
    while head.next_judgement <= now:
        if head.length <= head.k:
            stride = stride_of(heads, place)
            head.next_judgement = (now // stride + 1) * stride
        else:
            judge(heads, rows, place, head.next_judgement)
            head.next_judgement += stride_of(heads, place)
