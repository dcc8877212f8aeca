"""What banks are: many shortlists of one kind of policy, each at a place of its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.offers import NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.shown import NO_CONTENTS, Contents


class Expectations(NamedTuple):
    """What offers up to an instant must reach at places, for whoever computes scores in bulk.

    One under the floor may be left out if k later ones up to then, which leave no earlier, are
    better; with k = 0 the floor alone decides.
    """

    places: Longs
    floors: Floats
    ks: Ints


class Bank(ABC):
    """Does for many shortlists what a `Selector` does for one. Calls come in order of time.

    What a bank does not say, it does as one whose policy places a publication at its arrival or
    never, with all of its state in one arena.
    """

    _arena: Arena

    @property
    def arenas(self) -> Sequence[Arena]:
        """All of its state."""
        return [self._arena]

    @abstractmethod
    def open_all(self, shortlists: Sequence[str], policy: Any) -> Longs:
        """The places of shortlists that have seen nothing yet."""

    def open(self, shortlist: str, policy: Any) -> int:
        """The same of one."""
        return int(self.open_all([shortlist], policy)[0])

    @abstractmethod
    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        """What leads to placements at or before the last offer of each shortlist that has one."""

    def advance(self, before: int) -> Placements:
        """Everything that is due before an instant happens, in every shortlist."""
        return NO_PLACEMENTS

    def settle(self, places: Longs, times: Longs) -> Placements:
        """Everything that is due happens in some shortlists, in each at or before an instant of
        its own."""
        return NO_PLACEMENTS

    def retract(self, publication: int, time: int) -> Placements:
        """A publication is taken back: it leaves all that hold it at an instant, after all that is
        due before in any shortlist."""
        return NO_PLACEMENTS

    def change(self, places: Longs, policy: Any, times: Longs) -> Placements:
        """Some shortlists get another policy that keeps what is held, each at an instant; nothing
        was due by then."""
        return NO_PLACEMENTS

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        """A subscription of a shortlist goes."""
        return NO_PLACEMENTS

    def shown(self, places: Longs, now: int) -> Contents:
        """What some places show once all that is due at or before an instant has happened."""
        return NO_CONTENTS

    def close(self, places: Longs, times: Longs) -> Placements:
        """Some shortlists go, each at an instant; only what is due by then still happens."""
        placements = self.settle(places, times)
        self.arenas[0].close_all(places)
        return placements

    def expected(self, until: int) -> Expectations | None:
        """For every place where some offers do not matter, if their floors are scores."""
        return None

    def warnings(self, place: int, members: Mapping[str, int]) -> Iterable[str]:
        """What whoever runs it should know of a shortlist with these subscriptions."""
        return ()
