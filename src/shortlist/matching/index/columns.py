"""Conditions of one template, compiled together: columns of slots instead of one after the other.

What a template's literals lead to is found by compiling it once, with literals that can be told
apart: an end or a key that follows from one of them follows from it in every condition.
"""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from shortlist.language.templates import Literal, Template
from shortlist.matching.arrays import Floats, Ints
from shortlist.matching.index.literals import (
    Anything,
    Attribute,
    Below,
    Equal,
    Nothing,
    Present,
    Slot,
    Typed,
    number_key,
    number_keys,
)
from shortlist.matching.index.tables import SlotNumbers
from shortlist.matching.index.terms import compiled_condition
from shortlist.model.vocabulary import Vocabulary


class Varying(NamedTuple):
    """A slot that differs from condition to condition by one literal."""

    kind: type[Below] | type[Equal]
    attribute: Attribute
    place: int
    """Of the literal."""
    sign: float
    after: int
    """How far behind the literal's key an end lies."""


Column = Slot | Varying

LiteralColumn = Floats | Sequence[str]
"""What stands at one place of some conditions."""


class Columns:
    """The literals of plain conjunctions, each as two columns of slots.

    >>> from shortlist.language.parser import parse_where
    >>> columns = Columns.of(Template(parse_where("rent < 1 and city = ''")), Vocabulary())
    >>> numbers = SlotNumbers()
    >>> literals = [np.array([900.0, 800.0]), ["Oslo", "Bergen"]]
    >>> plus, minus = columns.numbered(2, literals, numbers)
    >>> plus, minus
    (array([[2, 4],
           [3, 5]], dtype=int32), array([[0, 0],
           [0, 0]], dtype=int32))
    """

    def __init__(self, plus: Sequence[Column], minus: Sequence[Column]) -> None:
        self._plus = plus
        self._minus = minus

    @classmethod
    def of(cls, template: Template, vocabulary: Vocabulary) -> "Columns | None":
        """None where conditions are no plain conjunctions, or have slots of other kinds."""
        signs = [*template.signs()]
        # literals that can be told apart by their keys
        marks = [
            float(mark) if sign else f"mark {mark}"
            for mark, sign in zip(count(3, 3), signs, strict=False)
        ]
        condition = compiled_condition(template.filled(marks), vocabulary)
        if not condition.is_plain:
            return None
        plus = [_column(literal.plus, signs, marks) for literal in condition.literals]
        minus = [_column(literal.minus, signs, marks) for literal in condition.literals]
        known = [column for column in (*plus, *minus) if column is not None]
        return cls(plus, minus) if len(known) == 2 * len(plus) else None  # type: ignore[arg-type]

    def numbered(
        self, size: int, literals: Sequence[LiteralColumn], slots: SlotNumbers
    ) -> tuple[Ints, Ints]:
        """The numbers of slots, a row for each of so many conditions."""
        plus, minus = (
            np.stack([_numbers(column, size, literals, slots) for column in columns], axis=1)
            for columns in (self._plus, self._minus)
        )
        return plus, minus


def _column(slot: Slot, signs: Sequence[float], marks: Sequence[Literal]) -> Column | None:
    """What varies in a slot that was made with marks; None where nobody can tell."""
    if isinstance(slot, Nothing | Anything | Typed | Present):
        return slot
    if not isinstance(slot, Below | Equal):
        return None
    found = slot.end if isinstance(slot, Below) else slot.key
    for place, (mark, sign) in enumerate(zip(marks, signs, strict=True)):
        if isinstance(mark, str):
            if isinstance(slot, Equal) and found == mark:
                return Varying(Equal, slot.attribute, place, 0.0, 0)
        elif isinstance(found, int) and 0 <= (after := found - number_key(sign * mark)) <= 1:
            return Varying(type(slot), slot.attribute, place, sign, after)
    return slot if isinstance(found, int) else None


def _numbers(
    column: Column, size: int, literals: Sequence[LiteralColumn], slots: SlotNumbers
) -> Ints:
    if not isinstance(column, Varying):
        return np.full(size, slots.number(column), np.int32)
    kind, attribute, place, sign, after = column
    if not sign:
        texts = [*literals[place]]
        known = {text: slots.number(Equal(attribute, text)) for text in dict.fromkeys(texts)}
        return np.array([known[text] for text in texts], np.int32)
    keys = number_keys(sign * np.asarray(literals[place])) + after
    return np.array(slots.more(kind, attribute, keys), np.int32)


def as_columns(rows: Sequence[Sequence[Literal]]) -> list[LiteralColumn]:
    """The literals of some conditions of one template, by place.

    >>> as_columns([[900.0, "Oslo"], [800.0, "Bergen"]])
    [array([900., 800.]), ('Oslo', 'Bergen')]
    """
    columns = zip(*rows, strict=True)
    return [np.array(each) if isinstance(each[0], float) else each for each in columns]
