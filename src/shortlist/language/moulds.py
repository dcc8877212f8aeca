"""Trees with gaps: the tree of an example, for the literals of all texts like it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from functools import partial
from operator import itemgetter
from re import Match
from typing import Any

from shortlist.language.errors import LanguageError
from shortlist.language.literals import number_of, text_of, time_of
from shortlist.language.shapes import LITERAL, shape
from shortlist.language.tree import Scalar
from shortlist.model.times import Instant

Convert = Callable[[str], Scalar]
Make = Callable[[Sequence[Any]], Any]
Gap = Callable[[Any], int | None]
"""The number of the gap that a part of a tree leaves; None if it stays."""

FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Mould:
    """`tree` is that of the example, whose literals mean nothing."""

    tree: Any
    converters: tuple[Convert, ...]
    make: Make

    def cast(self, literals: Sequence[str]) -> Any:
        """The tree with these literals; a `LanguageError` of no true column if one is wrong."""
        return self.make(
            [convert(text) for convert, text in zip(self.converters, literals, strict=True)]
        )


def mould(example: str, read: Callable[[str], Any]) -> Mould | None:
    """What the trees of all texts of a shape have in common; None where `read` has none for them.

    >>> from shortlist.language.scores import read_score
    >>> from shortlist.model.settings import Limits
    >>> mould("rating / 0", lambda text: read_score(text, Limits())).cast(["10"]).right
    Number(value=10.0)
    """
    if shape(example).text != example:
        return None  # 0.5 is what is left of 1.2.5, which is two numbers
    text, marks = _marked(example)
    try:
        tree = read(text)
    except LanguageError:
        return None
    found: list[tuple[int, Convert]] = []

    def gap(part: Any) -> int | None:
        if not isinstance(part, float | str | Instant) or part not in marks:
            return None
        found.append(marks[part])
        return marks[part][0]

    make = maker(tree, gap)
    found.sort(key=itemgetter(0))
    numbers, converters = [number for number, _ in found], [convert for _, convert in found]
    expected = list(range(len(shape(example).literals)))
    return Mould(tree, tuple(converters), make) if numbers == expected else None


def maker(tree: Any, gap: Gap) -> Make:
    """What makes a tree anew from what belongs into its gaps.

    >>> maker(("a", ("b", "c")), {"a": 1, "c": 0}.get)(["first", "second"])
    ('second', ('b', 'first'))
    """
    return _changing(tree, gap) or (lambda _: tree)


def _changing(part: Any, gap: Gap) -> Make | None:
    number = gap(part)
    if number is not None:
        return itemgetter(number)
    build, parts = _taken_apart(part)
    makers = [(place, _changing(child, gap)) for place, child in enumerate(parts)]
    changing = [(place, make) for place, make in makers if make is not None]

    def make(values: Sequence[Any]) -> Any:
        filled = parts.copy()
        for place, make_part in changing:
            filled[place] = make_part(values)
        return build(*filled)

    return make if changing else None


def _taken_apart(part: Any) -> tuple[Callable[..., Any], list[Any]]:
    """What a part is built by, and of what."""
    if isinstance(part, tuple):
        return _row, list(part)
    parts = [getattr(part, field.name) for field in fields(part)] if is_dataclass(part) else []
    return type(part), parts


def _row(*parts: Any) -> tuple[Any, ...]:
    return parts


def _marked(example: str) -> tuple[str, dict[Scalar, tuple[int, Convert]]]:
    """The example with literals that tell which one they are, as what the reader makes of them.

    Every string is a date, as times must be. Numbers lie between 0 and 1, as thresholds must, and
    go up, as corners must, also where they are negative.
    """
    marks: dict[Scalar, tuple[int, Convert]] = {}
    total = len(shape(example).literals)

    def put(literal: Match[str]) -> str:
        if literal[1] is None:
            return literal[0]
        number = len(marks) // 2
        if literal[0].startswith("'"):
            day = date.fromordinal(FIRST_DAY + number).isoformat()
            text = f"'{day}'"
            marks[day], marks[time_of(text)] = (number, text_of), (number, time_of)
            return text
        size = (number + 1) / (2 * total + 2)
        if example[: literal.start()].rstrip().endswith("-"):
            size = 1 - size
        marks[size], marks[-size] = (number, number_of), (number, partial(number_of, sign="-"))
        return repr(size)

    return LITERAL.sub(put, example), marks
