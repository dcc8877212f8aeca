"""The policy `top-k`: an arrival must be among the k best delivered and still valid ones."""

import heapq
import math
from itertools import count
from typing import Any, NamedTuple

from sortedcontainers import SortedKeyList

from shortlist.model.policy import TopK
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import (
    Outcome,
    Placement,
    Selector,
    Shown,
    Standing,
    outranked,
    placed_at_once,
    undominated,
)


class _Kept(NamedTuple):
    """A delivered publication, and when it stops being valid."""

    publication: Publication
    score: float
    end: int | None

    @property
    def standing(self) -> Standing:
        return Standing(self.publication.source, self.publication.id, self.score)


def _best_first(kept: _Kept) -> float:
    return -kept.score


def _last(kept: _Kept) -> float:
    return math.inf if kept.end is None else kept.end


class PreferentialSelector(Selector):
    """Counts, for each arrival, the delivered and still valid publications with a higher score."""

    def __init__(self, policy: TopK, shortlist: str) -> None:
        self._policy = policy
        self._valid: SortedKeyList = SortedKeyList(key=_best_first)
        self._ending: list[tuple[int, int, _Kept]] = []
        self._entries = count()

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        self._expire(now)
        rank = 1 + self._valid.bisect_key_left(-candidate.score)
        if rank > self._policy.k:
            return Outcome([], outranked(self._policy.k, "still valid"))
        self._keep(_Kept(candidate.publication, candidate.score, self._end(candidate, now)))
        return Outcome([placed_at_once(candidate, now, rank)])

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        self._expire(time)
        counting = undominated(
            self._ranked(), self._policy.k, lambda better, kept: _last(better) >= _last(kept)
        )
        self._valid.clear()
        self._ending.clear()
        for kept in reversed(counting):
            if kept.standing[:2] != (source, publication):
                self._keep(kept)
        return []

    def change(self, policy: TopK, time: int) -> list[Placement]:
        self._policy = policy
        return []

    def above(self, candidate: Candidate) -> list[Standing]:
        better = [kept for kept in self._ranked() if kept.score > candidate.score]
        return [kept.standing for kept in better[: self._policy.k]]

    def shown(self, now: int) -> list[Shown]:
        valid = [kept for kept in self._ranked() if kept.end is None or kept.end > now]
        scores = [kept.score for kept in valid]
        return [
            Shown(
                publication=kept.publication,
                subscription=None,
                score=kept.score,
                possibility=None,
                necessity=None,
                rank=1 + scores.index(kept.score),
                until=kept.end,
            )
            for kept in valid[: self._policy.k]
        ]

    def state(self) -> Any:
        return [[*kept] for kept in self._valid]

    def restore(self, state: Any) -> None:
        for kept in state:
            self._keep(_Kept(*kept))

    def _ranked(self) -> list[_Kept]:
        """Of equal scores what is valid longest stands first, then what came last.

        So the bank, which keeps no more than can still count, has the same first k.
        """
        most_recent_first = [*reversed(self._valid)]
        return sorted(most_recent_first, key=lambda kept: (_best_first(kept), -_last(kept)))

    def _end(self, candidate: Candidate, time: int) -> int | None:
        policy = self._policy
        ends = [candidate.publication.expiry]
        own = candidate.named.refresh
        refresh = policy.refresh if own is None else own
        if refresh is not None:
            ends.append(time + refresh)
        if policy.period is not None:
            ends.append((time // policy.period + 1) * policy.period)
        return min((end for end in ends if end is not None), default=None)

    def _keep(self, kept: _Kept) -> None:
        self._valid.add(kept)
        if kept.end is not None:
            heapq.heappush(self._ending, (kept.end, next(self._entries), kept))

    def _expire(self, now: int) -> None:
        while self._ending and self._ending[0][0] <= now:
            self._valid.remove(heapq.heappop(self._ending)[2])
