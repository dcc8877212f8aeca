"""Policies one behind the other: what one delivers comes to the next."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from shortlist.model.policy import Chain
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Placement, Selector, Shown, Standing
from shortlist.selection.everything import EverythingSelector


class ChainSelector:
    """Each policy hears of an event after what the one before delivers at it has come."""

    def __init__(self, policies: Sequence[Selector]) -> None:
        self._policies = policies
        self._reached: tuple[Selector, Candidate] | None = None

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        placements, refusal = self.advance(now), None
        flow = [Placement(now, candidate, candidate.score, candidate.named, None, "arrival")]
        for number, policy in enumerate(self._policies, start=1):
            passed = []
            for coming in flow:
                outcome = _come(policy, coming)
                passed += outcome.placements
                if coming.cause == "arrival":
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

    def change(self, policy: Chain) -> None:
        for selecting, single in zip(self._policies, policy.policies, strict=True):
            selecting.change(single)

    def above(self, candidate: Candidate) -> list[Standing]:
        if self._reached is None:
            return []
        policy, as_it_came = self._reached
        return policy.above(as_it_came)

    def next_due(self) -> int | None:
        dues = (policy.next_due() for policy in self._policies)
        return min((due for due in dues if due is not None), default=None)

    def matches(self) -> int:
        return self._last.matches()

    def shown(self, now: int) -> list[Shown]:
        return self._last.shown(now)

    def state(self) -> Any:
        return [policy.state() for policy in self._policies]

    def restore(self, state: Any) -> None:
        for policy, remembered in zip(self._policies, state, strict=True):
            policy.restore(remembered)

    @property
    def _last(self) -> Selector:
        """The last one that chooses, if any does."""
        choosing = [each for each in self._policies if not isinstance(each, EverythingSelector)]
        return [*self._policies[:1], *choosing][-1]

    def _tell(self, tell: Callable[[Selector], list[Placement]]) -> list[Placement]:
        flow: list[Placement] = []
        for policy in self._policies:
            passed = [placed for coming in flow for placed in _come(policy, coming).placements]
            flow = passed + tell(policy)
        return flow


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
