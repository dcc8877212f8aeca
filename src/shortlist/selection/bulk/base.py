"""The protocol of banks: many shortlists of one kind of policy, each at a place of its own."""

from collections.abc import Sequence
from typing import Any, Protocol

from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bulk.arena import Arena
from shortlist.selection.bulk.offers import Offers, Placements


class Bank(Protocol):
    """Does for many shortlists what a `Selector` does for one. Calls come in order of time."""

    @property
    def arenas(self) -> Sequence[Arena]:
        """All of its state."""
        ...

    def open(self, shortlist: str, policy: Any) -> int:
        """The place of a shortlist that has seen nothing yet."""
        ...

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        """What leads to placements at or before the last offer of each shortlist that has one."""
        ...

    def advance(self, before: int) -> Placements:
        """Everything that is due before an instant happens, in every shortlist."""
        ...

    def settle(self, place: int, time: int) -> Placements:
        """Everything that is due at or before an instant happens, in one shortlist."""
        ...

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        """A subscription of a shortlist goes."""
        ...

    def close(self, place: int, time: int) -> Placements:
        """A shortlist goes; only what is due at or before `time` still happens."""
        ...
