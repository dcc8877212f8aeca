"""The policy `everything`: every match, as it arrives."""

from shortlist.model.policy import Everything
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Selector, placed_at_once


class EverythingSelector(Selector):
    """Keeps nothing, refuses nothing."""

    def __init__(self, policy: Everything, shortlist: str) -> None:
        pass

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        return Outcome([placed_at_once(candidate, now)])
