"""How much of a source a micro-batch takes, and how its work is cut: options and read limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

from shortlist.model.wording import shown

Item = TypeVar("Item")


def whole_number(options: Mapping[str, str], name: str, least: int) -> int | None:
    """An option's number, if it is given.

    >>> whole_number({"at_most": "100"}, "at_most", 1)
    100
    >>> whole_number({"at_most": "all"}, "at_most", 1)
    Traceback (most recent call last):
    ...
    ValueError: at_most: expected a whole number of at least 1, found 'all'
    """
    text = options.get(name)
    if text is None:
        return None
    if not text.isdecimal() or int(text) < least:
        raise ValueError(
            f"{name}: expected a whole number of at least {least}, found {shown(text)}"
        )
    return int(text)


def default_limit(options: Mapping[str, str]) -> ReadLimit:
    """What the option `at_most` asks for."""
    at_most = whole_number(options, "at_most", 1)
    return ReadAllAvailable() if at_most is None else ReadMaxRows(at_most)


def most_rows(limit: ReadLimit) -> int | None:
    """The most rows that a limit allows."""
    match limit:
        case ReadMaxRows(most):
            return most
        case ReadAllAvailable():
            return None
    raise ValueError(f"expected a limit on rows, found {limit}")


def shares(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    """Consecutive items, in at most so many even shares.

    >>> shares("abcde", 2), shares("ab", 4), shares("", 4)
    (['ab', 'cde'], ['a', 'b'], [])
    """
    count = min(most, len(items))
    bounds = [len(items) * share // count for share in range(count + 1)] if count else []
    return [items[start:end] for start, end in pairwise(bounds)]
