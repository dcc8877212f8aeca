"""Timelines played tick by tick, plainly and in bulk: what shortlists show, what leaves them."""

from itertools import groupby

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.contents import Return
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.mirror import Mirror
from shortlist.engine.plain import PlainShard
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents
from shortlist.intake.reading import items_of
from shortlist.matching.scan import Scan
from shortlist.model.command import Command, Heartbeat, Retract, Unsubscribe, Update
from shortlist.model.items import Items, Wanted
from shortlist.model.policy import Everything, TopK, policies_of, shows
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits, Settings
from shortlist.selection.base import Shown
from shortlist.selection.chain import ChainSelector
from tests.strategies import SECOND

TICK = SECOND // 2
"""Whatever happens in a drawn timeline, happens at a multiple of it."""
REST = 60
"""So many ticks after the last item all windows are empty, and what can end has ended."""


def let_in(items):
    """What an engine takes, in order of time; refused commands are still among it."""
    duplicates = Duplicates(Settings().dedup_micros)
    for item in sorted(items, key=lambda item: (item.time, item.position)):
        if isinstance(item, Publication):
            if duplicates.is_repeated(item.source, item.id, item.time):
                continue
            duplicates.accept(item.source, item.id, item.time)
            if item.dead_on_arrival and item.replaces is None:
                continue
        yield item


def ticks(items):
    """Every tick from the first item on, with its items."""
    at = {time: [*some] for time, some in groupby(let_in(items), key=lambda item: item.time)}
    if at:
        for time in range(min(at), max(at) + REST * TICK, TICK):
            yield time, at.get(time, [])


def key_of(publication):
    return publication.source, publication.id


def live_in(halves):
    return halves.matching.roster.shortlists


def facts(entry):
    """What banks and plain selectors tell alike."""
    publication = entry.publication
    return (
        publication.source,
        publication.id,
        entry.subscription,
        entry.score,
        entry.possibility,
        entry.necessity,
        entry.rank,
        entry.until,
        entry.waiting,
    )


def showing_in(halves):
    """The live shortlists that show anything."""
    return {name for name, made in live_in(halves).items() if shows(made.policy)}


class Play:
    """A shard, bulk or plain, that takes items one by one as they are let in."""

    def __init__(self, registry, shard):
        self.shard = shard
        self._admission = Admission(registry, Settings())

    def take(self, item, observer=None):
        """The deliveries that an item leads to."""
        if isinstance(item, Heartbeat):
            return []
        commands = [item] if isinstance(item, Command) else []
        wanted = self._admission.wanted_with(commands).joined(Wanted(data=True))
        items, known = items_of([item], wanted)
        found = Admitted()
        self._admission.let_in(items, found, known)
        if isinstance(self.shard, PlainShard):
            return [*self.shard.run(found.items, found.commands)]
        return self._made(self.shard.run(found.items, found.commands, observer=observer))

    def advance(self, before, observer=None):
        """The deliveries that are due before an instant."""
        nothing = Items.empty()
        if isinstance(self.shard, PlainShard):
            return [*self.shard.run(nothing, until=before)]
        return self._made(self.shard.run(nothing, until=before, observer=observer))

    def restore(self):
        """Goes on with another shard of the same state."""
        saved = Saved.of_bytes(Saving(self.shard).saved().to_bytes())
        registry = registry_from_documents(saved.registry)
        self.shard = Shard(registry, Limits())
        Saving(self.shard).load(saved)

    def _made(self, placements):
        return [made for placed in placements for made in self.shard.objects(placed)]


def in_bulk(registry):
    return Play(registry, Shard(registry, Limits()))


def plain(registry):
    return Play(registry, PlainShard(registry, Limits(), Scan))


