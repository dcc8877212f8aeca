"""Admission: items in; admitted, refused and waiting out.

It owns the time of items, order, lateness, duplicates, advertisements and which commands are
allowed. It passes on only what lies in the past, so that nothing which comes later can belong
before it, or to the same instant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial, reduce

import numpy as np
import pyarrow as pa

from shortlist.engine.admitted import ACCEPTED, Admitted, Decided, Handover, Refusal, Why
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.inducements import Inducements
from shortlist.engine.mentions import Mentions
from shortlist.engine.ordering import Arrivals, Ordering, ahead_by, late_by
from shortlist.engine.quarantine import PREFIX, Blaming, Harmful, Quarantined
from shortlist.intake.columns import RegistryColumns
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import LineReader, with_wanted
from shortlist.intake.roster import Roster, not_in_quarantine, registry_commands
from shortlist.matching.arrays import Bools
from shortlist.matching.index.storage import Parts
from shortlist.model.command import (
    Advertise,
    Command,
    Define,
    Drop,
    Retry,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    Update,
)
from shortlist.model.items import BLANK, COMMAND, HEARTBEAT, PUBLICATION, REJECT, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.times import END_OF_TIME
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Inducement

CUTTING = (Advertise, Unadvertise, Define, Retry, Drop)
"""Commands that matter to publications before they are matched."""


class Admission:
    """Pure and deterministic.

    >>> from shortlist.intake.reading import LineReader
    >>> admission = Admission(Registry(), Settings(lateness=0))
    >>> line = b'{"id": "n1", "source": "cinema", "time": "1970-01-01T00:00:05Z"}'
    >>> later = b'{"time": "1970-01-01T00:00:06Z", "heartbeat": true}'
    >>> read = admission.reader()
    >>> len(admission.admit(read.lines([1], [line])).items)
    0
    >>> admission.admit(read.lines([2], [later])).items.values("id")
    ['n1']
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        *,
        waits_for_ties: bool = True,
        columns: RegistryColumns | None = None,
        mentions: Parts | None = None,
    ) -> None:
        """With the registry alone, or with columns beside it, and what these mention."""
        self.settings = settings
        self.arrivals = Arrivals()
        # along the offsets of a log arrivals never decrease: nothing is late
        lateness = 0 if settings.time == "arrival" else settings.lateness_micros
        self.ordering = Ordering(lateness, waits_for_ties=waits_for_ties)
        self.duplicates = Duplicates(settings.dedup_micros)
        live = None if columns is None else columns.live()
        self.roster = Roster(registry.vocabulary, settings.limits, live)
        accepted = settings.limits.for_what_was_read()
        self._inducements = Inducements(self.roster.vocabulary, accepted)
        self.mentions = Mentions(registry.vocabulary, accepted)
        self._reader = ItemReader(registry.vocabulary, accepted, again=True)
        self.quarantine: dict[int, Quarantined] = {}
        """What is put aside at present, by position."""
        self.harmful: Mapping[int, str] = {}
        """Items that are put aside without a further look, by position, and why."""
        self.over_limits: Mapping[int, str] = {}
        """Updates that a deployment refused for a limit of its own, by position, and why: a replay
        refuses them again, whatever its limits are."""
        for command in registry_commands(registry):
            self.follow(command)
        if mentions is not None:
            self.mentions.load(mentions)

    @property
    def vocabulary(self) -> Vocabulary:
        """As it is now."""
        return self.roster.vocabulary

    @property
    def wanted(self) -> Wanted:
        """What the live registry has to know of publications, and what those that wait tell."""
        waiting = self.ordering.waiting
        wanted = self.mentions.wanted
        return wanted if waiting is None else wanted.joined(waiting.told)

    def wanted_with(self, commands: Iterable[Command]) -> Wanted:
        """The same once commands are carried out."""
        different = {self.wanted}
        for command in commands:
            with Blaming(command.position):
                different.add(self.mentions.of_command(command))
        return reduce(Wanted.joined, different)

    def wanted_of(self, commands: Items) -> Wanted:
        """What commands ask for, whether they are allowed or not."""
        columns = commands.values("line"), commands.positions.tolist(), commands.times.tolist()
        return self.wanted_with(map(self._command, *columns))

    def reader(self) -> LineReader:
        """For the lines of the next items."""
        how = self.vocabulary, self.settings.limits, self.wanted
        return LineReader(*how, by_arrival=self.settings.time == "arrival")

    def follow(self, command: Command) -> None:
        """Carries out a command that was not refused."""
        self.mentions.apply(command, self.roster)
        if isinstance(command, Define):
            advertisements = self.roster.concerned(command).advertisements
            self._inducements.define(advertisements, partial(self.roster.apply, command))
            return
        match command:
            case Advertise(advertisement=advertisement):
                self._inducements.add(advertisement)
            case Unadvertise(advertisement=name):
                self._inducements.remove(name)
        self.roster.apply(command)

    def admit(
        self, items: Items, commands: Mapping[int, Command] | None = None, last: bool = False
    ) -> Admitted:
        """Takes the next items of the input, in order of position; after the `last` ones nothing
        waits any more. Commands that are known already need not be read."""
        found = Admitted()
        items = self._timed(self._readable(items, found), found)
        reached = self.ordering.reached_before(items.times)
        is_late = items.times < reached
        if is_late.any():
            late = items.kept(is_late)
            reasons = late_by(late.times, reached[is_late])
            self._refuse_all(late, reasons, "late", found)
        items = items.kept(~is_late & (items.kinds != HEARTBEAT))
        came = {*items.positions.tolist()}
        known = self._commands_at(items, commands or {})
        passed = self.ordering.passed(self._completed(items, known), last)
        found.until = END_OF_TIME if last else self.ordering.reached
        if self.ordering.waiting is not None:
            positions = self.ordering.waiting.positions
            found.waiting = self.ordering.waiting.kept(np.isin(positions, [*came]))
        self.let_in(passed, found, known)
        return found

    def let_in(
        self, items: Items, found: Admitted, commands: Mapping[int, Command] | None = None
    ) -> None:
        """Decides about items that come in order, whatever else comes later."""
        decided, known, refused = Decided(items), commands or {}, len(found.refusals)
        is_left = items.kinds != COMMAND
        """Publications that are not decided about yet."""
        is_apart = ~is_left
        if self.harmful:
            is_apart |= np.isin(items.positions, [*self.harmful])
        for at in np.flatnonzero(is_apart).tolist():
            command = self._command_at(decided.items, at, known)
            if int(items.positions[at]) in self.harmful or isinstance(command, CUTTING):
                self._let_in_all(decided, is_left, at, found)
                is_left[at] = False
            self._let_in_one(decided, at, command, known, found)
        self._let_in_all(decided, is_left, len(items), found)
        found.items = decided.let_in()
        if len(found.refusals) > refused + 1:
            place = dict(zip(items.positions.tolist(), range(len(items)), strict=True))
            found.refusals[refused:] = sorted(
                found.refusals[refused:], key=lambda refusal: place[refusal.position or 0]
            )

    def _let_in_all(self, decided: Decided, is_left: Bools, end: int, found: Admitted) -> None:
        """Decides about the publications up to a place that are left."""
        places = np.flatnonzero(is_left[:end])
        if not places.size:
            return
        is_left[:end] = False
        some = decided.items.between(int(places[0]), end)
        reaches, is_in = self._let_in_publications(some.kept(some.kinds != COMMAND), found)
        decided.is_in[places] = is_in
        for place, limit in zip(places.tolist(), reaches, strict=True):
            decided.reaches[place] = limit

    def _let_in_one(
        self,
        decided: Decided,
        at: int,
        command: Command | None,
        known: Mapping[int, Command],
        found: Admitted,
    ) -> None:
        """Decides about a command, or about what comes again or is harmful."""
        position, time = int(decided.items.positions[at]), int(decided.items.times[at])
        decided.is_in[at] = False
        is_again = isinstance(command, Retry)
        if isinstance(command, Retry | Drop):
            item = self.quarantine.pop(command.quarantined, None)
            if item is None:
                reason = not_in_quarantine(command.quarantined)
                self._refuse_all(decided.items.between(at, at + 1), [reason], "refused", found)
                return
            found.released.append(item.position)
            if not is_again:
                found.counts["commands"] += 1
                return
            decided.items = self._read_again(item, position, time, decided.items, at)
            command = self._command_at(decided.items, at, {})
        if command is not None and position not in self.harmful:
            with Blaming(position):
                self._let_in_command(decided, at, command, found)
                if is_again or position not in known:  # nobody knew before that it would come
                    decided.items = with_wanted(decided.items, self.wanted)
            return
        one = decided.items.between(at, at + 1)
        if position in self.harmful:
            self._set_aside(one, self.harmful[position], found)
        elif decided.items.kinds[at] == REJECT:
            self._refuse_all(one, one.values("reason"), "unreadable", found)
        else:
            reaches, is_in = self._let_in_publications(one, found, is_again=is_again)
            decided.reaches[at], decided.is_in[at] = reaches[0], is_in[0]

    def _let_in_command(self, decided: Decided, at: int, command: Command, found: Admitted) -> None:
        refusal = self.over_limits.get(command.position) or self.roster.refusal(command)
        if refusal is not None:
            self._refuse_all(decided.items.between(at, at + 1), [refusal], "refused", found)
            return
        decided.is_in[at] = True
        shortlist = decided.shortlists[at] = self.roster.shortlist_of(command)
        found.commands[command.position] = command
        found.counts["commands"] += 1
        before = self._holder(shortlist, command)
        self.follow(command)
        after = self._holder(shortlist, command)
        if shortlist is not None and before != after:
            found.handovers.append(Handover(command.time, command.position, shortlist, after))

    def _holder(self, shortlist: str | None, command: Command) -> str | None:
        """Return the subscriber of a shortlist, where a command may change it; None if not live."""
        match command:
            case Update(changes=changes) if "subscriber" not in changes:
                return None
            case Subscribe(subscription=made) if made.shortlist is not None:
                return None
            case Unsubscribe(subscription=name) if name != shortlist:
                return None
        live = None if shortlist is None else self.roster.shortlists.get(shortlist)
        return None if live is None else live.subscriber

    def _command_at(self, items: Items, at: int, known: Mapping[int, Command]) -> Command | None:
        """The command that an item is; None if it is none, or is harmful and cannot be read."""
        if items.kinds[at] != COMMAND:
            return None
        position = int(items.positions[at])
        if position in known:
            return known[position]
        line, time = items.batch.column("line")[at].as_py(), int(items.times[at])
        try:
            with Blaming(position):
                return self._command(line, position, time)
        except Harmful:
            if position in self.harmful:
                return None
            raise

    def _read_again(
        self, item: Quarantined, position: int, time: int, items: Items, at: int
    ) -> Items:
        """Items, at one place of which what was put aside arrives anew."""
        limits = self.settings.limits.for_what_was_read()
        read = LineReader(self.vocabulary, limits, items.told, by_arrival=True)
        again = read.lines([position], [item.line.encode()], [time])
        return Items.joined([items.between(0, at), again, items.between(at + 1, len(items))])

    def _set_aside(self, one: Items, reason: str, found: Admitted) -> None:
        """Into quarantine; the id of a publication stays taken."""
        (position,), (time,) = one.positions.tolist(), one.times.tolist()
        (source,), (name,), (line,) = (one.values(each) for each in ("source", "id", "line"))
        item = Quarantined(position, time, line or "", reason)
        self.quarantine[position] = item
        found.quarantined.append(item)
        self._refuse_all(one, [f"{PREFIX}{reason}"], "quarantined", found)
        if one.kinds[0] == PUBLICATION:
            self.duplicates.accept(source, name, time)
            found.accepted.append(one.batch.select(ACCEPTED.names))

    def _let_in_publications(
        self, publications: Items, found: Admitted, *, is_again: bool = False
    ) -> tuple[list[Inducement | None], Bools]:
        """Of each publication what its publisher may reach, and whether it is let in; what comes
        again is known, and no duplicate."""
        limits, times = self._induced(publications), publications.times.tolist()
        is_dead = publications.is_dead
        is_in = np.ones(len(publications), np.bool_)
        if self.settings.advertised == "required":
            is_in = is_dead | np.array([limit is not None for limit in limits], np.bool_)
        named = publications.values("source"), publications.values("id"), times
        if is_again:
            for source, name, time, is_let_in in zip(*named, is_in.tolist(), strict=True):
                if is_let_in:
                    self.duplicates.accept(source, name, time)
            is_repeated = np.zeros_like(is_in)
        else:
            is_repeated = self.duplicates.repeated(*named, is_in)
        is_accepted = is_in & ~is_repeated
        for at in np.flatnonzero(~is_accepted).tolist():
            why: Why = "duplicate" if is_repeated[at] else "unadvertised"
            self._refuse_all(publications.between(at, at + 1), [why], why, found)
        found.accepted.append(publications.kept(is_accepted).batch.select(ACCEPTED.names))
        found.counts["published"] += int((is_accepted & ~is_dead).sum())
        found.counts["dead on arrival"] += int((is_accepted & is_dead).sum())
        # one that is dead may still replace another
        replaces = np.asarray(publications.batch.column("replaces").is_valid())
        is_in = is_accepted & (~is_dead | replaces)
        for at in np.flatnonzero(~is_accepted | is_dead).tolist():
            limits[at] = None
        return limits, is_in

    def _induced(self, publications: Items) -> list[Inducement | None]:
        """What advertisements say of publications; who is to blame where nobody can say."""
        try:
            return [*self._inducements.of(publications)]
        except OSError:
            raise
        except Exception:
            for at, position in enumerate(publications.positions.tolist()):
                with Blaming(position):
                    self._inducements.of(publications.between(at, at + 1))
            raise

    def _readable(self, items: Items, found: Admitted) -> Items:
        kinds = items.kinds
        if (kinds < REJECT).all():
            return items
        bad = items.kept(kinds == REJECT)
        reasons = [reason or "" for reason in bad.values("reason")]
        self._refuse_all(bad, reasons, "unreadable", found)
        return items.kept((kinds != REJECT) & (kinds != BLANK))

    def _timed(self, items: Items, found: Admitted) -> Items:
        """Items with the times that count; what is too far ahead of the log's clock is refused,
        and moves no time."""
        if not self.settings.asks_the_log:
            return items
        if self.settings.time == "arrival":
            times = self.arrivals.taken(items.times, items.kinds == HEARTBEAT)
            return items.with_columns(time=pa.array(times))
        # what no log has taken is not ahead of anything
        recorded = np.array(items.numbers("appended", END_OF_TIME))
        is_known = recorded < END_OF_TIME
        nobody = np.zeros(int(is_known.sum()), np.bool_)
        recorded[is_known] = self.arrivals.taken(recorded[is_known], nobody)
        is_ahead = items.times - recorded > (self.settings.ahead_micros or 0)
        if is_ahead.any():
            ahead = items.kept(is_ahead)
            reasons = ahead_by(ahead.times, recorded[is_ahead])
            self._refuse_all(ahead, reasons, "ahead", found)
        return items.kept(~is_ahead)

    def _commands_at(self, items: Items, known: Mapping[int, Command]) -> dict[int, Command]:
        """Commands that are known already, with the times that count."""
        known = {at: one for at, one in known.items() if at not in self.harmful}
        if not known or self.settings.time == "event":
            return known
        times = dict(zip(items.positions.tolist(), items.times.tolist(), strict=True))
        return {
            at: one if one.time == times[at] else replace(one, time=times[at])
            for at, one in known.items()
            if at in times
        }

    def _completed(self, items: Items, known: dict[int, Command]) -> Items:
        """Items, and those that wait, with all that is wanted once their commands are followed."""
        commands = items.kept(items.kinds == COMMAND)
        columns = commands.positions.tolist(), commands.values("line"), commands.times.tolist()
        for position, line, time in zip(*columns, strict=True):
            if position not in known and position not in self.harmful:
                with Blaming(position):
                    known[position] = self._command(line or "", position, time)
        wanted = self.wanted_with(known.values()).joined(items.told)
        if self.ordering.waiting is not None:
            self.ordering.waiting = with_wanted(self.ordering.waiting, wanted)
        return with_wanted(items, wanted)

    def _command(self, line: str, position: int, time: int) -> Command:
        command = self._reader.line(line, position, time)
        assert isinstance(command, Command)
        return command

    @staticmethod
    def _refuse_all(items: Items, reasons: Iterable[str], why: Why, found: Admitted) -> None:
        for position, line, reason in zip(
            items.values("position"), items.values("line"), reasons, strict=True
        ):
            found.refusals.append(Refusal(position, line or "", reason, why))
