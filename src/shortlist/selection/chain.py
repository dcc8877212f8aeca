"""Policies one behind the other: what one delivers comes to the next."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from shortlist.model.policy import Chain, Everything, SinglePolicy
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


class ChainSelector(Selector):
    """Each policy hears of an event after what the one before delivers at it has come."""

    def __init__(self, policies: Sequence[SinglePolicy], selectors: Sequence[Selector]) -> None:
        self._policies = selectors
        self._reached: tuple[Selector, Candidate] | None = None
        self._remark: Remark = nobody_listens
        self._showing: list[Selector] = []
        """Those that say what is shown: the last one that chooses, and whom it looks through."""
        for policy, selecting in reversed([*zip(policies, selectors, strict=True)]):
            if not isinstance(policy, Everything):
                self._showing.insert(0, selecting)
                if not policy.looks_through:
                    break

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        placements, refusal = self.advance(now), None
        flow = [placed_at_once(candidate, now)]
        for number, policy in enumerate(self._policies, start=1):
            passed = []
            for coming in flow:
                if coming.cause == "promotion":
                    passed += self._come(number, coming)
                    continue
                outcome = _come(policy, coming)
                passed += outcome.placements
                self._reached = policy, _candidate(coming)
                if outcome.refusal is not None:
                    refusal = f"policy {number}: {outcome.refusal}"
            flow = passed
        return Outcome(placements + flow, refusal)

    def advance(self, before: int) -> list[Placement]:
        return self._tell(lambda policy: policy.advance(before))

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        return self._tell(lambda policy: policy.cancel(subscription, time))

    def settle(self, time: int) -> list[Placement]:
        return self._tell(lambda policy: policy.settle(time))

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        return self._tell(lambda policy: policy.retract(source, publication, time))

    def refresh(self, subscription: str, span: int | None) -> None:
        for policy in self._policies:
            policy.refresh(subscription, span)

    def change(self, policy: Chain, time: int) -> list[Placement]:
        """The last one first, so that what is released for that goes by the new policies."""
        placements: list[Placement] = []
        for number in range(len(self._policies), 0, -1):
            flow = self._policies[number - 1].change(policy.policies[number - 1], time)
            for later in range(number + 1, len(self._policies) + 1):
                flow = [placed for coming in flow for placed in self._come(later, coming)]
            placements += flow
        return placements

    def above(self, candidate: Candidate) -> list[Standing]:
        if self._reached is None:
            return []
        policy, as_it_came = self._reached
        return policy.above(as_it_came)

    def next_due(self) -> int | None:
        dues = (policy.next_due() for policy in self._policies)
        return min((due for due in dues if due is not None), default=None)

    def matches(self) -> int:
        return self._showing[0].matches() if self._showing else 0

    def shown(self, now: int) -> list[Shown]:
        return [one for policy in self._showing for one in policy.shown(now)]

    def listen(self, remark: Remark) -> None:
        self._remark = remark
        for number, policy in enumerate(self._policies, start=1):
            policy.listen(partial(_remark_of, number, remark))

    def state(self) -> Any:
        return [policy.state() for policy in self._policies]

    def restore(self, state: Any) -> None:
        for policy, remembered in zip(self._policies, state, strict=True):
            policy.restore(remembered)

    def _tell(self, tell: Callable[[Selector], list[Placement]]) -> list[Placement]:
        flow: list[Placement] = []
        for number, policy in enumerate(self._policies, start=1):
            passed = [placed for coming in flow for placed in self._come(number, coming)]
            flow = passed + tell(policy)
        return flow

    def _come(self, number: int, coming: Placement) -> list[Placement]:
        """What a policy of this number places when something comes behind its arrival."""
        outcome = _come(self._policies[number - 1], coming)
        if outcome.refusal is not None:
            self._remark(coming.time, coming.candidate, f"policy {number}: {outcome.refusal}")
        return outcome.placements


def _remark_of(number: int, remark: Remark, time: int, candidate: Candidate, why: str) -> None:
    """Says which policy a remark is about."""
    remark(time, candidate, f"policy {number}: {why}")


def _come(policy: Selector, coming: Placement) -> Outcome:
    """What the one before placed arrives; to place it now is a promotion if that was one."""
    outcome = policy.arrive(_candidate(coming), coming.time)
    placements = [
        placed._replace(cause=coming.cause) if placed.cause == "arrival" else placed
        for placed in outcome.placements
    ]
    return outcome._replace(placements=placements)


def _candidate(placed: Placement) -> Candidate:
    return replace(placed.candidate, score=placed.score, named=placed.named)
