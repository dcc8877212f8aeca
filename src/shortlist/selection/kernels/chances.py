"""How likely it is that a row ever comes among the k best; docs/windows.md has the derivation.

A clock is the time in a time window, and the number of matches in a count window.
"""

from typing import Any

import numpy as np

from shortlist.matching.arrays import Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.skyband import packed, undominated
from shortlist.selection.kernels.window_rows import LASTING, push_of

JUDGEMENTS = 16
"""So often is each row judged while the window passes over it."""


@kernel
def stride_of(heads: Records, place: int) -> int:
    """From one judgement to the next, on the clock."""
    head = heads[place]
    return int(max(1, (head.count if head.count > 0 else head.span) // JUDGEMENTS))


@kernel
def judge_after(heads: Records, places: Longs, times: Longs) -> None:
    """Some places are judged next behind an instant, each behind one of its own."""
    for place, time in zip(places, times):  # noqa: B905 (numba's zip is never strict)
        stride = stride_of(heads, place)
        heads[place].next_judgement = (time // stride + 1) * stride


@kernel
def at_most(seen: int, during: float, ahead: float, most: int) -> float:
    """The probability of at most so many events in the time ahead, after some were seen in a time.

    They come at a steady rate of which nothing else is known: a negative binomial distribution.

    >>> at_most(0, 1.0, 1.0, 0), at_most(0, 1.0, 1.0, 1), round(at_most(9, 1.0, 2.0, 8), 6)
    (0.5, 0.75, 0.043348)
    """
    share = ahead / (during + ahead)
    term = (1.0 - share) ** (seen + 1)
    total = term
    for events in range(most):
        term *= share * (seen + 1 + events) / (events + 1)
        total += term
    return total


@kernel
def is_likely(ends: Longs, seen: int, during: float, now: int, end: int, allowed: float) -> bool:
    """Whether what leaves at an end enters with at least a probability, by a bound from above.

    `ends` are the last k ends among better rows, ascending; `seen` better ones have come during
    the time so far. When the first of the k has left, it enters if no better one has come by then,
    when the second has left, if at most one has, and so on.
    """
    chance = 0.0
    for better in range(ends.size):
        if ends[better] >= end:
            break
        chance += at_most(seen, during, float(max(0, ends[better] - now)), better)
        if chance >= allowed:
            return True
    return False


@kernel
def _keep_last(ends: Longs, size: int, end: int) -> int:
    """Adds an end to the last ones so far, ascending; the answer is how many there are now."""
    at = size
    if size == ends.size:
        if end <= ends[0]:
            return size
        at = 0
        while at + 1 < size and ends[at + 1] < end:
            ends[at] = ends[at + 1]
            at += 1
    else:
        while at > 0 and ends[at - 1] > end:
            ends[at] = ends[at - 1]
            at -= 1
    ends[at] = end
    return min(size + 1, ends.size)


@kernel
def judge(heads: Records, rows: Records, place: int, now: int, instant: int) -> None:
    """Drops the rows that are not likely enough to come among the k best, at a point of the clock.

    What has left by an instant and what is dominated goes first, so that the outcome depends on
    nothing but the offers so far. The bar is set for what comes before the next judgement, not
    even the last of which may be likely to enter: where it was, if that is true there, or else at
    the best row behind which it is.
    """
    head = heads[place]
    counted, k, start = head.count > 0, head.k, head.start
    length = undominated(rows, start, head.length, k, counted, instant, head.matches)
    window, stride = head.count if counted else head.span, stride_of(heads, place)
    last_end = now + stride + window
    stays = np.ones(length, np.bool_)
    ends, size = np.empty(min(k, length), np.int64), 0
    lasting, lasting_size = np.empty(min(k, length), np.int64), 0
    old_bar, head.bar = head.bar, -np.inf
    new_bar, new_since, since = -np.inf, 0, 0
    for at in range(length):
        row = start + at
        if size == k and rows[row].key < old_bar:
            _keep_bar(head, old_bar, ends, now, last_end, window)
            old_bar = -np.inf
        end = push_of(rows, row) if counted else rows[row].end
        if at >= k and lasting_size == k:
            stays[at] = is_likely(ends, k, float(now - since), now, end, head.allowed)
        lasts = (rows[row].marks & LASTING) != 0
        if lasts:
            lasting_size = _keep_last(lasting, lasting_size, end)
        if lasts or not counted:
            size = _keep_last(ends, size, end)
        if lasting_size < k:
            continue
        since = min(lasting[0] - window, now - stride)
        if new_bar == -np.inf and not is_likely(
            ends, k, float(now - since), now, last_end, head.allowed
        ):
            new_bar, new_since = rows[row].key, since
    if size == k and old_bar > -np.inf:
        _keep_bar(head, old_bar, ends, now, last_end, window)
    if head.bar == -np.inf:
        head.bar, head.above_bar, head.seen_since = new_bar, k, new_since
    head.length = packed(rows, start, stays)
    head.dropped += length - head.length
    head.pruned = head.length


@kernel
def _keep_bar(head: Any, bar: float, ends: Longs, now: int, end: int, window: int) -> None:
    """Leaves the bar where it was, if what comes under it until now is not likely to enter.

    What was seen longer ago than two windows counts half.
    """
    during = now - head.seen_since
    if during > 2 * window:
        head.above_bar //= 2
        head.seen_since += during // 2
        during -= during // 2
    if not is_likely(ends, head.above_bar, float(during), now, end, head.allowed):
        head.bar = bar


@kernel
def judge_until(heads: Records, rows: Records, place: int, now: int) -> None:
    """The judgements of a time window that are due at or before an instant."""
    head = heads[place]
    if head.allowed == 0.0 or head.count > 0:
        return
    while head.next_judgement <= now:
        if head.length < head.k:  # all are among the k best
            head.bar = -np.inf
            stride = stride_of(heads, place)
            head.next_judgement = (now // stride + 1) * stride
        else:
            judge(heads, rows, place, head.next_judgement, head.next_judgement - 1)
            head.next_judgement += stride_of(heads, place)
