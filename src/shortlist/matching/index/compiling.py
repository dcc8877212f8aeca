"""From requests to segments: requests that differ only in their literals are compiled together."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.templates import Literal, Template, Templates
from shortlist.language.tree import Where
from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.coarse import with_lowered
from shortlist.matching.index.columns import Columns, LiteralColumn, as_columns
from shortlist.matching.index.segments import Alike, Segment
from shortlist.matching.index.terms import Condition, Request, Terms, compiled_condition
from shortlist.model.remembering import Remembered

FEW = 8
"""So few conditions of one template are compiled one by one: columns take a while to begin with."""


class Filled(NamedTuple):
    """A plain condition that is known by its template."""

    template: Template
    literals: list[Literal]


class Together(NamedTuple):
    """Conditions of one template, by number."""

    template: Template
    numbers: Longs
    literals: Sequence[LiteralColumn]


Read = Condition | Filled
"""A condition that is about to become part of a segment."""


class Compiling:
    """Compiles what subscriptions ask, under one vocabulary.

    >>> from shortlist.model.settings import Limits
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> compiling = Compiling(Terms(Vocabulary(), Limits()))
    >>> some = [compiling.read(Request(f"rent < {rent}", "min", 0, 0)) for rent in range(900, 920)]
    >>> some[2].literals
    [902.0]
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
        read = self._templates.read(request.where)
        if not isinstance(read, tuple):
            return self.condition(read, request)
        template, literals = read
        if request.is_plain and self._columns(template) is not None:
            return Filled(template, literals)
        return self.condition(template.filled(literals), request)

    def condition(self, where: Where, request: Request) -> Condition:
        """What is compiled of a request whose condition was read."""
        terms, least = self._terms, Degrees(request.possibility, request.necessity)
        lowered = with_lowered(where, terms.limits)
        return compiled_condition(lowered, terms.vocabulary, request.norm, least)

    def segment(self, some: Iterable[Read]) -> tuple[Segment, Ints]:
        """A segment of conditions, and the place of each there."""
        conditions: dict[int, Condition] = {}
        groups: dict[Template, dict[int, list[Literal]]] = {}
        for number, read in enumerate(some):
            if isinstance(read, Filled):
                groups.setdefault(read.template, {})[number] = read.literals
            else:
                conditions[number] = read
        together = [
            Together(template, np.fromiter(rows, np.int64), as_columns([*rows.values()]))
            for template, rows in groups.items()
        ]
        return self.segment_of(conditions, together)

    def segment_of(
        self, conditions: dict[int, Condition], together: Iterable[Together]
    ) -> tuple[Segment, Ints]:
        """The same of conditions by number, and of plain ones as columns; each number is there."""
        alike: list[Alike] = []
        numbers: list[Ints] = []
        for each in together:
            columns = self._columns(each.template)
            if columns is not None and each.numbers.size >= FEW:
                numbers.append(each.numbers)
                alike.append((columns, each.numbers.size, each.literals))
                continue
            plain = [
                column if isinstance(column, Sequence) else column.tolist()
                for column in each.literals
            ]
            for place, number in enumerate(each.numbers.tolist()):
                where = each.template.filled([column[place] for column in plain])
                conditions[number] = compiled_condition(where, self._terms.vocabulary)
        segment, found = Segment.of(conditions.values(), alike)
        places = np.empty_like(found)
        places[np.concatenate([np.array([*conditions], np.int64), *numbers])] = found
        return segment, places

    def is_plain(self, template: Template) -> bool:
        """Whether conditions of a template are compiled as columns, where all above 0 counts."""
        return self._columns(template) is not None

    def _made(self, template: Template) -> Columns | None:
        return Columns.of(template, self._terms.vocabulary)
