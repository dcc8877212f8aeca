"""Follows what shortlists show while items come, and tells what leaves them."""

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from shortlist.engine.contents import Change, Departure, Reason, Return, content
from shortlist.engine.shard import Observer, Shard
from shortlist.model.command import Command, Define, Retract, Unsubscribe
from shortlist.model.items import Items
from shortlist.model.policy import Policy, shows
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.selection.bank.contents import holders, shortlist_contents, showing
from shortlist.selection.bank.offers import NEVER, Placements
from shortlist.selection.kernels.arena import Records


class Held(NamedTuple):
    """A publication that is shown, or was delivered, and what may take it away."""

    publication: Publication
    subscription: str | None
    end: int = NEVER
    ending: Reason = "expired"
    """Why it leaves at its end."""
    push: int = NEVER
    """The match that pushes it out of a count window."""


Shown = dict[str, dict[int, Held]]
"""By shortlist, and by the publication's position."""


class Showing:
    """What the shortlists of a shard show, and when that may change; they are known by id here."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def shown(self, names: Iterable[str], now: int) -> Shown:
        """What those shortlists show that are live and show anything, but for what waits."""
        live = self._shard.matching.roster.shortlists
        shown: Shown = {name: {} for name in names if name in live and shows(live[name].policy)}
        contents = shortlist_contents(
            self._shard.selecting, map(self._number, shown), now, with_waiting=False
        )
        columns = (column.tolist() for column in contents)
        for number, held, _, named, *_, end, push, is_windowed, _ in zip(*columns, strict=True):
            publication = self._shard.selecting.publications[held]
            subscription = None if named < 0 else self._shard.matching.names[named]
            ending: Reason = "window" if is_windowed and publication.expiry != end else "expired"
            shown[self._shard.names[number]][publication.position] = Held(
                publication, subscription, end, ending, push
            )
        return shown

    def delivered(self, placements: Placements) -> Iterator[tuple[str, Held]]:
        """Placements by shortlist."""
        columns = placements.places, placements.publications, placements.named
        for number, publication, named in zip(*(c.tolist() for c in columns), strict=True):
            subscription = self._shard.matching.names[named]
            held = Held(self._shard.selecting.publications[publication], subscription)
            yield self._shard.names[number], held

    def is_pushed_out(self, name: str, held: Held) -> bool:
        """Whether so many matches have come that it is not in its count window any more."""
        if held.push == NEVER:
            return False
        (depth, _), *_ = showing(self._shard.selecting.stages(self._number(name)))
        return bool(held.push <= [*self._heads(name)][depth]["matches"])

    def next_due(self, name: str) -> int:
        """When some policy of a shortlist has something to do, though nothing comes."""
        heads = self._heads(name)
        dues = [int(head["next_due"]) for head in heads if "next_due" in (head.dtype.names or ())]
        return min(dues, default=NEVER)

    def _heads(self, name: str) -> Iterator[Records]:
        """What a shortlist's policies have in mind, one after the other."""
        stages = self._shard.selecting.stages(self._number(name))
        for level, (kind, place) in zip(self._shard.selecting.levels, stages, strict=False):
            yield level.banks[kind].arenas[0].heads[place]

    def _number(self, name: str) -> int:
        return self._shard.matching.shortlists.number(name)


class _Step(NamedTuple):
    """Something that may change what is shown: time that passes, a publication, a command."""

    time: int
    retracted: tuple[str, str] | None = None
    cancelled: str | None = None
    restarts: bool = False


