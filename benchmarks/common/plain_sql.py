"""Conjunctions as anybody would put them into a table, and the join that anybody would write."""

from collections.abc import Sequence
from math import isfinite

import pyarrow as pa

from .conditions import All, Range, Word
from .movies import NUMBERS

_TESTS = {
    **{f"{name}_low": f"p.{name} >= s.{name}_low" for name in NUMBERS},
    **{f"{name}_high": f"p.{name} <= s.{name}_high" for name in NUMBERS},
    "mpaa": "p.mpaa = s.mpaa",
    "genre": "array_contains(p.genre, s.genre)",
}
_TYPES = {name: pa.string() if name in ("mpaa", "genre") else pa.float64() for name in _TESTS}

PLAIN_CONDITION = " and ".join(f"(s.{name} is null or {test})" for name, test in _TESTS.items())
"""Where a publication `p` matches a subscription `s`."""


def plain_table(conditions: Sequence[All]) -> pa.Table:
    """A row for each conjunction of closed ranges and equalities; null where nothing is asked.

    >>> recent = All((Range("year", low=1990), Word("genre", "=", "drama")))
    >>> row = plain_table([recent]).to_pylist()[0]
    >>> {name: cell for name, cell in row.items() if cell is not None}
    {'year_low': 1990.0, 'genre': 'drama'}
    """
    return pa.Table.from_pylist([_row(condition) for condition in conditions], pa.schema(_TYPES))


def _row(condition: All) -> dict[str, float | str]:
    row: dict[str, float | str] = {}
    for predicate in condition.operands:
        match predicate:
            case Range(attribute, low, high, False):
                ends = {f"{attribute}_low": float(low), f"{attribute}_high": float(high)}
                row |= {name: end for name, end in ends.items() if isfinite(end)}
            case Word(attribute, "=", text):
                row[attribute] = text
            case _:
                raise ValueError(f"no column for {predicate}")
    return row
