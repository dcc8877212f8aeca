"""The block loop: items in order, cut into what can be done together."""

from collections.abc import Iterator, Mapping

import numpy as np

from shortlist.intake.lines import ItemReader
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Items

BLOCK = 8192
"""Publications that are matched together at most: as many as a mask has bits."""


class CommandReader:
    """The commands among items: those that are known, by position, or as their lines say."""

    def __init__(self, reader: ItemReader, known: Mapping[int, Command] | None = None) -> None:
        self._reader = reader
        self._known = known or {}

    def read(self, items: Items) -> Command:
        """The command that one item is."""
        position = int(items.positions[0])
        if position in self._known:
            return self._known[position]
        line, time = items.batch.column("line")[0].as_py(), int(items.times[0])
        command = self._reader.line(line, position, time)
        assert isinstance(command, Command)
        return command


def steps(items: Items, commands: CommandReader, at_once: int = BLOCK) -> Iterator[Items | Command]:
    """Each command by itself, and the publications between them, at most so many together.

    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.command import Heartbeat
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> news = [Publication(id=f"n{n}", source="s", time=n, position=n) for n in range(3)]
    >>> items, _ = items_of(news, Wanted())
    >>> [len(step) for step in steps(items, None, at_once=2)]
    [2, 1]
    """
    first = 0
    for at in [*np.flatnonzero(items.kinds == COMMAND).tolist(), len(items)]:
        for start in range(first, at, at_once):
            yield items.between(start, min(start + at_once, at))
        if at < len(items):
            yield commands.read(items.between(at, at + 1))
        first = at + 1
