"""The gate: what comes to a deployment, in order of time, told apart from what is turned away.

It passes on only what lies in the past, so that nothing which comes later can belong before it, or
to the same instant.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shortlist.engine.duplicates import Duplicates
from shortlist.engine.engine import END_OF_TIME
from shortlist.engine.ordering import Late, Ordering
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster, registry_commands
from shortlist.matching.values import Values
from shortlist.model.command import Advertise, Command, Heartbeat, Unadvertise
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.selection.audience import Advertisements, Inducement

Why = Literal["unreadable", "late", "duplicate", "unadvertised", "refused", "poisoned"]


class Arrived(NamedTuple):
    """A line that could be read."""

    position: int
    kind: str
    """`publication` or `command`."""
    time: int
    source: str | None
    id: str | None
    dead: bool | None
    line: str


class Refusal(NamedTuple):
    """A line that was turned away."""

    position: int | None
    line: str
    reason: str
    why: Why


class Passed(NamedTuple):
    """An item on its way to the shards."""

    time: int
    position: int
    kind: str
    shortlist: str | None
    """The only one that a command concerns."""
    audience: int | None
    advertisement: str | None
    line: str


class Accepted(NamedTuple):
    """A publication that is not to come again."""

    time: int
    source: str
    id: str


@dataclass(slots=True)
class Admission:
    """What a batch of lines led to."""

    passed: list[Passed] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    commands: list[tuple[int, str | None, str]] = field(default_factory=list)
    """Those that were carried out: position, the only shortlist that they concern, line."""
    waiting: list[Arrived] = field(default_factory=list)
    """What came with this batch and is not passed on yet."""
    until: int | None = None
    """Everything before this instant is known."""
    counts: Counter[str] = field(default_factory=Counter)


class Gate:
    """Pure and deterministic, as the engine is.

    >>> gate = Gate(Registry(), Settings(lateness=0))
    >>> line = '{"id": "n1", "source": "cinema", "time": "1970-01-01T00:00:05Z"}'
    >>> first = Arrived(1, "publication", 5_000_000, "cinema", "n1", False, line)
    >>> gate.admit([first]).passed
    []
    >>> later = Arrived(2, "command", 6_000_000, None, None, None,
    ...                 '{"time": "1970-01-01T00:00:06Z", "heartbeat": true}')
    >>> [passed.position for passed in gate.admit([later]).passed]
    [1]
    """

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._settings = settings
        self.vocabulary = registry.vocabulary
        self.ordering: Ordering[Arrived] = Ordering(settings.lateness)
        self._duplicates = Duplicates(settings.dedup)
        self.roster = Roster(registry.vocabulary, settings.limits)
        self._advertisements = Advertisements(registry.vocabulary, settings.limits)
        self._reader = ItemReader(registry.vocabulary, settings.limits.for_what_was_read())
        self._values = Values(registry.vocabulary)
        for command in registry_commands(registry):
            self._carry_out(command)

    def admit(self, arriving: Iterable[Arrived], last: bool = False) -> Admission:
        """Takes the next lines of the input; after the `last` ones nothing waits any more."""
        found = Admission()
        came = []
        for arrived in arriving:
            try:
                if self._is_heartbeat(arrived):
                    self.ordering.reach(arrived.time)
                    continue
                self.ordering.push(arrived)
                came.append(arrived)
            except Late as late:
                found.refusals.append(Refusal(arrived.position, arrived.line, str(late), "late"))
        for arrived in self.ordering.rest() if last else self.ordering.passed():
            self._let_in(arrived, found)
        found.until = END_OF_TIME if last else self.ordering.reached
        if not last:
            found.waiting = [one for one in came if found.until is None or one.time >= found.until]
        return found

    def recall(
        self,
        latest: int | None,
        reached: int | None,
        waiting: list[Arrived],
        accepted: Iterable[Accepted],
    ) -> None:
        """What was known when somebody else was the gate."""
        self.ordering.restore(latest, waiting, reached)
        for time, source, name in accepted:
            self._duplicates.accept(source, name, time)

    def registry(self) -> Registry:
        """What is live now."""
        return self.roster.registry(self.vocabulary)

    def follow(self, position: int, line: str) -> None:
        """Carries out a command that was let in before."""
        command = self._reader.line(line, position)
        assert isinstance(command, Command)
        self._carry_out(command)

    def _is_heartbeat(self, arrived: Arrived) -> bool:
        """A heartbeat tells the time, and need not wait for it to pass."""
        return (
            arrived.kind == "command"
            and '"heartbeat"' in arrived.line
            and isinstance(self._reader.line(arrived.line, arrived.position), Heartbeat)
        )

    def _let_in(self, arrived: Arrived, found: Admission) -> None:
        if arrived.kind == "command":
            self._let_in_command(arrived, found)
        else:
            found.passed += self._let_in_publication(arrived, found)

    def _let_in_command(self, arrived: Arrived, found: Admission) -> None:
        command = self._reader.line(arrived.line, arrived.position)
        assert isinstance(command, Command)
        refusal = self.roster.refusal(command)
        if refusal is not None:
            found.refusals.append(Refusal(arrived.position, arrived.line, refusal, "refused"))
            return
        found.counts["commands"] += 1
        shortlist = self.roster.shortlist_of(command)
        found.passed.append(
            Passed(arrived.time, arrived.position, "command", shortlist, None, None, arrived.line)
        )
        found.commands.append((arrived.position, shortlist, arrived.line))
        self._carry_out(command)

    def _let_in_publication(self, arrived: Arrived, found: Admission) -> Iterator[Passed]:
        time, source, name = arrived.time, arrived.source, arrived.id
        assert source is not None
        assert name is not None
        if self._duplicates.is_repeated(source, name, time):
            found.refusals.append(Refusal(arrived.position, arrived.line, "duplicate", "duplicate"))
            return
        induced = None if arrived.dead else self._induced(arrived)
        if not arrived.dead and induced is None and self._settings.advertised == "required":
            found.refusals.append(
                Refusal(arrived.position, arrived.line, "unadvertised", "unadvertised")
            )
            return
        self._duplicates.accept(source, name, time)
        found.accepted.append(Accepted(time, source, name))
        if arrived.dead:
            found.counts["dead on arrival"] += 1
            if self._publication(arrived).replaces is None:
                return
        else:
            found.counts["published"] += 1
        audience, advertisement = induced or (None, None)
        yield Passed(
            time, arrived.position, "publication", None, audience, advertisement, arrived.line
        )

    def _induced(self, arrived: Arrived) -> Inducement | None:
        if not self.roster.advertisements:
            return None
        publication = self._publication(arrived)
        return self._advertisements.induce(publication, self._values.of(publication))

    def _publication(self, arrived: Arrived) -> Publication:
        publication = self._reader.line(arrived.line, arrived.position)
        assert isinstance(publication, Publication)
        return publication

    def _carry_out(self, command: Command) -> None:
        match command:
            case Advertise(advertisement=advertisement):
                self._advertisements.add(advertisement)
            case Unadvertise(advertisement=name):
                self._advertisements.remove(name)
        self.roster.apply(command)
