"""The policy `cap`: at most so many pass in each period."""

from typing import Any

from shortlist.model.policy import Cap
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Placement, Selector, placed_at_once
from shortlist.selection.calendars import NO_PERIOD, Period, calendar_of, period_at, wall_text


class CapSelector(Selector):
    """Counts what has passed since the last boundary."""

    def __init__(self, policy: Cap, shortlist: str) -> None:
        self._most = policy.most
        self._calendar = calendar_of(policy)
        self._period = Period(*NO_PERIOD)
        self._passed = 0

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        if now >= self._period.end:
            period = period_at(self._calendar, now)
            assert period is not None
            self._period, self._passed = period, 0
        if self._passed >= self._most:
            since = wall_text(self._calendar, self._period.begin)
            return Outcome([], f"{self._passed} since {since}")
        self._passed += 1
        return Outcome([placed_at_once(candidate, now)])

    def change(self, policy: Cap, time: int) -> list[Placement]:
        self._most = policy.most
        return []

    def state(self) -> Any:
        return [*self._period, self._passed]

    def restore(self, state: Any) -> None:
        *period, self._passed = state
        self._period = Period(*period)
