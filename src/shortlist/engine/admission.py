"""Admission: items in; admitted, refused and waiting out.

It owns the time of items, order, lateness, duplicates, advertisements and which commands are
allowed. It passes on only what lies in the past, so that nothing which comes later can belong
before it, or to the same instant.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.engine.arrivals import Arrivals, ahead_by
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.inducements import Inducements
from shortlist.engine.mentions import Mentions
from shortlist.engine.ordering import Ordering, late_by
from shortlist.engine.quarantine import PREFIX, Harmful, Quarantine, Quarantined, blaming
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import LineReader, with_wanted
from shortlist.intake.roster import Roster, not_in_quarantine, registry_commands
from shortlist.model.command import Advertise, Command, Define, Drop, Retry, Unadvertise
from shortlist.model.items import BLANK, COMMAND, HEARTBEAT, PUBLICATION, REJECT, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.times import END_OF_TIME
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Inducement

Why = Literal["unreadable", "late", "ahead", "duplicate", "unadvertised", "refused", "quarantined"]


class Refusal(NamedTuple):
    """An item that was turned away."""

    position: int | None
    line: str
    reason: str
    why: Why

    @property
    def order(self) -> tuple[int, str]:
        """As refusals are told; what has no position comes first."""
        return -1 if self.position is None else self.position, self.line


class Accepted(NamedTuple):
    """A publication that is not to come again."""

    time: int
    source: str
    id: str


@dataclass(slots=True)
class Admitted:
    """What a batch of items led to."""

    items: Items = field(default_factory=Items.empty)
    """Publications and commands that were let in, in order. `reach` is how far a publisher
    reaches at most, `advertisement` whose score decides, `shortlist` the only one that a command
    concerns."""
    commands: dict[int, Command] = field(default_factory=dict)
    """Those among them, by position."""
    refusals: list[Refusal] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    """What was put aside."""
    released: list[int] = field(default_factory=list)
    """The positions of what was, and arrives anew or is forgotten."""
    waiting: Items = field(default_factory=Items.empty)
    """What came with this batch and is not passed on yet."""
    until: int | None = None
    """Everything before this instant is known."""
    counts: Counter[str] = field(default_factory=Counter)


class _Decided:
    """Items that are decided about one after the other, and what was decided."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self.is_in = np.ones(len(items), np.bool_)
        self.reaches: list[Inducement | None] = [None] * len(items)
        self.shortlists: list[str | None] = [None] * len(items)

    def let_in(self) -> Items:
        """Those that are let in, with what was decided about them."""
        reaches = self.reaches
        return self.items.with_columns(
            reach=pa.array([limit and limit.k for limit in reaches], pa.int64()),
            advertisement=pa.array(
                [limit and limit.advertisement for limit in reaches], pa.string()
            ),
            shortlist=pa.array(self.shortlists, pa.string()),
        ).kept(self.is_in)


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
        self, registry: Registry, settings: Settings, *, waits_for_ties: bool = True
    ) -> None:
        self._settings = settings
        self.arrivals = Arrivals()
        # along the offsets of a log arrivals never decrease: nothing is late
        lateness = 0 if settings.time == "arrival" else settings.lateness
        self.ordering = Ordering(lateness, waits_for_ties=waits_for_ties)
        self.duplicates = Duplicates(settings.dedup)
        self.roster = Roster(registry.vocabulary, settings.limits)
        self._inducements = Inducements(self.roster.vocabulary, settings.limits)
        self._mentions = Mentions(registry.vocabulary, settings.limits)
        self._reader = ItemReader(registry.vocabulary, settings.limits.for_what_was_read())
        self.quarantine = Quarantine()
        self.harmful: Mapping[int, str] = {}
        """Items that are put aside without a further look, by position, and why."""
        for command in registry_commands(registry):
            self.follow(command)

    @property
    def vocabulary(self) -> Vocabulary:
        """As it is now."""
        return self.roster.vocabulary

    @property
    def wanted(self) -> Wanted:
        """What the live registry has to know of publications, and what those that wait tell."""
        waiting = self.ordering.waiting
        wanted = self._mentions.wanted
        return wanted if waiting is None else wanted.joined(waiting.told)

    def wanted_with(self, commands: Iterable[Command]) -> Wanted:
        """The same once commands are carried out."""
        wanted = self.wanted
        for command in commands:
            with blaming(command.position):
                wanted = wanted.joined(self._mentions.of_command(command))
        return wanted

    def wanted_of(self, commands: Items) -> Wanted:
        """What commands ask for, whether they are allowed or not."""
        columns = commands.values("line"), commands.positions.tolist(), commands.times.tolist()
        return self.wanted_with(map(self._command, *columns))

    def reader(self, *, commands: bool = True, tabular: bool = False) -> LineReader:
        """For the lines of the next items."""
        limits = self._settings.limits
        by_arrival = self._settings.time == "arrival"
        return LineReader(
            self.vocabulary, limits, self.wanted, commands, tabular, by_arrival=by_arrival
        )

    def registry(self) -> Registry:
        """What is live now."""
        return self.roster.registry()

    def follow(self, command: Command) -> None:
        """Carries out a command that was not refused."""
        self._mentions.apply(command, self.roster)
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
        decided = _Decided(items)
        is_apart = items.kinds == COMMAND
        if self.harmful:
            is_apart |= np.isin(items.positions, [*self.harmful])
        first = 0
        for at in [*np.flatnonzero(is_apart).tolist(), len(items)]:
            if first < at:
                some = decided.items.between(first, at)
                decided.reaches[first:at], decided.is_in[first:at] = self._let_in_publications(
                    some, found
                )
            if at < len(items):
                self._let_in_one(decided, at, commands or {}, found)
            first = at + 1
        found.items = decided.let_in()

    def _let_in_one(
        self, decided: "_Decided", at: int, known: Mapping[int, Command], found: Admitted
    ) -> None:
        """Decides about a command, or about what comes again or is harmful."""
        position, time = int(decided.items.positions[at]), int(decided.items.times[at])
        command = self._command_at(decided.items, at, known)
        decided.is_in[at] = False
        is_again = isinstance(command, Retry)
        if isinstance(command, Retry | Drop):
            item = self.quarantine.take(command.quarantined)
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
        one = decided.items.between(at, at + 1)
        if position in self.harmful:
            self._set_aside(one, self.harmful[position], found)
        elif decided.items.kinds[at] == REJECT:
            self._refuse_all(one, one.values("reason"), "unreadable", found)
        elif command is None:
            reaches, is_in = self._let_in_publications(one, found, is_again=is_again)
            decided.reaches[at], decided.is_in[at] = reaches[0], is_in[0]
        else:
            with blaming(position):
                refusal = self.roster.refusal(command)
                if refusal is not None:
                    self._refuse_all(one, [refusal], "refused", found)
                    return
                decided.is_in[at] = True
                decided.shortlists[at] = self.roster.shortlist_of(command)
                found.commands[position] = command
                found.counts["commands"] += 1
                self.follow(command)
                decided.items = with_wanted(decided.items, self.wanted)

    def _command_at(self, items: Items, at: int, known: Mapping[int, Command]) -> Command | None:
        """The command that an item is; None if it is none, or is harmful and cannot be read."""
        if items.kinds[at] != COMMAND:
            return None
        position, line = int(items.positions[at]), items.batch.column("line")[at].as_py()
        try:
            with blaming(position):
                return known.get(position) or self._command(line, position, int(items.times[at]))
        except Harmful:
            if position in self.harmful:
                return None
            raise

    def _read_again(
        self, item: Quarantined, position: int, time: int, items: Items, at: int
    ) -> Items:
        """Items, at one place of which what was put aside arrives anew."""
        limits = self._settings.limits.for_what_was_read()
        read = LineReader(self.vocabulary, limits, items.told, by_arrival=True)
        again = read.lines([position], [item.line.encode()], [time])
        return Items.joined([items.between(0, at), again, items.between(at + 1, len(items))])

    def _set_aside(self, one: Items, reason: str, found: Admitted) -> None:
        """Into quarantine; the id of a publication stays taken."""
        (position,), (time,) = one.positions.tolist(), one.times.tolist()
        (source,), (name,), (line,) = (one.values(each) for each in ("source", "id", "line"))
        item = Quarantined(position, time, line or "", reason)
        self.quarantine.put(item)
        found.quarantined.append(item)
        self._refuse_all(one, [f"{PREFIX}{reason}"], "quarantined", found)
        if one.kinds[0] == PUBLICATION:
            self.duplicates.accept(source, name, time)
            found.accepted.append(Accepted(time, source, name))

    def _let_in_publications(
        self, publications: Items, found: Admitted, *, is_again: bool = False
    ) -> tuple[list[Inducement | None], list[bool]]:
        """Of each publication what its publisher may reach, and whether it is let in; what comes
        again is known, and no duplicate."""
        limits, is_in = self._induced(publications), [True] * len(publications)
        times = publications.times.tolist()
        columns = zip(
            times,
            publications.values("source"),
            publications.values("id"),
            publications.values("expiry"),
            limits,
            strict=True,
        )
        must = self._settings.advertised == "required"
        seen, accepted = self.duplicates, found.accepted
        published = dead = 0
        refused: dict[int, Why] = {}
        for at, (time, source, name, expiry, limit) in enumerate(columns):
            is_dead = expiry is not None and expiry <= time
            if not is_again and seen.is_repeated(source, name, time):
                refused[at] = "duplicate"
            elif must and limit is None and not is_dead:
                refused[at] = "unadvertised"
            else:
                seen.accept(source, name, time)
                accepted.append(Accepted(time, source, name))
                published += not is_dead
                if is_dead:
                    dead += 1
                    limits[at] = None
                    is_in[at] = publications.batch.column("replaces")[at].is_valid
        for at, why in refused.items():
            is_in[at], limits[at] = False, None
            one = publications.between(at, at + 1)
            self._refuse_all(one, [why], why, found)
        found.counts["published"] += published
        found.counts["dead on arrival"] += dead
        return limits, is_in

    def _induced(self, publications: Items) -> list[Inducement | None]:
        """What advertisements say of publications; who is to blame where nobody can say."""
        try:
            return [*self._inducements.of(publications)]
        except OSError:
            raise
        except Exception:
            for at, position in enumerate(publications.positions.tolist()):
                with blaming(position):
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
        if not self._settings.asks_the_log:
            return items
        if self._settings.time == "arrival":
            times = self.arrivals.taken(items.times, items.kinds == HEARTBEAT)
            return items.with_columns(time=pa.array(times))
        # what no log has taken is not ahead of anything
        recorded = np.array(items.numbers("appended", END_OF_TIME))
        is_known = recorded < END_OF_TIME
        nobody = np.zeros(int(is_known.sum()), np.bool_)
        recorded[is_known] = self.arrivals.taken(recorded[is_known], nobody)
        is_ahead = items.times - recorded > (self._settings.ahead or 0)
        if is_ahead.any():
            ahead = items.kept(is_ahead)
            reasons = ahead_by(ahead.times, recorded[is_ahead])
            self._refuse_all(ahead, reasons, "ahead", found)
        return items.kept(~is_ahead)

    def _commands_at(self, items: Items, known: Mapping[int, Command]) -> dict[int, Command]:
        """Commands that are known already, with the times that count."""
        if not known or self._settings.time == "event":
            return dict(known)
        times = dict(zip(items.positions.tolist(), items.times.tolist(), strict=True))
        return {at: replace(one, time=times[at]) for at, one in known.items() if at in times}

    def _completed(self, items: Items, known: dict[int, Command]) -> Items:
        """Items, and those that wait, with all that is wanted once their commands are followed."""
        commands = items.kept(items.kinds == COMMAND)
        columns = commands.positions.tolist(), commands.values("line"), commands.times.tolist()
        for position, line, time in zip(*columns, strict=True):
            if position not in known and position not in self.harmful:
                with blaming(position):
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
