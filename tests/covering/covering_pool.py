"""Predicates over few attributes and literals, so that pairs of them often meet."""

from itertools import product
from typing import get_args

from shortlist.language.tree import (
    AroundTerm,
    Between,
    Comparison,
    Exists,
    In,
    Is,
    NamedTerm,
    Operator,
    Predicate,
    Scalar,
    TextMatch,
    TextOperator,
)
from shortlist.model.paths import Path
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Attribute, Term, Vocabulary

X, WHEN, TAGS, DEEP = ("x",), ("when",), ("tags",), ("x", "deep")
SOURCE, TYPE, TIME = ("event", "source"), ("event", "type"), ("event", "time")
VOCABULARY = Vocabulary(
    {
        X: Attribute(terms={"low": Term(trapezoid=(None, None, 1.0, 2.0))}),
        WHEN: Attribute(type="time"),
        TAGS: Attribute(many=True),
    }
)

FIRST_INSTANT = 1_000_000
NUMBERS: list[Scalar] = [0.0, 1.0, 2.0, 3.0]
TEXTS = ["", "a", "c", "aa", "ac"]
INSTANTS: list[Scalar] = [Instant(FIRST_INSTANT + micros) for micros in (0, 1, 3)]
EITHER_WAY = (False, True)


def ordered(path: Path, literals: list[Scalar]) -> list[Predicate]:
    twice = list(product(literals, literals))
    return [
        *[Comparison(path, *rest) for rest in product(get_args(Operator), literals, EITHER_WAY)],
        *[In(path, *rest) for rest in product(twice, EITHER_WAY)],
        *[Between(path, *ends, negated) for ends, negated in product(twice, EITHER_WAY)],
    ]


def texts(path: Path) -> list[Predicate]:
    searches = product(get_args(TextOperator), TEXTS, EITHER_WAY)
    return [*ordered(path, [*TEXTS]), *[TextMatch(path, *rest) for rest in searches]]


def booleans(path: Path) -> list[Predicate]:
    return [Comparison(path, *rest) for rest in product(("=", "!="), EITHER_WAY, EITHER_WAY)]


def existence(path: Path) -> list[Predicate]:
    return [Exists(path), Exists(path, negated=True)]


def fuzzy(path: Path) -> list[Predicate]:
    terms = [AroundTerm(1.0, 1.0), AroundTerm(2.0, 0.5), *([NamedTerm("low")] if path == X else [])]
    thresholds = (None, 0.5)
    return [
        Is(path, *rest)
        for rest in product(terms, ((), ("very",)), EITHER_WAY, thresholds, thresholds)
    ]


POOLS: dict[Path, list[list[Predicate]]] = {
    X: [ordered(X, NUMBERS), texts(X), booleans(X), existence(X)],
    SOURCE: [texts(SOURCE), existence(SOURCE)],
    TYPE: [texts(TYPE), existence(TYPE)],
    TIME: [ordered(TIME, INSTANTS), existence(TIME)],
    WHEN: [ordered(WHEN, INSTANTS), booleans(WHEN), existence(WHEN)],
}
"""The crisp predicates on each attribute that is not multi-valued, by type."""
