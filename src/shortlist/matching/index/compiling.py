"""From requests to segments: requests that differ only in their literals are compiled together."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from shortlist.fuzzy.degrees import FALSE, Degrees
from shortlist.language.templates import Literal, Template, Templates
from shortlist.matching.arrays import Ints
from shortlist.matching.coarse import with_lowered
from shortlist.matching.index.columns import Columns
from shortlist.matching.index.segments import Alike, Segment
from shortlist.matching.index.terms import Condition, Request, Terms, compiled_condition
from shortlist.model.remembering import Remembered

FEW = 8
"""So few conditions of one template are compiled one by one: columns take a while to begin with."""


class Filled(NamedTuple):
    """A plain condition that is known by its template."""

    template: Template
    literals: list[Literal]


Read = Condition | Filled
"""A condition that is about to become part of a segment."""


class Compiling:
    """Compiles what subscriptions ask, under one vocabulary.

    >>> from shortlist.model.settings import Limits
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> compiling = Compiling(Terms(Vocabulary(), Limits()))
    >>> some = [compiling.read(Request(f"rent < {rent}", "min", 0, 0)) for rent in range(900, 920)]
    >>> some[0].literals
    [900.0]
    >>> segment, places = compiling.segment(some)
    >>> segment.count, places.size
    (20, 20)
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._templates = Templates(terms.vocabulary, terms.limits)
        self._columns = Remembered(self._made)

    def read(self, request: Request) -> Read | None:
        """What is compiled, if there is any condition; a `LanguageError` if it is not right."""
        if request.where is None:
            return None
        read, terms = self._templates.read(request.where), self._terms
        least = Degrees(request.possibility, request.necessity)
        if not isinstance(read, tuple):
            where = with_lowered(read, terms.limits)
            return compiled_condition(where, terms.vocabulary, request.norm, least)
        template, literals = read
        if request.norm == "min" and least == FALSE and self._columns(template) is not None:
            return Filled(template, literals)
        where = template.filled(literals)
        return compiled_condition(where, terms.vocabulary, request.norm, least)

    def segment(self, some: Iterable[Read]) -> tuple[Segment, Ints]:
        """A segment of conditions, and the place of each there."""
        conditions: dict[int, Condition] = {}
        groups: dict[Template, dict[int, list[Literal]]] = {}
        for number, read in enumerate(some):
            if isinstance(read, Filled):
                groups.setdefault(read.template, {})[number] = read.literals
            else:
                conditions[number] = read
        alike: list[Alike] = []
        numbers: list[int] = []
        for template, rows in groups.items():
            columns = self._columns(template)
            if columns is not None and len(rows) >= FEW:
                numbers += rows
                alike.append((columns, [*rows.values()]))
                continue
            for number, literals in rows.items():
                where = template.filled(literals)
                conditions[number] = compiled_condition(where, self._terms.vocabulary)
        segment, found = Segment.of(conditions.values(), alike)
        places = np.empty_like(found)
        places[[*conditions, *numbers]] = found
        return segment, places

    def _made(self, template: Template) -> Columns | None:
        return Columns.of(template, self._terms.vocabulary)
