"""Timelines played tick by tick, plainly and in bulk: what shortlists show, what leaves them."""

from itertools import groupby

from shortlist.engine.admitted import Admitted
from shortlist.engine.attentive import AttentiveHalves
from shortlist.engine.departures import Return
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.mirror import Mirror
from shortlist.engine.ordering import Ordering
from shortlist.engine.plain import PlainHalves
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import registry_commands
from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan
from shortlist.model.command import Retract, Unsubscribe, Update
from shortlist.model.policy import Everything, TopK, policies_of, shows
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits, Settings
from shortlist.selection.base import Shown
from shortlist.selection.chain import ChainSelector
from shortlist.selection.everything import EverythingSelector
from tests.strategies import SECOND

TICK = SECOND // 2
"""Whatever happens in a drawn timeline, happens at a multiple of it."""
REST = 60
"""So many ticks after the last item all windows are empty, and what can end has ended."""


def let_in(items):
    """What an engine takes, in order of time; refused commands are still among it."""
    duplicates = Duplicates(Settings().dedup)
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


def admitted(halves, publication):
    read = halves.matching.read(publication)
    induced = halves.matching.advertisements.induce(publication, read)
    return [Admitted(publication, read, induced)]


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
    )


def showing_in(halves):
    """The live shortlists that show anything."""
    return {name for name, made in live_in(halves).items() if shows(made.policy)}


def begun(halves, registry):
    for command in registry_commands(registry):
        halves.apply(command)
    return halves


def in_bulk(registry):
    index = Index(registry.vocabulary, Limits())
    return begun(AttentiveHalves(registry.vocabulary, Limits(), index), registry)


def restored(halves):
    """Other halves with the same state."""
    saved = Saved.of_bytes(Saving(halves, Duplicates(0), Ordering(None)).snapshot())
    registry = registry_from_documents(saved.document["registry"])
    again = in_bulk(registry)
    Saving(again, Duplicates(0), Ordering(None)).load(saved)
    return again


def plain(registry):
    matcher = Scan(registry.vocabulary, Limits())
    return begun(PlainHalves(registry.vocabulary, Limits(), matcher), registry)


class Reflection:
    """Halves in bulk with a mirror, and a client that hears of deliveries and changes only."""

    def __init__(self, registry):
        self.halves = in_bulk(registry)
        self.mirror = Mirror(self.halves, 0)
        self.client = {}
        self.changes = []

    def play(self, time, items):
        """All that happens at a tick; nothing is due between ticks."""
        for item in items:
            if isinstance(item, Publication):
                block = admitted(self.halves, item)
                self._hear(lambda block=block: self._made(self.mirror.placed(block)))
            elif self.halves.matching.roster.refusal(item) is None:
                self._hear(lambda item=item: self.mirror.apply(item))
        self._hear(lambda: self._made(self.mirror.due(time + 1)))
        for change in self.mirror.taken():
            self.changes.append(change)
            shown = self.client.setdefault(change.shortlist, {})
            if isinstance(change, Return):
                shown[key_of(change.entry.publication)] = change.entry.publication
            else:
                del shown[key_of(change.publication)]

    def restore(self, before):
        self.halves = restored(self.halves)
        self.mirror = Mirror(self.halves, before)

    def _made(self, placements):
        return self.halves.deliveries(placements)

    def _hear(self, happens):
        """A client knows which of its shortlists show anything."""
        showing = showing_in(self.halves)
        for made in happens():
            if made.shortlist in showing:
                shown = self.client.setdefault(made.shortlist, {})
                shown[key_of(made.publication)] = made.publication


class PlainReflection:
    """The same told by comparing what is shown before and after everything that happens."""

    def __init__(self, registry):
        self.halves = plain(registry)
        self.shown = self._present(0)
        self.changes = []
        self._known = {}

    def play(self, time, items):
        self._left, self._returned = {}, set()
        for item in items:
            if isinstance(item, Publication):
                self._known[key_of(item)] = item
                block = admitted(self.halves, item)
                self._look(time, item, lambda block=block: self.halves.publish(block))
            elif self.halves.matching.roster.refusal(item) is None:
                self._look(time, item, lambda item=item: self.halves.apply(item))
        self._look(time, None, lambda: self.halves.advance(time + 1))
        changes = [(time, name, key, reason) for (name, key), reason in self._left.items()]
        changes += [(time, name, key, facts(self.shown[name][key])) for name, key in self._returned]
        self.changes += sorted(
            changes, key=lambda change: (self._known[change[2]].position, change[1])
        )

    def _present(self, now):
        selector = self.halves.selecting.selector
        return {
            name: {key_of(one.publication): one for one in selector(name).shown(now)}
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
        last = [each for each in policies_of(policy) if not isinstance(each, Everything)][-1]
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
            *_, selecting = (
                each for each in selecting._policies if not isinstance(each, EverythingSelector)
            )
        return {key_of(held.candidate.publication) for held in selecting._recent}
