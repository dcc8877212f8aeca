"""An index written to disk and opened again."""

import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shortlist.matching.index.index import Index

from .compiled import Compiled
from .movies import Movies
from .timing import timed


class Saved(NamedTuple):
    """What was measured; loading verifies every byte, loading again does not."""

    save_seconds: float
    load_seconds: float
    reload_seconds: float
    bytes: int
    is_same: bool
    """Whether what was loaded answers as what was saved."""


def saved(compiled: Compiled, films: Movies) -> Saved:
    """Saves and loads an index, and asks both about the films.

    >>> from .compiled import subscriptions_of
    >>> from .conditions import Range
    >>> from .movies import generated_movies
    >>> compiled = Compiled.of(subscriptions_of([Range("year", 1950, 1999)]))
    >>> saved(compiled, generated_movies(3)).is_same
    True
    """
    with tempfile.TemporaryDirectory(prefix="shortlist-") as scratch:
        folder = Path(scratch, "index")
        _, save_seconds = timed(partial(compiled.index.save, folder))
        index, load_seconds = timed(partial(Index.open, folder))
        _, reload_seconds = timed(partial(Index.open, folder, verify=False))
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        is_same = Compiled(index).match(films).same_as(compiled.match(films))
        return Saved(save_seconds, load_seconds, reload_seconds, size, is_same)