class Reflection:
    """A shard with a mirror, and a client that hears of deliveries and changes only."""

    def __init__(self, registry):
        self.playing = in_bulk(registry)
        self.mirror = Mirror(self.shard, 0)
        self.client = {}
        self.changes = []

    @property
    def shard(self):
        return self.playing.shard

    def play(self, time, items):
        """All that happens at a tick; nothing is due between ticks."""
        for item in items:
            self._hear(lambda item=item: self.playing.take(item, self.mirror))
        self._hear(lambda: self.playing.advance(time + 1, self.mirror))
        for change in self.mirror.taken():
            self.changes.append(change)
            shown = self.client.setdefault(change.shortlist, {})
            if isinstance(change, Return):
                shown[key_of(change.entry.publication)] = change.entry.publication
            else:
                del shown[key_of(change.publication)]

    def restore(self, before):
        self.playing.restore()
        self.mirror = Mirror(self.shard, before)

    def _hear(self, happens):
        """A client knows which of its shortlists show anything."""
        showing = showing_in(self.shard)
        for made in happens():
            if made.shortlist in showing:
                shown = self.client.setdefault(made.shortlist, {})
                shown[key_of(made.publication)] = made.publication


def showing_at(policy):
    """The place in a chain of the policy whose content is shown."""
    return [
        place
        for place, each in enumerate(policies_of(policy))
        if not isinstance(each, Everything) and not each.looks_through
    ][-1]


class PlainReflection:
    """The same told by comparing what is shown before and after everything that happens."""

    def __init__(self, registry):
        self.playing = plain(registry)
        self.halves = self.playing.shard
        self.shown = self._present(0)
        self.changes = []
        self._known = {}

    def play(self, time, items):
        self._left, self._returned = {}, set()
        for item in items:
            if isinstance(item, Publication):
                self._known[key_of(item)] = item
            elif self.halves.matching.roster.refusal(item) is not None:
                continue
            self._look(time, item, lambda item=item: self.playing.take(item))
        self._look(time, None, lambda: self.playing.advance(time + 1))
        changes = [(time, name, key, reason) for (name, key), reason in self._left.items()]
        changes += [(time, name, key, facts(self.shown[name][key])) for name, key in self._returned]
        self.changes += sorted(
            changes, key=lambda change: (self._known[change[2]].position, change[1])
        )

    def _present(self, now):
        selector = self.halves.selecting.selector
        return {
            name: {
                key_of(one.publication): one for one in selector(name).shown(now) if not one.waiting
            }
            for name in showing_in(self.halves)
        }

    def _look(self, time, item, happens):
        shown = self.shown
        policies = {name: made.policy for name, made in live_in(self.halves).items()}
        delivered = {}
        for made in happens():
            if made.shortlist in shown:
                delivered.setdefault(made.shortlist, {})[key_of(made.publication)] = made
        self.shown = self._present(time)
        for name in shown.keys() | self.shown.keys():
            known, after = delivered.get(name, {}) | shown.get(name, {}), self.shown.get(name, {})
            for key in known.keys() - after.keys():
                if (name, key) in self._returned:
                    self._returned.remove((name, key))
                else:
                    reason = self._reason(time, item, name, policies[name], key, known[key])
                    self._left[name, key] = reason
            for key in after.keys() - known.keys():
                if self._left.pop((name, key), None) is None:
                    self._returned.add((name, key))

    def _reason(self, time, item, name, policy, key, one):
        last = policies_of(policy)[showing_at(policy)]
        until = getattr(one, "until", None)
        if until is not None and until <= time:
            expires = isinstance(last, TopK) or until == self._known[key].expiry
            return "expired" if expires else "window"
        if name not in live_in(self.halves):
            return "closed"
        if isinstance(item, Update) and not kept_by(policy, live_in(self.halves)[name].policy):
            return "restarted"
        if isinstance(item, Retract) and (item.source, item.publication) == key:
            return "retracted"
        if isinstance(item, Publication) and (item.source, item.replaces) == key:
            return "retracted"
        if isinstance(item, Unsubscribe) and item.subscription == one.subscription:
            return "cancelled"
        was_shown = isinstance(one, Shown)
        if was_shown and isinstance(getattr(last, "window", None), int):
            return "outranked" if key in self._counted(name) else "window"
        return "outranked"

    def _counted(self, name):
        """The matches that a count window has not seen pushed out."""
        selecting = self.halves.selecting.selector(name)
        if isinstance(selecting, ChainSelector):
            policy = live_in(self.halves)[name].policy
            selecting = selecting._policies[showing_at(policy)]
        return {key_of(held.candidate.publication) for held in selecting._recent}
