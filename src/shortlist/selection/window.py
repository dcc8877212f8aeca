"""The policy `window` (top-k/w): the k best of a sliding window, with later promotion."""

import heapq
from collections import deque
from itertools import count
from typing import Any

from sortedcontainers import SortedKeyList

from shortlist.model.delivery import Cause
from shortlist.model.policy import Span, Window
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Placement, Standing, outranked
from shortlist.selection.records import candidate_record, recorded_candidate


class _Held:
    """A publication in the window, or one that has left but still counts in a count window."""

    __slots__ = ("came", "candidate", "delivered", "inside")

    def __init__(self, candidate: Candidate, came: int) -> None:
        self.candidate = candidate
        self.came = came
        self.delivered = False
        self.inside = True


def _best_first(held: _Held) -> tuple[float, int, int]:
    publication = held.candidate.publication
    return -held.candidate.score, -publication.time, -publication.position


class WindowSelector:
    """Keeps the whole window ranked; at each instant delivers the k best that never were."""

    def __init__(self, policy: Window, shortlist: str) -> None:
        self._k = policy.k
        self._span = policy.window.micros if isinstance(policy.window, Span) else None
        self._count = policy.window if isinstance(policy.window, int) else None
        self._shortlist = shortlist
        self._ranked: SortedKeyList = SortedKeyList(key=_best_first)
        self._leaving: list[tuple[int, int, _Held]] = []
        self._recent: deque[_Held] = deque()
        self._entries = count()

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        placements = self.advance(now)
        self._leave_until(now)
        arrival = _Held(candidate, now)
        self._enter(arrival)
        placements += self._fill(now, arrival)
        refusal = None if arrival.delivered else outranked(self._k, "in the window")
        return Outcome(placements, refusal)

    def advance(self, before: int) -> list[Placement]:
        placements: list[Placement] = []
        while self._leaving and self._leaving[0][0] < before:
            now = self._leaving[0][0]
            self._leave_until(now)
            placements += self._fill(now)
        return placements

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        placements = self._settle(time)
        for held in [*self._ranked]:
            if held.candidate.named.subscription == subscription:
                self._leave(held)
        return placements + self._fill(time)

    def close(self, time: int) -> list[Placement]:
        return self._settle(time)

    def above(self, candidate: Candidate) -> list[Standing]:
        better = self._ranked[: min(self._k, self._ranked.bisect_left(_Held(candidate, 0)))]
        return [
            Standing(
                held.candidate.publication.source,
                held.candidate.publication.id,
                held.candidate.score,
            )
            for held in better
        ]

    def state(self) -> Any:
        kept = self._recent if self._count is not None else self._ranked
        return [
            [candidate_record(held.candidate), held.delivered, held.inside, held.came]
            for held in kept
        ]

    def restore(self, state: Any) -> None:
        for record, delivered, inside, *came in state:
            candidate = recorded_candidate(record, self._shortlist)
            # older states do not say: there a publication came when it appeared
            held = _Held(candidate, *(came or [candidate.publication.time]))
            held.delivered, held.inside = delivered, inside
            self._enter(held)

    def _settle(self, now: int) -> list[Placement]:
        """Departures due at or before an instant happen and are filled."""
        placements = self.advance(now)
        self._leave_until(now)
        return placements + self._fill(now)

    def _enter(self, held: _Held) -> None:
        if held.inside:
            self._ranked.add(held)
            publication = held.candidate.publication
            ends = [publication.expiry]
            if self._span is not None:
                ends.append(held.came + self._span)
            end = min((end for end in ends if end is not None), default=None)
            if end is not None:
                heapq.heappush(self._leaving, (end, next(self._entries), held))
        if self._count is not None:
            self._recent.append(held)
            if len(self._recent) > self._count:
                self._leave(self._recent.popleft())

    def _leave(self, held: _Held) -> None:
        if held.inside:
            held.inside = False
            self._ranked.remove(held)

    def _leave_until(self, now: int) -> None:
        while self._leaving and self._leaving[0][0] <= now:
            self._leave(heapq.heappop(self._leaving)[2])

    def _fill(self, now: int, arrival: _Held | None = None) -> list[Placement]:
        placements = []
        for rank, held in enumerate(self._ranked[: self._k], start=1):
            if not held.delivered:
                held.delivered = True
                candidate = held.candidate
                cause: Cause = "arrival" if held is arrival else "promotion"
                placements.append(
                    Placement(now, candidate, candidate.score, candidate.named, rank, cause)
                )
        return placements
