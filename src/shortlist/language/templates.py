"""Conditions that differ only in their numbers and strings: two of them are read, all are known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import assert_never

from shortlist.language import tree
from shortlist.language.parser import parse_where
from shortlist.language.reader import parted, text_of
from shortlist.model.settings import Limits
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

KEPT = 4_096
"""Shapes that are remembered, with their templates."""

Literal = float | str


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """What some conditions have in common.

    >>> template = Template(parse_where("rent < 1 and city = ''"))
    >>> template.filled([900.0, "Oslo"]) == parse_where("rent < 900 and city = 'Oslo'")
    True
    """

    where: tree.Where
    """With 1 for each number, or -1 where it has that sign, and an empty text for each string."""

    def filled(self, literals: Iterable[Literal]) -> tree.Where:
        """The condition with these numbers, without their signs, and texts."""
        return _filled(self.where, iter(literals))

    def signs(self) -> Iterator[float]:
        """Of each literal that is a number, 1 or -1; of a text, 0."""
        for predicate in tree.predicates(self.where):
            for value in values_of(predicate):
                if not isinstance(value, bool):
                    yield value if isinstance(value, float) else 0.0


class Templates:
    """Reads conditions under one vocabulary, each shape at most once.

    A shape is read when it comes back: of conditions that are like no other nothing is kept.

    >>> templates = Templates(Vocabulary(), Limits())
    >>> [templates.read(f"rent < {rent}").value for rent in (850, 870)]
    [850.0, 870.0]
    >>> first, some = templates.read("rent < 900")
    >>> second, others = templates.read("rent < 800")
    >>> first is second, some, others
    (True, [900.0], [800.0])
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self.vocabulary = vocabulary
        self._limits = limits
        self._known: dict[str, Template | None] = {}
        """By shape; None where each text has to be read."""
        self._seen: set[str] = set()
        """Shapes that have come at least once."""

    def parse(self, text: str) -> tree.Where:
        """A condition that is like no other."""
        return parse_where(text, self.vocabulary, self._limits)

    def read(self, text: str) -> tuple[Template, list[Literal]] | tree.Where:
        """A condition as a template and what fills it; or all of it, where what is right depends on
        its literals. A `LanguageError` says what is wrong with it."""
        shape, found = parted(text)
        if shape not in self._known:
            where = self.parse(text)
            self._remember(shape, where)
            return where
        template = self._known[shape]
        literals = [text_of(one) if one[0] == "'" else float(one) for one in found]
        if template is None or len(text) > self._limits.expression_length or inf in literals:
            return self.parse(text)
        return template, literals

    def template(self, text: str) -> Template | None:
        """The template of a condition whose shape others share, read at once; None where what is
        right depends on literals. A `LanguageError` says what is wrong with the condition."""
        shape, _ = parted(text)
        if shape not in self._known:
            self._keep(shape, self.parse(text))
        return self._known[shape]

    def outline(self, text: str) -> tree.Where:
        """A condition that asks for the same attributes and types, in the same order, though its
        literals may be others."""
        read = self.read(text)
        return read[0].where if isinstance(read, tuple) else read

    def _remember(self, shape: str, where: tree.Where) -> None:
        if shape not in self._seen:
            if len(self._seen) >= KEPT:
                self._seen.clear()
            self._seen.add(shape)
        else:
            self._keep(shape, where)

    def _keep(self, shape: str, where: tree.Where) -> None:
        if len(self._known) >= KEPT:
            self._known.clear()
        has_holes = all(map(_has_holes, tree.predicates(where)))
        limits = replace(self._limits, expression_length=max(len(shape), 1))
        outline = parse_where(shape, self.vocabulary, limits) if has_holes else None
        self._known[shape] = None if outline is None else Template(outline)


def values_of(predicate: tree.Predicate) -> Sequence[tree.Scalar]:
    """The literals of a predicate that is not fuzzy.

    >>> values_of(parse_where("rent between 500 and 900"))
    (500.0, 900.0)
    """
    match predicate:
        case tree.Comparison(value=value):
            return (value,)
        case tree.In(values=values):
            return values
        case tree.Between(low=low, high=high):
            return low, high
        case tree.TextMatch(text=text):
            return (text,)
        case tree.Exists() | tree.Is():
            return ()
    assert_never(predicate)


def _has_holes(predicate: tree.Predicate) -> bool:
    """Whether every number or text may stand where it has one: terms have their own rules, and a
    text may be no time."""
    is_timed = any(isinstance(value, Instant) for value in values_of(predicate))
    return not isinstance(predicate, tree.Is) and not is_timed


def _filled(where: tree.Where, literals: Iterator[Literal]) -> tree.Where:
    match where:
        case tree.And(operands) | tree.Or(operands):
            return type(where)(tuple(_filled(operand, literals) for operand in operands))
        case tree.Comparison(path, operator, value, negated):
            return tree.Comparison(path, operator, _with_sign(value, literals), negated)
        case tree.In(path, values, negated):
            found = [_with_sign(value, literals) for value in values]
            return tree.In(path, tuple(found), negated)
        case tree.Between(path, low, high, negated):
            low, high = _with_sign(low, literals), _with_sign(high, literals)
            return tree.Between(path, low, high, negated)
        case tree.TextMatch(path, operator, _, negated):
            return tree.TextMatch(path, operator, str(next(literals)), negated)
        case tree.Exists() | tree.Is():
            return where
    assert_never(where)


def _with_sign(outlined: tree.Scalar, literals: Iterator[Literal]) -> tree.Scalar:
    if isinstance(outlined, bool):
        return outlined
    literal = next(literals)
    if isinstance(literal, float) and outlined == -1.0:
        return 0.0 - literal
    return literal
