"""Follows what shortlists show while items come, and tells what leaves them."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from shortlist.engine.admitted import Admitted
from shortlist.engine.attentive import AttentiveHalves, Held, Shown
from shortlist.engine.contents import content
from shortlist.engine.departures import Change, Departure, Reason, Return
from shortlist.model.command import Command, Retract, Unsubscribe
from shortlist.model.delivery import Delivery
from shortlist.model.policy_changes import kept_by
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.blocks import Arrivals
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Placements


class _Step(NamedTuple):
    """Something that may change what is shown: time that passes, a publication, a command."""

    time: int
    retracted: tuple[str, str] | None = None
    cancelled: str | None = None
    restarts: bool = False


class Mirror:
    """Does what halves do, item by item, and tells what leaves shortlists meanwhile.

    Everything due before an item has to happen first: `due(item.time)`, then `placed` or `apply`.
    Changes are those of whole instants, told once time has passed them: together with the
    deliveries they lead from what was shown before an instant to what is shown after it.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.intake.roster import registry_commands
    >>> from shortlist.matching.index.index import Index
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.settings import Limits
    >>> best = {"id": "best", "score": "fit", "policy": {"kind": "window", "k": 1, "window": "1h"}}
    >>> registry, limits = registry_from_documents({"subscriptions": [best]}), Limits()
    >>> index = Index(registry.vocabulary, limits)
    >>> halves = AttentiveHalves(registry.vocabulary, limits, index)
    >>> for command in registry_commands(registry):
    ...     _ = halves.apply(command)
    >>> mirror = Mirror(halves, before=0)
    >>> attic = Publication(id="attic", source="ads", time=0, position=1, data={"fit": 5})
    >>> bedsit = Publication(
    ...     id="bedsit", source="ads", time=3, position=2, expiry=9, data={"fit": 8})
    >>> for flat in (attic, bedsit):
    ...     _ = mirror.due(flat.time)
    ...     _ = mirror.placed([Admitted(flat, halves.matching.read(flat))])
    >>> _ = mirror.due(10)
    >>> for change in mirror.taken():
    ...     document = change.document()
    ...     print(change.time, document["publication"], document["reason"])
    3 attic outranked
    9 attic returned
    9 bedsit expired
    """

    at_once = 1

    def __init__(self, halves: AttentiveHalves, before: int) -> None:
        """Of halves in which nothing at or after an instant has happened yet."""
        self._halves = halves
        self._shown: Shown = {}
        self._dues: list[tuple[int, str]] = []
        self._next_due: dict[str, int] = {}
        self._instant = NEVER
        self._left: dict[tuple[str, int], Departure] = {}
        self._returned: set[tuple[str, int]] = set()
        self._changes: list[Change] = []
        live = self._live.keys()
        self._remember(live, halves.shown(live, before - 1))

    def due(self, before: int) -> Placements:
        """Everything due before an instant, as columns."""
        placed = [NO_PLACEMENTS]
        while (now := self._next_instant) < before:
            names = self._due_by(now)
            if names:
                placements = self._halves.due(now + 1)
                self._look(names, self._halves.delivered(placements), _Step(now))
                placed.append(placements)
            self._finish(now)
        return Placements.joined(placed)

    def placed(self, block: Sequence[Admitted], found: Arrivals | None = None) -> Placements:
        """What one publication leads to, as columns, with numbers that hold until the next call."""
        (admitted,) = block
        publication = admitted.publication
        self._reach(publication.time)
        step, names = _Step(publication.time), set[str]()
        if publication.replaces is not None:
            step = step._replace(retracted=(publication.source, publication.replaces))
            names = self._halves.holders(publication.source, publication.replaces)
        placements = self._halves.placed(block, found)
        delivered = self._halves.delivered(placements)
        self._look(names | self._halves.offered(), delivered, step)
        return placements

    def apply(self, command: Command) -> list[Delivery]:
        """Carries out a command that the roster did not refuse."""
        self._reach(command.time)
        step, names = _Step(command.time), set[str]()
        match command:
            case Unsubscribe(subscription=subscription):
                step = step._replace(cancelled=subscription)
            case Retract(source=source, publication=publication):
                step = step._replace(retracted=(source, publication))
                names = self._halves.holders(source, publication)
        name = self._halves.matching.roster.shortlist_of(command)
        before = None if name is None else self._live.get(name)
        deliveries = self._halves.apply(command)
        if name is not None:
            names.add(name)
            after = self._live.get(name)
            if before is not None and after is not None:
                step = step._replace(restarts=not kept_by(before.policy, after.policy))
        delivered = (
            (made.shortlist, Held(made.publication, made.subscription)) for made in deliveries
        )
        self._look(names, delivered, step)
        return deliveries

    def taken(self) -> list[Change]:
        """What has changed since the last call, in order."""
        changes, self._changes = self._changes, []
        return changes

    @property
    def _live(self) -> dict[str, Shortlist]:
        return self._halves.matching.roster.shortlists

    @property
    def _next_instant(self) -> int:
        """The one that is going on, or the first at which something is due."""
        return min(self._instant, self._dues[0][0] if self._dues else NEVER)

    def _reach(self, time: int) -> None:
        if self._next_instant < time:
            raise ValueError(f"expected due({time}) before an item of that time")
        self._instant = time

    def _due_by(self, now: int) -> set[str]:
        """Takes out the shortlists in which something is due."""
        names = set()
        while self._dues and self._dues[0][0] <= now:
            _, name = heapq.heappop(self._dues)
            self._next_due.pop(name, None)
            names.add(name)
        return names

    def _finish(self, now: int) -> None:
        """Tells what is different after an instant."""
        returned = [
            Return(time=now, shortlist=name, entry=entry)
            for name in {name for name, _ in self._returned}
            for entry in content(self._halves, name, now)
            if (name, entry.publication.position) in self._returned
        ]
        changes: list[Change] = [*self._left.values(), *returned]
        self._changes += sorted(changes, key=lambda change: change.order)
        self._left.clear()
        self._returned.clear()
        self._instant = NEVER

    def _look(
        self, names: Collection[str], delivered: Iterable[tuple[str, Held]], step: _Step
    ) -> None:
        """Notes how what shortlists show differs from what they showed before a step."""
        entered: Shown = defaultdict(dict)
        for name, held in delivered:
            entered[name][held.publication.position] = held
        shown = self._halves.shown(names, step.time)
        for name in names:
            if name not in self._shown and name not in shown:
                continue
            known, after = entered[name] | self._shown.get(name, {}), shown.get(name, {})
            for position in known.keys() - after.keys():
                self._leave(name, known[position], step)
            for position in after.keys() - known.keys():
                self._return(name, position)
        self._remember(names, shown)

    def _leave(self, name: str, held: Held, step: _Step) -> None:
        key = name, held.publication.position
        if key in self._returned:
            self._returned.remove(key)
            return
        self._left[key] = Departure(
            time=step.time,
            shortlist=name,
            publication=held.publication,
            reason=self._reason(name, held, step),
        )

    def _return(self, name: str, position: int) -> None:
        if self._left.pop((name, position), None) is None:
            self._returned.add((name, position))

    def _reason(self, name: str, held: Held, step: _Step) -> Reason:
        publication = held.publication
        if held.end <= step.time:
            return held.ending
        if name not in self._live:
            return "closed"
        if step.restarts:
            return "restarted"
        if (publication.source, publication.id) == step.retracted:
            return "retracted"
        if held.subscription is not None and held.subscription == step.cancelled:
            return "cancelled"
        return "window" if self._halves.is_pushed_out(name, held) else "outranked"

    def _remember(self, names: Iterable[str], shown: Shown) -> None:
        """Keeps what shortlists show now, and when something is due in them."""
        for name in names:
            if name in shown:
                self._shown[name] = shown[name]
            else:
                self._shown.pop(name, None)
            dues = [held.end for held in shown.get(name, {}).values()]
            if name in self._live:
                dues.append(self._halves.next_due(name))
            due = min(dues, default=NEVER)
            if due < self._next_due.get(name, NEVER):
                self._next_due[name] = due
                heapq.heappush(self._dues, (due, name))
