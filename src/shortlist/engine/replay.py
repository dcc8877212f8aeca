"""A whole timeline through one engine, without Spark: for tests, questions and small jobs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from shortlist.engine.engine import Engine, Result
from shortlist.engine.explanation import Check, Question
from shortlist.engine.shard import Observer
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.reading import LineReader
from shortlist.model.command import Command, Item
from shortlist.model.items import Items, Wanted
from shortlist.model.problem import Reject, WrongArgument
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.wording import shown
from shortlist.selection.bank.offers import Placements

# Publications that are matched together where the work may be given up: a step of 32 with the
# longest expressions allowed takes some milliseconds.
CHECKED_AT_ONCE = 32


def replay(
    registry: Registry,
    lines: Iterable[str | bytes],
    settings: Settings | None = None,
    question: Question | None = None,
    commands: bool = True,
    appended: Sequence[int] | None = None,
    check: Check | None = None,
) -> Result:
    """Return what a finite input leads to; a line's position is its number, from 1.

    Without `commands` only publications are taken. `appended` says when a log took each line, in
    microseconds: on the time basis `arrival` they are of these times, on `event` they may be ahead
    of them. `check` is called between steps of at most `CHECKED_AT_ONCE` publications; where there
    is a question, after each publication.

    >>> from shortlist.intake.files import registry_from_documents
    >>> registry = registry_from_documents({"subscriptions": [{"id": "all"}]})
    >>> result = replay(registry, [
    ...     '{"id": "n1", "source": "cinema", "time": "2026-03-01T20:00:00Z"}',
    ...     '{"id": "n2", "source": "cinema", "time": "tonight"}'])
    >>> [delivery.publication.id for delivery in result.deliveries], result.rejects[0].position
    (['n1'], 2)
    """
    settings = settings or Settings()
    if check is not None:
        check()
    if check is not None and question is not None:
        question = replace(question, check=check)
    engine = Engine(registry, settings, question=question)
    if check is not None and question is None:
        engine.observer = _Checking(engine.shard.due, check)
    encoded = [*_encoded(lines)]
    read = line_reader(engine, registry, settings, commands)
    result = engine.run(read.lines(range(1, len(encoded) + 1), encoded, appended), last=True)
    result.rejects.sort(key=lambda reject: reject.position)
    return result


class _Checking(Observer):
    """Call a function before each step of a shard, which may give the work up."""

    at_once = CHECKED_AT_ONCE

    def __init__(self, due: Callable[[int], Placements], check: Check) -> None:
        super().__init__(due)
        self._check = check

    def before(self, step: Items | Command) -> Iterator[Placements]:
        self._check()
        return iter(())

    def due(self, before: int) -> Iterator[Placements]:
        self._check()
        return super().due(before)


def _encoded(lines: Iterable[object]) -> Iterator[bytes]:
    if isinstance(lines, str | bytes):
        raise WrongArgument("lines: expected several lines, found one text; try .splitlines()")
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str | bytes):
            found = shown(line)
            raise WrongArgument(f"line {number}: expected JSON text, found {found}; try json.dumps")
        yield encode(line)


def line_reader(
    engine: Engine, registry: Registry, settings: Settings, commands: bool = True
) -> LineReader:
    """For the lines of the next items of an engine."""
    wanted = engine.admission.wanted.joined(Wanted(data=True))
    by_arrival = settings.time == "arrival"
    return LineReader(registry.vocabulary, settings.limits, wanted, commands, by_arrival=by_arrival)


def encode(line: str | bytes) -> bytes:
    """A line as bytes; half of a surrogate pair stays one, for the reader to refuse."""
    return line if isinstance(line, bytes) else line.encode(errors="surrogatepass")


def read_items(
    registry: Registry, lines: Iterable[str | bytes], settings: Settings, commands: bool = True
) -> tuple[Sequence[Item], Sequence[Reject]]:
    """The items of a timeline, and the lines that are none; blank lines are passed over."""
    reader = ItemReader(registry.vocabulary, settings.limits, commands)
    items: list[Item] = []
    rejects: list[Reject] = []
    for position, line in enumerate(lines, start=1):
        if line.strip():
            try:
                items.append(reader.line(line, position))
            except BadItem as problem:
                rejects.append(Reject(position, str(problem)))
    return items, rejects
