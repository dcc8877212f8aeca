"""Boxes as a table of bounds, and the condition that joins films to it."""

import sys
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .boxes import NO_WORD, Boxes
from .movies import ANY_GENRE, CERTIFICATES, NUMBERS
from .workloads import GENRES

_GENRES = [f"array_contains(genre, '{genre}')" for genre in GENRES]
_BITS = [f"case when {has} then {1 << place} else 0 end" for place, has in enumerate(_GENRES)]
_ANY_BIT = f"case when {' or '.join(_GENRES)} then {ANY_GENRE} else 0 end"
_PLACES = " ".join(f"when '{name}' then {place}" for place, name in enumerate(CERTIFICATES))
_ABSENT = "cast('-Infinity' as double)"

FILM_COLUMNS = (
    "title",
    *(f"coalesce(cast({name} as double), {_ABSENT}) as {name}" for name in NUMBERS),
    f"cast(case mpaa {_PLACES} else {_ABSENT} end as double) as mpaa",
    f"{' + '.join((*_BITS, _ANY_BIT))} as genres",
)
"""What a join needs to know of a publication, in DuckDB's SQL and in Spark's."""

TITLE_TESTS = {
    "contains": "contains(p.title, {})",
    "starts with": "starts_with(p.title, {})",
    "ends with": "ends_with(p.title, {})",
    "=": "p.title = {}",
}
"""In DuckDB's SQL; nothing else joins words."""


class _Column(NamedTuple):
    """A column of the boxes `s`, and what films `p` must pass, if it is not for another column."""

    name: str
    cells: pa.Array
    test: str | None


def box_table(boxes: Boxes) -> pa.Table:
    """A row for each box. Bounds are infinite where nothing is asked: joins that first ask whether
    a bound is null take several times as long.

    >>> from .boxes import boxes_of
    >>> from .conditions import Range
    >>> box_table(boxes_of([Range("year", low=1990), Range("year", low=2000)])).to_pylist()
    [{'subscription': 0, 'year_low': 1990.0}, {'subscription': 1, 'year_low': 2000.0}]
    """
    columns = {column.name: column.cells for column in _columns(boxes)}
    return pa.table({"subscription": boxes.owners, **columns})


def join_condition(boxes: Boxes) -> str:
    """Where a film `p` is in a box `s`.

    >>> from .boxes import boxes_of
    >>> from .conditions import Range
    >>> join_condition(boxes_of([Range("year", 1990, 1999)]))
    'p.year >= s.year_low and p.year <= s.year_high'
    """
    tests = [column.test for column in _columns(boxes) if column.test is not None]
    return " and ".join(tests) or "true"


def _columns(boxes: Boxes) -> Iterator[_Column]:
    for attribute, bounds in boxes.bounds.items():
        low, high = bounds.closed(np.float64)
        # What is absent is below whatever is asked for.
        low[bounds.asked & (low == -inf)] = -sys.float_info.max
        for side, operator, ends in (("low", ">=", low), ("high", "<=", high)):
            if np.isfinite(ends).any():
                name = f"{attribute}_{side}"
                yield _Column(name, pa.array(ends), f"p.{attribute} {operator} s.{name}")
    if boxes.genres_seen.any():
        seen, genres = (mask.astype(np.int32) for mask in (boxes.genres_seen, boxes.genres))
        yield _Column("genres_seen", pa.array(seen), None)
        yield _Column("genres", pa.array(genres), "(p.genres & s.genres_seen) = s.genres")
    for slot, places in enumerate(boxes.word_slots):
        words = [None if place == NO_WORD else boxes.words[place] for place in places]
        for operator, test in TITLE_TESTS.items():
            name = f"title_{slot}_{operator.replace('=', 'is').replace(' ', '_')}"
            texts = [word.text if word and word.operator == operator else None for word in words]
            if any(texts):
                passed = test.format(f"s.{name}")
                yield _Column(name, pa.array(texts), f"(s.{name} is null or {passed})")
