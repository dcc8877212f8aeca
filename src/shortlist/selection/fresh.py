"""The policy `fresh`: the k best of a sliding window by scores that halve with each half-life."""

import math

from shortlist.model.policy import Fresh
from shortlist.model.rounding import rounded
from shortlist.scoring.candidates import Candidate
from shortlist.selection.window import Held, WindowSelector

MOST = 10**300


def half_life_of(policy: Fresh) -> float:
    """In microseconds; one that doubles cannot hold is as good as endless."""
    return float(min(policy.half_life, MOST))


class FreshSelector(WindowSelector):
    """Since all scores decay alike, the order of two publications never changes."""

    def __init__(self, policy: Fresh, shortlist: str) -> None:
        self._half_life = half_life_of(policy)
        super().__init__(policy, shortlist)

    def _objection(self, candidate: Candidate) -> str | None:
        return None if candidate.score > 0.0 else "its score is not above 0"

    def _best_first(self, held: Held) -> tuple[float, int, int]:
        publication = held.candidate.publication
        lasting = math.log2(held.candidate.score) + publication.time / self._half_life
        return -lasting, -publication.time, -publication.position

    def _worth(self, candidate: Candidate, now: int) -> float:
        age = now - candidate.publication.time
        return rounded(candidate.score * 2.0 ** (-age / self._half_life))
