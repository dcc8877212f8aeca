"""The policies `digest` and `quiet`: what arrives waits, and then the k best of it pass."""

from typing import Any

from shortlist.model.policy import Digest, Quiet
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import (
    Outcome,
    Placement,
    Remark,
    Selector,
    Shown,
    Standing,
    nobody_listens,
    placed_at_once,
)
from shortlist.selection.calendars import calendar_of, period_at, wall_text
from shortlist.selection.records import candidate_record, recorded_candidate
from shortlist.selection.window import Held

FEW = 64
"""So many may wait before those that have expired are looked for."""


class WaitingSelector(Selector):
    """All that waits at a time waits for the same instant: the end of a period.

    To a digest every instant belongs to a period; beside quiet hours publications pass at once.
    """

    def __init__(self, policy: Digest | Quiet, shortlist: str) -> None:
        self._policy = policy
        self._calendar = calendar_of(policy)
        self._shortlist = shortlist
        self._waiting: list[Held] = []
        self._due = 0
        self._last_arrival = 0
        self._most = FEW
        self._remark: Remark = nobody_listens

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        self._last_arrival = now
        placements = self.settle(now)
        period = period_at(self._calendar, now)
        if period is None:
            return Outcome([*placements, placed_at_once(candidate, now)])
        self._due = period.end
        self._waiting.append(Held(candidate, now))
        if len(self._waiting) > self._most:
            self._drop_expired(now)
            self._most = max(FEW, 2 * len(self._waiting))
        return Outcome(placements, f"waits until {wall_text(self._calendar, self._due)}")

    def advance(self, before: int) -> list[Placement]:
        return self._release(self._due) if self._waiting and self._due < before else []

    def settle(self, time: int) -> list[Placement]:
        return self.advance(time + 1)

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        placements = self.settle(time)
        for held in [*self._waiting]:
            if held.candidate.named.subscription == subscription:
                self._drop(held, time, "its subscription was cancelled while it waited")
            else:
                held.forget(subscription)
        return placements

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        placements = self.settle(time)
        for held in [*self._waiting]:
            if (held.publication.source, held.publication.id) == (source, publication):
                self._drop(held, time, "its publisher took it back while it waited")
        return placements

    def refresh(self, subscription: str, span: int | None) -> None:
        for held in self._waiting:
            held.refresh(subscription, span)

    def change(self, policy: Digest | Quiet, time: int) -> list[Placement]:
        """What waits goes by the new hours; at once, if they are not quiet now."""
        self._policy = policy
        self._calendar = calendar_of(policy)
        period = period_at(self._calendar, time)
        if period is None:
            return self._release(time)
        self._due = period.end
        return []

    def above(self, candidate: Candidate) -> list[Standing]:
        ranked = [held.candidate for held in self._ranked(self._last_arrival)]
        if candidate not in ranked:
            return []
        better = ranked[: ranked.index(candidate)][: self._policy.k]
        return [Standing(one.publication.source, one.publication.id, one.score) for one in better]

    def next_due(self) -> int | None:
        return self._due if self._waiting else None

    def shown(self, now: int) -> list[Shown]:
        """What waits, as if it were released now."""
        if self._due <= now:
            return []
        return [
            held.shown(
                rank,
                held.candidate.score,
                until=self._due if held.expiry is None else min(self._due, held.expiry),
                waiting=True,
            )
            for rank, held in enumerate(self._ranked(now)[: self._policy.k], start=1)
        ]

    def listen(self, remark: Remark) -> None:
        self._remark = remark

    def state(self) -> Any:
        waiting = [[candidate_record(held.candidate), held.came] for held in self._waiting]
        return {"due": self._due, "waiting": waiting}

    def restore(self, state: Any) -> None:
        self._due = state["due"]
        self._waiting = [
            Held(recorded_candidate(record, self._shortlist), came)
            for record, came in state["waiting"]
        ]

    def _release(self, now: int) -> list[Placement]:
        self._drop_expired(now)
        ranked = self._ranked(now)
        for held in ranked[self._policy.k :] if self._policy.k else ():
            self._drop(held, now, self._outdone(self._policy.k))
        self._waiting, self._most = [], FEW
        return [
            placed_at_once(held.candidate, now, rank)._replace(
                # only other hours can release something at the instant at which it came
                cause="arrival" if held.came == now else "promotion"
            )
            for rank, held in enumerate(ranked[: self._policy.k], start=1)
        ]

    def _ranked(self, now: int) -> list[Held]:
        """Those that are still valid, the best first."""
        valid = [held for held in self._waiting if held.expiry is None or held.expiry > now]
        return sorted(valid, key=lambda held: held.best_first)

    def _drop_expired(self, now: int) -> None:
        for held in [*self._waiting]:
            if held.expiry is not None and held.expiry <= now:
                self._drop(held, held.expiry, "it expired while it waited")

    def _drop(self, held: Held, time: int, why: str) -> None:
        self._waiting.remove(held)
        self._remark(time, held.candidate, why)

    def _outdone(self, k: int | None) -> str:
        where = "in the digest" if isinstance(self._policy, Digest) else "waited"
        return f"a better one {where}" if k == 1 else f"{k} better ones {where}"
