"""From the scores of a publication's matching subscriptions to its one score for a shortlist."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from shortlist.model.rounding import rounded
from shortlist.model.shortlist import Combine


class ScoredMatch(NamedTuple):
    """One matching subscription's say."""

    subscription: str
    score: float
    possibility: float
    necessity: float
    weight: float = 1.0


Covers = Callable[[str, str], bool]
"""Whether the first subscription covers the second."""


def combined(
    how: Combine, matches: Sequence[ScoredMatch], covers: Covers
) -> tuple[float, ScoredMatch]:
    """The score, and the match that the delivery will name; `matches` are in order of id.

    >>> two = [ScoredMatch("a", 0.9, 1.0, 1.0), ScoredMatch("b", 0.5, 1.0, 1.0, weight=3.0)]
    >>> never = lambda a, b: False
    >>> combined("mean", two, never)[0], combined("min", two, never)[1].subscription
    (0.6, 'b')
    """
    counted = _most_specific(matches, covers) if how == "most_specific" else matches
    if how == "min":
        named = min(counted, key=lambda match: (match.score, match.subscription))
    else:
        named = min(counted, key=lambda match: (-match.score, match.subscription))
    if how in ("mean", "sum"):
        total = sum(match.weight * match.score for match in counted)
        weight = sum(match.weight for match in counted) if how == "mean" else 1.0
        return rounded(total / weight), named
    return named.score, named


def _most_specific(matches: Sequence[ScoredMatch], covers: Covers) -> list[ScoredMatch]:
    """Those that cover no other one; equal subscriptions do not exclude each other."""

    def excluded(general: str) -> bool:
        others = (match.subscription for match in matches if match.subscription != general)
        return any(covers(general, other) and not covers(other, general) for other in others)

    return [match for match in matches if not excluded(match.subscription)]