class Mirror(Observer):
    """Sees a shard item by item, and tells what leaves its shortlists.

    Changes are those of whole instants, told once time has passed them: together with the
    deliveries they lead from what was shown before an instant to what is shown after it.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.settings import Settings
    >>> best = {"id": "best", "score": "fit", "policy": {"kind": "window", "k": 1, "window": "1h"}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [best]}), Settings(lateness=0))
    >>> engine.observer = mirror = Mirror(engine.shard, before=0)
    >>> attic = Publication(id="attic", source="ads", time=0, position=1, data={"fit": 5})
    >>> bedsit = Publication(
    ...     id="bedsit", source="ads", time=3, position=2, expiry=9, data={"fit": 8})
    >>> _ = engine.process([attic, bedsit], last=True)
    >>> for change in mirror.taken()[:3]:
    ...     document = change.document()
    ...     print(change.time, document["publication"], document["reason"])
    3 attic outranked
    9 attic returned
    9 bedsit expired
    """

    at_once = 1

    def __init__(self, shard: Shard, before: int) -> None:
        """Of a shard in which nothing at or after an instant has happened yet."""
        super().__init__(shard.due)
        self._shard = shard
        self._showing = Showing(shard)
        self._shown: Shown = {}
        self._dues: list[tuple[int, str]] = []
        self._next_due: dict[str, int] = {}
        self._instant = NEVER
        self._left: dict[tuple[str, int], Departure] = {}
        self._returned: set[tuple[str, int]] = set()
        self._changes: list[Change] = []
        self._names: set[str] = set()
        self._policies: dict[str, Policy] = {}
        """Of the shortlist that a command concerns, before it."""
        self._entered: list[tuple[str, Held]] = []
        live = self._live.keys()
        self._remember(live, self._showing.shown(live, before - 1))

    def due(self, before: int) -> Iterator[Placements]:
        """Everything due before an instant, instant by instant."""
        while (now := self._next_instant) < before:
            names = self._due_by(now)
            if names:
                placed = self._due(now + 1)
                self._look(names, self._showing.delivered(placed), _Step(now))
                yield placed
            self._finish(now)

    def before(self, step: Items | Command) -> Iterator[Placements]:
        """What is due before an item happens first."""
        time = step.time if isinstance(step, Command) else int(step.times[0])
        yield from self.due(time)
        self._instant = time
        retracted, roster = _retracted(step), self._shard.matching.roster
        self._names = set()
        if retracted is not None:
            self._names = self._named(holders(self._shard.selecting, *retracted))
        self._policies = {}
        if isinstance(step, Define):
            self._names = roster.concerned(step).shortlists
        elif isinstance(step, Command):
            name = roster.shortlist_of(step)
            if name is not None:
                self._names.add(name)
                if name in self._live:
                    self._policies[name] = self._live[name].policy

    def during(self, step: Items | Command, placed: Placements) -> None:
        self._entered = [*self._showing.delivered(placed)]

    def after(self, step: Items | Command) -> None:
        """Looks at what is different behind an item."""
        cancelled, names = None, self._names
        # it holds nothing of before if it has a policy of another kind now
        restarts = any(
            name in self._live and not kept_by(policy, self._live[name].policy)
            for name, policy in self._policies.items()
        )
        if isinstance(step, Unsubscribe):
            cancelled = step.subscription
        if not isinstance(step, Command):
            names = names | self._named(self._shard.offered.tolist())
        what = _Step(self._instant, _retracted(step), cancelled, restarts)
        self._look(names, self._entered, what)

    def taken(self) -> list[Change]:
        """What has changed since the last call, in order."""
        changes, self._changes = self._changes, []
        return changes

    def _named(self, numbers: Iterable[int]) -> set[str]:
        return {self._shard.names[number] for number in numbers}

    @property
    def _live(self) -> Mapping[str, Shortlist]:
        return self._shard.matching.roster.shortlists

    @property
    def _next_instant(self) -> int:
        """The one that is going on, or the first at which something is due."""
        return min(self._instant, self._dues[0][0] if self._dues else NEVER)

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
            for entry in content(self._shard, name, now)
            if not entry.waiting and (name, entry.publication.position) in self._returned
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
        shown = self._showing.shown(names, step.time)
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
        return "window" if self._showing.is_pushed_out(name, held) else "outranked"

    def _remember(self, names: Iterable[str], shown: Shown) -> None:
        """Keeps what shortlists show now, and when something is due in them."""
        for name in names:
            if name in shown:
                self._shown[name] = shown[name]
            else:
                self._shown.pop(name, None)
            dues = [held.end for held in shown.get(name, {}).values()]
            if name in self._live:
                dues.append(self._showing.next_due(name))
            due = min(dues, default=NEVER)
            if due < self._next_due.get(name, NEVER):
                self._next_due[name] = due
                heapq.heappush(self._dues, (due, name))


def _retracted(step: Items | Command) -> tuple[str, str] | None:
    """The source and the id of what an item takes back."""
    if isinstance(step, Retract):
        return step.source, step.publication
    if isinstance(step, Command):
        return None
    replaced = step.batch.column("replaces")[0].as_py()
    return None if replaced is None else (step.batch.column("source")[0].as_py(), replaced)
