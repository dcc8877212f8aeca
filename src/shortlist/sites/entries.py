"""A site's own log as its links read it: chunk by chunk, and again where somebody looks back."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.reading import LineReader
from shortlist.log.base import INPUT, Log
from shortlist.log.streams import within_bytes
from shortlist.matching.blocks import Bools
from shortlist.model.command import Command, Retract
from shortlist.model.items import COMMAND, PUBLICATION, Items, Wanted
from shortlist.model.settings import UNLIMITED
from shortlist.model.vocabulary import Vocabulary
from shortlist.sites.wire import Mark, unmarked

AT_MOST = 2_000
"""Entries in a chunk."""
MOST_BYTES = 16 * 2**20
REMEMBERED = 8
"""Chunks that were read last, which other links may want as well."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Neighbouring entries of the log; offset, mark and line of each that may cross a link."""

    last: int
    """The offset of the last entry."""
    appended: int
    """When the log took that."""
    items: Items
    """The publications, and what takes publications back."""
    lines: tuple[bytes, ...]
    """The lines of these, as they were published."""
    marks: tuple[Mark | None, ...]
    goes_everywhere: Bools
    """Those that concern whoever got something earlier."""
    commands: tuple[tuple[int, Command], ...]
    """Commands that were read, by offset."""
    taken: dict[str, int]
    """By neighbour, the last entry of its stream that is among these."""


class Span(NamedTuple):
    """Entries that somebody may have to look at again."""

    first: int
    last: int
    appended: int
    latest: int
    """The largest time of those that may cross a link."""


class Entries:
    """Reads chunks, and knows where the recent ones stand."""

    def __init__(
        self, log: Log, vocabulary: Vocabulary, token: str, *, by_arrival: bool, keep: int
    ) -> None:
        """The site's own marks carry a token; what is older than `keep` microseconds is not looked
        at again."""
        self._log = log
        self._vocabulary, self._token, self._by_arrival = vocabulary, token, by_arrival
        self._commands = ItemReader(vocabulary, UNLIMITED, checks_terms=True)
        self._keep = keep
        self._recent: dict[int, Chunk] = {}
        self.spans: list[Span] = []

    def after(self, offset: int, wanted: Wanted) -> Chunk | None:
        """The entries behind an offset; None if there are none."""
        if offset not in self._recent:
            chunk = self._read(offset, offset + AT_MOST, wanted)
            if chunk is None:
                return None
            self._recent[offset] = chunk
            for old in [*islice(self._recent, max(len(self._recent) - REMEMBERED, 0))]:
                del self._recent[old]
        return self._recent[offset]

    def keep(self, first: int, chunk: Chunk) -> None:
        """A chunk whose first offset is this comes behind all that are known."""
        latest = int(chunk.items.times.max(initial=-(2**63)))
        if self.spans and chunk.last - self.spans[-1].first < AT_MOST:
            last = self.spans.pop()
            first, latest = last.first, max(last.latest, latest)
        self.spans.append(Span(first, chunk.last, chunk.appended, latest))
        oldest = chunk.appended - self._keep
        while len(self.spans) > 1 and self.spans[0].appended < oldest:
            del self.spans[0]

    def since(self, time: int, until: int, wanted: Wanted) -> Iterator[Chunk]:
        """What is of a time or later and stands up to an offset; perhaps more before that time."""
        for span in self.spans:
            if span.latest >= time and span.first <= until:
                chunk = self._read(span.first - 1, min(span.last, until), wanted)
                if chunk is not None:
                    yield chunk

    def _read(self, after: int, until: int, wanted: Wanted) -> Chunk | None:
        entries = [*within_bytes(self._log.read(INPUT, after, until), MOST_BYTES)]
        if not entries:
            return None
        read = [unmarked(entry.content, self._token) for entry in entries]
        lines = [line for line, _ in read]
        reader = LineReader(self._vocabulary, UNLIMITED, wanted, by_arrival=self._by_arrival)
        offsets, appended, _ = zip(*entries, strict=True)
        items = reader.lines(offsets, lines, appended)
        commands = [*self._commands_of(items)]
        retracts = {offset for offset, command in commands if isinstance(command, Retract)}
        is_retract = np.isin(items.positions, [*retracts])
        crosses = (items.kinds == PUBLICATION) | is_retract
        replacing = np.asarray(items.batch.column("replaces").is_valid())
        taken: dict[str, int] = {}
        for _, mark in read:
            if mark is not None:
                taken[mark.neighbour] = max(mark.offset, taken.get(mark.neighbour, 0))
        places = np.flatnonzero(crosses).tolist()
        return Chunk(
            last=entries[-1].offset,
            appended=entries[-1].appended,
            items=items.kept(crosses),
            lines=tuple(lines[place] for place in places),
            marks=tuple(read[place][1] for place in places),
            goes_everywhere=(is_retract | replacing)[crosses],
            commands=tuple(commands),
            taken=taken,
        )

    def _commands_of(self, items: Items) -> Iterator[tuple[int, Command]]:
        for place in np.flatnonzero(items.kinds == COMMAND).tolist():
            line = items.batch.column("line")[place].as_py()
            position, time = int(items.positions[place]), int(items.times[place])
            try:
                command = self._commands.line(line, position, time)
            except BadItem:
                continue
            if isinstance(command, Command):
                yield position, command
