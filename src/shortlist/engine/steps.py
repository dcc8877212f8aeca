"""The block loop: items in order, cut into what can be done together."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

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

    def among(self, items: Items) -> Iterator[Command]:
        """In their order; each is read when it is asked for."""
        some = items.kept(items.kinds == COMMAND)
        columns = some.positions.tolist(), some.values("line"), some.times.tolist()
        for position, line, time in zip(*columns, strict=True):
            command = self._known.get(position) or self._reader.line(line, position, time)
            assert isinstance(command, Command)
            yield command


def steps(items: Items, commands: CommandReader, at_once: int = BLOCK) -> Iterator[Items | Command]:
    """Each command by itself, and the publications between them, at most so many together.

    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.command import Heartbeat
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> news = [Publication(id=f"n{n}", source="s", time=n, position=n) for n in range(3)]
    >>> items, _ = items_of(news, Wanted())
    >>> [len(step) for step in steps(items, CommandReader(ItemReader(Vocabulary())), at_once=2)]
    [2, 1]
    """
    first, told = 0, commands.among(items)
    for at in [*np.flatnonzero(items.kinds == COMMAND).tolist(), len(items)]:
        for start in range(first, at, at_once):
            yield items.between(start, min(start + at_once, at))
        if at < len(items):
            yield next(told)
        first = at + 1


def runs(items: Items) -> Iterator[tuple[Items, str | None, bool]]:
    """Publications cut before each one that replaces another, and behind one that is dead; with
    the id of what the first one replaces, and whether it is dead."""
    replaces = items.batch.column("replaces")
    is_replacing = np.asarray(replaces.is_valid())
    is_first = is_replacing.copy()
    is_first[1:] |= items.is_dead[:-1]
    bounds = [0, *(np.flatnonzero(is_first[1:]) + 1).tolist(), len(items)]
    for first, end in pairwise(bounds):
        yield items.between(first, end), replaces[first].as_py(), bool(items.is_dead[first])
