"""The baseline of arrays: each film against the bounds of all subscriptions, in NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from .boxes import Bounds, Boxes
from .conditions import Word
from .matches import Matches
from .movies import Movies

CHUNK = 131_072
"""Boxes that the films of a block pass by before the next: fewer calls of NumPy, yet the columns
stay in the cache. (Smaller and larger ones were slower.)"""
BLOCK = 512

SEARCH = {
    "contains": pc.match_substring,
    "starts with": pc.starts_with,
    "ends with": pc.ends_with,
    "=": pc.equal,
}

Mask = NDArray[np.bool_]


class NumpyScan:
    """Single precision will do: no two values of the films are so close that it mixes them up.

    >>> from .boxes import boxes_of
    >>> from .conditions import Range
    >>> from .movies import generated_movies
    >>> scan = NumpyScan(boxes_of([Range("year", 1950, 1999), Range("year", low=1980)]))
    >>> scan.match(generated_movies(3)).subscriptions.tolist()
    [0, 0, 1]
    """

    def __init__(self, boxes: Boxes, chunk: int = CHUNK) -> None:
        # A subscription's boxes stay together, so that it is told once.
        starts = np.unique([0, *boxes.owners.searchsorted(boxes.owners[::chunk])])
        ends = [*starts[1:], len(boxes)]
        self._words = boxes.words
        self._attributes = tuple(boxes.bounds)
        self._chunks = [
            _Chunk(boxes, slice(start, end)) for start, end in zip(starts, ends, strict=True)
        ]

    def match(self, movies: Movies) -> Matches:
        found: list[NDArray[Any]] = []
        for start in range(0, len(movies), BLOCK):
            block = Movies(movies.origin, movies.table.slice(start, BLOCK))
            films = self._films(block)
            parts = [[chunk.match(film) for film in films] for chunk in self._chunks]
            found += [np.concatenate(of_one) for of_one in zip(*parts, strict=True)]
        return Matches.of_each(found)

    def _films(self, block: Movies) -> list["_Film"]:
        columns = {name: block.numbers(name).tolist() for name in self._attributes}
        truths = _truths(self._words, block)
        return [
            _Film({name: column[place] for name, column in columns.items()}, genres, truths[place])
            for place, genres in enumerate(block.genre_masks())
        ]


@dataclass(frozen=True, slots=True)
class _Film:
    numbers: dict[str, float]
    genres: np.uint8
    words: Mask
    """What the title says to each word, and a last place that is always true."""


class _Chunk:
    def __init__(self, boxes: Boxes, rows: slice) -> None:
        self._owners = boxes.owners[rows]
        self._one_each = bool((np.diff(self._owners) > 0).all())
        self._sides = {name: _Sides(bounds, rows) for name, bounds in boxes.bounds.items()}
        self._genres, self._genres_seen = boxes.genres[rows], boxes.genres_seen[rows]
        self._asks_genres = bool(self._genres_seen.any())
        self._slots = [slot[rows] for slot in boxes.word_slots]
        self._holds, self._also = np.empty((2, len(self._owners)), dtype=np.bool_)

    def match(self, film: _Film) -> NDArray[Any]:
        holds, also = self._holds, self._also
        if self._asks_genres:
            np.equal(self._genres_seen & film.genres, self._genres, out=holds)
        else:
            holds.fill(True)
        for name, value in film.numbers.items():
            self._sides[name].narrow(holds, also, value)
        for slot in self._slots:
            holds &= film.words[slot]
        found = self._owners[np.flatnonzero(holds)]
        return found if self._one_each else found[np.diff(found, prepend=-1) > 0]


class _Sides:
    """The bounds of one attribute that some box has."""

    def __init__(self, bounds: Bounds, rows: slice) -> None:
        low, high = (side[rows] for side in bounds.closed(np.float32))
        self._low = low if np.isfinite(low).any() else None
        self._high = high if np.isfinite(high).any() else None
        self._unasked = ~bounds.asked[rows]

    def narrow(self, holds: Mask, also: Mask, value: float) -> None:
        if np.isnan(value):
            holds &= self._unasked
            return
        if self._low is not None:
            np.less_equal(self._low, value, out=also)
            holds &= also
        if self._high is not None:
            np.greater_equal(self._high, value, out=also)
            holds &= also


def _truths(words: Sequence[Word], block: Movies) -> Mask:
    titles = block.table["title"].combine_chunks()
    truths = np.ones((len(words) + 1, len(block)), dtype=np.bool_)
    for place, word in enumerate(words):
        truths[place] = SEARCH[word.operator](titles, word.text).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(truths.T)
