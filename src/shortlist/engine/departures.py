"""What leaves shortlists, and when: for clients that keep a mirror of what they show."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from shortlist.engine.admitted import Admitted
from shortlist.engine.bulk import BulkHalves
from shortlist.engine.contents import Entry, content
from shortlist.matching.blocks import Ints
from shortlist.matching.index.index import Index
from shortlist.model.command import Command, Item, Retract, Unsubscribe
from shortlist.model.delivery import Delivery
from shortlist.model.policy import Policy
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.times import format_time
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.combined import Combined
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bulk.contents import holders, shortlist_contents
from shortlist.selection.bulk.offers import NEVER, NO_PLACEMENTS, Placements
from shortlist.selection.bulk.selecting import BulkSelecting
from shortlist.selection.contents import shows

Reason = Literal[
    "expired", "window", "outranked", "cancelled", "closed", "retracted", "restarted"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A publication leaves what a shortlist shows."""

    time: int
    shortlist: str
    publication: Publication
    reason: Reason

    @property
    def order(self) -> tuple[int, int, str]:
        """As deliveries; those of an instant come first."""
        return self.time, self.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold."""
        return {
            "time": format_time(self.time),
            "shortlist": self.shortlist,
            "source": self.publication.source,
            "publication": self.publication.id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A publication that was outranked is shown again: it is not delivered twice."""

    time: int
    shortlist: str
    entry: Entry

    @property
    def order(self) -> tuple[int, int, str]:
        return self.time, self.entry.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold; it has what the delivery had, as it is now."""
        when = {"time": format_time(self.time), "shortlist": self.shortlist, "reason": "returned"}
        return when | self.entry.document(with_data)


Change = Departure | Return
"""What a mirror must hear of beside deliveries."""


class _AttentiveSelecting(BulkSelecting):
    """Also says which shortlists the last publications were offered to."""

    offered: Ints = np.empty(0, np.int32)

    def publish(
        self, publications: Sequence[Publication], combined: Combined, sets: MatchSets
    ) -> Placements:
        self.offered = combined.shortlists
        return super().publish(publications, combined, sets)


class AttentiveHalves(BulkHalves):
    """Halves that a mirror can follow."""

    selecting: _AttentiveSelecting

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index) -> None:
        super().__init__(vocabulary, limits, index)
        self.selecting = _AttentiveSelecting(lambda: self.matching.combining.refreshes)


class _Held(NamedTuple):
    """A publication that is shown, and what its departure would be due to."""

    publication: Publication
    subscription: str | None
    end: int
    ending: Reason
    push: int


class _Step(NamedTuple):
    """What happened: an item, or none where time passed; and the shortlists that it concerns."""

    time: int
    item: Item | None
    policies: Mapping[str, Policy]
    """As they were before, by shortlist."""

    @property
    def retracted(self) -> tuple[str, str | None]:
        match self.item:
            case Retract(source=source, publication=name) | Publication(
                source=source, replaces=name
            ):
                return source, name
        return "", None

    @property
    def cancelled(self) -> str | None:
        return self.item.subscription if isinstance(self.item, Unsubscribe) else None


class Mirror:
    """Does what halves do, item by item, and tells what leaves shortlists meanwhile.

    Everything due before an item has to happen first: `due(item.time)`, then `placed` or `apply`.
    Changes are those of whole instants, and told when time has passed them: together with the
    deliveries they lead from what was shown before an instant to what is shown after it.
    """

    at_once = 1

    def __init__(self, halves: AttentiveHalves, before: int) -> None:
        """Of halves in which nothing at or after an instant has happened yet."""
        self._halves = halves
        self._shown: dict[str, dict[int, _Held]] = {}
        self._dues: list[tuple[int, str]] = []
        self._next_due: dict[str, int] = {}
        self._instant = NEVER
        self._left: dict[tuple[str, int], Departure] = {}
        self._returned: set[tuple[str, int]] = set()
        self.changes: list[Change] = []
        """In order; whoever takes them may clear them."""
        live = [name for name in halves.matching.shortlists.ids if name is not None]
        self._remember(live, self._present(live, before - 1))

    def due(self, before: int) -> Placements:
        """Everything due before an instant, as columns."""
        placed = [NO_PLACEMENTS]
        while (now := self._next_instant) < before:
            names = set()
            while self._dues and self._dues[0][0] <= now:
                names.add(heapq.heappop(self._dues)[1])
            if names:
                placements = self._halves.due(now + 1)
                self._look(names, self._delivered(placements), self._step(now, None, names))
                placed.append(placements)
            self._finish(now)
        return Placements.joined(placed)

    def placed(self, block: Sequence[Admitted]) -> Placements:
        """One publication comes; the answer is as that of halves."""
        (admitted,) = block
        publication = admitted.publication
        self._reach(publication.time)
        holding = self._holding(publication.source, publication.replaces)
        placements = self._halves.placed(block)
        names = holding | set(map(self._name, self._halves.selecting.offered.tolist()))
        step = self._step(publication.time, publication, names)
        self._look(names, self._delivered(placements), step)
        return placements

    def apply(self, command: Command) -> list[Delivery]:
        """Carries out a command that the roster did not refuse."""
        self._reach(command.time)
        names = set()
        if isinstance(command, Retract):
            names = self._holding(command.source, command.publication)
        named = self._halves.matching.roster.shortlist_of(command)
        if named is not None:
            names.add(named)
        step = self._step(command.time, command, names)
        deliveries = self._halves.apply(command)
        self._look(names, ((made.shortlist, made.publication) for made in deliveries), step)
        return deliveries

    @property
    def _next_instant(self) -> int:
        """The one that is going on, or the first at which something is due."""
        return min(self._instant, self._dues[0][0] if self._dues else NEVER)

    def _reach(self, time: int) -> None:
        if self._next_instant < time:
            raise ValueError(f"expected due({time}) before an item of that time")
        self._instant = time

    def _step(self, time: int, item: Item | None, names: Iterable[str]) -> _Step:
        live = self._halves.matching.roster.shortlists
        return _Step(time, item, {name: live[name].policy for name in names if name in live})

    def _look(
        self, names: Collection[str], delivered: Iterable[tuple[str, Publication]], step: _Step
    ) -> None:
        """Notes how what shortlists show differs from what they showed before a step."""
        entered = defaultdict(dict)
        for name, publication in delivered:
            entered[name][publication.position] = publication
        present = self._present(names, step.time)
        for name in names:
            before, after, new = self._shown.get(name, {}), present.get(name, {}), entered[name]
            for position in before.keys() - after.keys():
                held = before[position]
                self._leave(name, held.publication, self._reason(name, held, step), step.time)
            if name in self._shown or name in present:
                for position in new.keys() - after.keys() - before.keys():
                    reason: Reason = "outranked" if name in present else "closed"
                    self._leave(name, new[position], reason, step.time)
            for position in after.keys() - before.keys() - new.keys():
                self._return(name, position)
        self._remember(names, present)
