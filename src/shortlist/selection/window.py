"""The policy `window` (top-k/w): the k best of a sliding window, with later promotion."""

import heapq
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count, islice
from math import inf
from typing import Any

from sortedcontainers import SortedKeyList

from shortlist.model.delivery import Cause
from shortlist.model.durations import Span
from shortlist.model.policy import Diverse, Fresh, Window
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import (
    Outcome,
    Placement,
    Selector,
    Shown,
    Standing,
    outranked,
    undominated,
)
from shortlist.selection.records import candidate_record, recorded_candidate


class Held:
    """A publication in the window, or one that has left but still counts in a count window."""

    __slots__ = ("came", "candidate", "delivered", "expiry", "inside", "turn")

    def __init__(self, candidate: Candidate, came: int) -> None:
        self.candidate = candidate
        self.came = came
        self.expiry = candidate.publication.expiry
        self.delivered = False
        self.inside = True
        self.turn = 0

    @property
    def publication(self) -> Publication:
        return self.candidate.publication

    @property
    def best_first(self) -> tuple[float, int, int]:
        return -self.candidate.score, -self.publication.time, -self.publication.position

    def shown(self, rank: int, score: float, until: int | None, **others: Any) -> Shown:
        """As a shortlist shows it."""
        named = self.candidate.named
        whose = named.subscription, score, named.possibility, named.necessity
        return Shown(self.publication, *whose, rank, until, **others)

    def take_back(self, time: int) -> None:
        """Lets it expire at an instant, unless it does so before."""
        self.expiry = time if self.expiry is None else min(time, self.expiry)

    def refresh(self, subscription: str, span: int | None) -> None:
        """A policy behind this one hears of a subscription's `refresh` as it is by then."""
        named, *matches = (
            match._replace(refresh=span) if match.subscription == subscription else match
            for match in (self.candidate.named, *self.candidate.matches)
        )
        self.candidate = replace(self.candidate, named=named, matches=tuple(matches))

    def forget(self, subscription: str) -> None:
        """A policy behind this one hears only of matches with what is still subscribed."""
        matches = self.candidate.matches
        if any(match.subscription == subscription for match in matches):
            left = tuple(match for match in matches if match.subscription != subscription)
            self.candidate = replace(self.candidate, matches=left)


