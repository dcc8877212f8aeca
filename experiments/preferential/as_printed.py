"""Algorithm 1 as the paper prints it, and Definition 6 to judge decisions by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from experiments.preferential.workload import Event


class Misjudged(NamedTuple):
    """Decisions against Definition 6, in the light of what the subscriber did receive."""

    withheld: int
    """It was among the top k, and did not come."""
    forwarded: int
    """It came, though k that are better had come and are still valid."""


def algorithm_1(
    matched: Sequence[Event], ends: Sequence[int], k: int, equal_enters: bool = False
) -> list[int]:
    """The places of those that Algorithm 1 forwards, of all that matched.

    `ends` has by place when each publication expires. Line 21 forwards what is better than the
    worst in the list; with `equal_enters` also what is equal to it, as the text has it.

    >>> matched = [Event(0, 0.9), Event(1, 0.8), Event(2, 0.9), Event(3, 0.7)]
    >>> algorithm_1(matched, [3, 9, 9, 9], k=2)
    [0, 1, 2, 3]
    >>> algorithm_1([Event(0, 0.5), Event(1, 0.5)], [9, 9], k=1)
    [0]
    >>> algorithm_1([Event(0, 0.5), Event(1, 0.5)], [9, 9], k=1, equal_enters=True)
    [0, 1]
    """
    forwarded = []
    best: list[tuple[float, int]] = []
    for place, score in matched:
        best = [each for each in best if each[1] > place]
        if len(best) == k:
            worst = min(best)
            if score < worst[0] or (score == worst[0] and not equal_enters):
                continue
            best.remove(worst)
        best.append((score, ends[place]))
        forwarded.append(place)
    return forwarded


def misjudged(
    matched: Sequence[Event], ends: Sequence[int], k: int, delivered: Collection[int]
) -> Misjudged:
    """How many decisions Definition 6 would not have made, given those before.

    The last one of the first example above comes although the two before it are better and valid:

    >>> matched = [Event(0, 0.9), Event(1, 0.8), Event(2, 0.9), Event(3, 0.7)]
    >>> misjudged(matched, [3, 9, 9, 9], 2, [0, 1, 2, 3])
    Misjudged(withheld=0, forwarded=1)
    >>> misjudged(matched, [3, 9, 9, 9], 2, [0, 2])
    Misjudged(withheld=2, forwarded=0)
    """
    received: list[tuple[float, int]] = []
    came = {*delivered}
    withheld = forwarded = 0
    for place, score in matched:
        received = [each for each in received if each[1] > place]
        belongs = sum(each[0] > score for each in received) < k
        withheld += belongs and place not in came
        forwarded += not belongs and place in came
        if place in came:
            received.append((score, ends[place]))
    return Misjudged(withheld, forwarded)
