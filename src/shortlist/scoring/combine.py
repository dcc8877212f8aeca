"""From the scores of a publication's matching subscriptions to its one score for a shortlist."""

from collections.abc import Sequence
from typing import NamedTuple

from shortlist.model.rounding import added, rounded
from shortlist.model.shortlist import Combine


class ScoredMatch(NamedTuple):
    """One matching subscription's say."""

    subscription: str
    score: float
    possibility: float
    necessity: float
    weight: float = 1.0
    refresh: int | None = None


def combined(how: Combine, counted: Sequence[ScoredMatch]) -> tuple[float, ScoredMatch]:
    """The score, and the match that the delivery will name; those that count are in order of id.

    >>> two = [ScoredMatch("a", 0.9, 1.0, 1.0), ScoredMatch("b", 0.5, 1.0, 1.0, weight=3.0)]
    >>> combined("mean", two)[0], combined("min", two)[1].subscription
    (0.6, 'b')
    """
    if how == "min":
        named = min(counted, key=lambda match: (match.score, match.subscription))
    else:
        named = min(counted, key=lambda match: (-match.score, match.subscription))
    if how in ("mean", "sum"):
        total = added(match.weight * match.score for match in counted)
        weight = added(match.weight for match in counted) if how == "mean" else 1.0
        return rounded(total / weight), named
    return named.score, named
