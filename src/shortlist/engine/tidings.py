"""What commands mean for shortlists in banks, which are told all of it together."""

from collections import defaultdict

from shortlist.engine.matching import Matching
from shortlist.model.policy import Policy
from shortlist.model.policy_changes import kept_by
from shortlist.model.shortlist import Shortlist
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.bank.selecting import BankSelecting

Instants = dict[int, int]
"""Shortlists by number, each with an instant."""


class Tidings:
    """Hears what commands mean, each for shortlists that no other one touches, as `tell` says it.

    Shortlists do not know each other, so that banks may hear of many at once what they would hear
    one by one.

    >>> from shortlist.engine.live_registry import tell
    >>> from shortlist.engine.shard import Shard
    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.model.command import Unsubscribe, Update
    >>> from shortlist.model.settings import Limits
    >>> cheap = [{"id": name, "where": "rent < 900"} for name in ("flats", "rooms")]
    >>> shard = Shard(registry_from_documents({"subscriptions": cheap}), Limits())
    >>> tidings = Tidings(shard.matching, shard.selecting)
    >>> changes = {"subscriber": "Ada"}
    >>> for command in (Update(time=1, position=1, kind="shortlist", id="flats", changes=changes),
    ...                 Unsubscribe(time=2, position=2, subscription="rooms")):
    ...     _ = [*tell(tidings, command, shard.matching.roster)]
    >>> tidings.told().places.size, [made.subscriber for made in tidings.settings.values()]
    (0, ['Ada'])
    """

    def __init__(self, matching: Matching, selecting: BankSelecting) -> None:
        self._matching = matching
        self._selecting = selecting
        self.settings: dict[int, Shortlist] = {}
        """By number, shortlists that begin, or have other settings once commands are carried
        out."""
        self._opened: dict[int, Shortlist] = {}
        self._closed: Instants = {}
        self._changed: defaultdict[Policy, Instants] = defaultdict(dict)
        self._placed = [NO_PLACEMENTS]

    def told(self) -> Placements:
        """What shortlists place when they are told; those that start over end before."""
        if self._closed:
            self._placed.append(self._selecting.close_all(self._closed))
        for policy, instants in self._changed.items():
            self._placed.append(self._selecting.change_alike(policy, instants))
        self._selecting.open_all(self._opened)
        return Placements.joined(self._placed)

    def open(self, shortlist: Shortlist) -> None:
        number = self._matching.shortlists.number(shortlist.id)
        self._opened[number] = self.settings[number] = shortlist

    def close(self, shortlist: str, time: int) -> None:
        self._closed[self._matching.shortlists.number(shortlist)] = time

    def cancel(self, shortlist: str, subscription: str, time: int) -> None:
        numbers = self._matching.shortlists.number(shortlist), self._matching.number(subscription)
        self._placed.append(self._selecting.cancel(*numbers, time))

    def update(self, shortlist: Shortlist, time: int) -> None:
        """Settings change, after all that is due at or before an instant."""
        number = self._matching.shortlists.number(shortlist.id)
        before = self._matching.roster.shortlists[shortlist.id]
        if before != shortlist:
            self.settings[number] = shortlist
        if kept_by(before.policy, shortlist.policy):
            self._changed[shortlist.policy][number] = time
        else:
            self._closed[number] = time
            self._opened[number] = shortlist

    def retract(self, source: str, publication: str, time: int) -> None:
        self._placed.append(self._selecting.retract(source, publication, time))
