"""The policy `everything`: every match, as it arrives."""

from typing import Any

from shortlist.model.policy import Everything
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import ArrivalSelector, Outcome, Placement


class EverythingSelector(ArrivalSelector):
    """Keeps nothing, refuses nothing."""

    def __init__(self, policy: Everything, shortlist: str) -> None:
        pass

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        return Outcome(
            [Placement(now, candidate, candidate.score, candidate.named, None, "arrival")]
        )

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        pass