class WindowSelector(Selector):
    """Keeps the whole window ranked; at each instant delivers the k best that never were.

    Policies that differ in who may enter, who comes first, who is chosen or what a score is worth
    say so in place of the last methods.
    """

    def __init__(self, policy: Window | Fresh | Diverse, shortlist: str) -> None:
        self._k = policy.k
        self._span = policy.window.micros if isinstance(policy.window, Span) else None
        self._count = policy.window if isinstance(policy.window, int) else None
        self._shortlist = shortlist
        self._ranked: SortedKeyList = SortedKeyList(key=self._best_first)
        self._leaving: list[tuple[int, int, Held]] = []
        self._recent: deque[Held] = deque()
        self._entries = count()
        self._matches = 0
        self._last_arrival = 0

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        self._last_arrival = now
        placements = self.advance(now)
        refusal = self._objection(candidate)
        if refusal is not None:
            return Outcome(placements, refusal)
        self._leave_until(now)
        arrival = Held(candidate, now)
        self._enter(arrival)
        placements += self._fill(now, arrival)
        return Outcome(placements, None if arrival.delivered else self._refusal(arrival))

    def advance(self, before: int) -> list[Placement]:
        placements: list[Placement] = []
        while self._leaving and self._leaving[0][0] < before:
            now = self._leaving[0][0]
            self._leave_until(now)
            placements += self._fill(now)
        return placements

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        placements = self.settle(time)
        for held in [*self._ranked]:
            if held.candidate.named.subscription == subscription:
                self._leave(held)
            else:
                held.forget(subscription)
        return placements + self._fill(time)

    def settle(self, time: int) -> list[Placement]:
        placements = self.advance(time)
        self._leave_until(time)
        return placements + self._fill(time)

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        placements = self.advance(time)
        contenders = self._contenders()
        for held in [*self._ranked]:
            if held not in contenders:
                self._leave(held)
            elif (held.publication.source, held.publication.id) == (source, publication):
                held.take_back(time)
                self._note_end(held)
        return placements

    def refresh(self, subscription: str, span: int | None) -> None:
        for held in self._ranked:
            held.refresh(subscription, span)

    def change(self, policy: Window | Fresh | Diverse, time: int) -> list[Placement]:
        self._k = policy.k
        return []

    def above(self, candidate: Candidate) -> list[Standing]:
        chosen, now = [held.candidate for held in self._chosen()], self._last_arrival
        if candidate in chosen:
            del chosen[chosen.index(candidate) :]
        return [
            Standing(one.publication.source, one.publication.id, self._worth(one, now))
            for one in chosen
        ]

    def next_due(self) -> int | None:
        return self._leaving[0][0] if self._leaving else None

    def matches(self) -> int:
        return 0 if self._count is None else self._matches

    def floor(self, after: int) -> tuple[float, int | None]:
        """The lowest score of the k best that stay past an instant, and when the first of those
        leaves, if ever. What is under it cannot come among the k best before then. -inf where
        fewer stay."""
        every = ((held.candidate.score, self._end(held)) for held in self._ranked)
        staying = ((score, end) for score, end in every if end is None or end > after)
        best = [*islice(staying, self._k)]
        if len(best) < self._k:
            return -inf, None
        return best[-1][0], min((end for _, end in best if end is not None), default=None)

    def shown(self, now: int) -> list[Shown]:
        """What is among the best but has to be delivered yet is not shown."""
        shown = (
            self._shown(held, rank, now)
            for rank, held in enumerate(self._chosen(), start=1)
            if held.delivered
        )
        return [one for one in shown if one.until is None or one.until > now]

    def state(self) -> Any:
        kept = self._recent if self._count is not None else self._ranked
        rows = [
            [candidate_record(held.candidate), held.delivered, held.inside, held.came, held.expiry]
            for held in kept
        ]
        return {"matches": self._matches, "held": rows}

    def restore(self, state: Any) -> None:
        # the matches that a count window still counts are the last ones
        self._matches = state["matches"] - len(state["held"])
        for record, delivered, inside, came, expiry in state["held"]:
            held = Held(recorded_candidate(record, self._shortlist), came)
            held.delivered, held.inside, held.expiry = delivered, inside, expiry
            self._enter(held)

    def _shown(self, held: Held, rank: int, now: int) -> Shown:
        push = None if self._count is None else held.turn + self._count
        worth = self._worth(held.candidate, now)
        return held.shown(rank, worth, self._end(held), in_window=True, push=push)

    def _enter(self, held: Held) -> None:
        self._matches += 1
        held.turn = self._matches
        if held.inside:
            self._ranked.add(held)
            self._note_end(held)
        if self._count is not None:
            self._recent.append(held)
            if len(self._recent) > self._count:
                self._leave(self._recent.popleft())

    def _note_end(self, held: Held) -> None:
        end = self._end(held)
        if end is not None:
            heapq.heappush(self._leaving, (end, next(self._entries), held))

    def _end(self, held: Held) -> int | None:
        """When it leaves, unless it is pushed out."""
        ends = [held.expiry]
        if self._span is not None:
            ends.append(held.came + self._span)
        return min((end for end in ends if end is not None), default=None)

    def _leave(self, held: Held) -> None:
        if held.inside:
            held.inside = False
            self._ranked.remove(held)

    def _leave_until(self, now: int) -> None:
        while self._leaving and self._leaving[0][0] <= now:
            self._leave(heapq.heappop(self._leaving)[2])

    def _fill(self, now: int, arrival: Held | None = None) -> list[Placement]:
        placements = []
        for rank, held in enumerate(self._chosen(), start=1):
            if not held.delivered:
                held.delivered = True
                candidate = held.candidate
                score = self._worth(candidate, now)
                cause: Cause = "arrival" if held is arrival else "promotion"
                placements.append(Placement(now, candidate, score, candidate.named, rank, cause))
        return placements

    def _contenders(self) -> Collection[Held]:
        """Those who can still come among the k best, though nobody is taken back."""
        return undominated(self._ranked, self._k, self._outlasts)

    def _outlasts(self, one: Held, other: Held) -> bool:
        """Whether it leaves no earlier, by time or by matches; a cancellation takes both."""
        if one.candidate.named.subscription != other.candidate.named.subscription:
            return False
        if self._count is not None:
            return one.expiry is None and one.turn >= other.turn
        return self._ends_no_earlier(one, other)

    def _ends_no_earlier(self, one: Held, other: Held) -> bool:
        end, other_end = self._end(one), self._end(other)
        return end is None or (other_end is not None and end >= other_end)

    def _objection(self, candidate: Candidate) -> str | None:
        """Why a publication may not even enter the window."""
        return None

    def _worth(self, candidate: Candidate, now: int) -> float:
        return candidate.score

    def _best_first(self, held: Held) -> tuple[float, int, int]:
        return held.best_first

    def _chosen(self) -> Sequence[Held]:
        chosen: Sequence[Held] = self._ranked[: self._k]
        return chosen

    def _refusal(self, arrival: Held) -> str:
        return outranked(self._k, "in the window")
