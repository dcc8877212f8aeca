"""A condition's tree of tokens to its tree of predicates, with negation pushed down to them."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from lark import Token, Tree

from shortlist.language.errors import LanguageError
from shortlist.language.literals import path_of, scalar_of, signed_number, text_of
from shortlist.language.syntax import Branch, check_depth, column, listed, read_syntax, shown
from shortlist.language.tree import (
    And,
    AroundTerm,
    Between,
    Comparison,
    Exists,
    FuzzyTerm,
    In,
    Is,
    NamedTerm,
    Or,
    Predicate,
    Scalar,
    TextMatch,
    TrapezoidTerm,
    Where,
)
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

KINDS: dict[type, str] = {
    float: "a number",
    str: "a string",
    bool: "a boolean",
    Instant: "a time",
}
InlineTerm = TypeVar("InlineTerm", TrapezoidTerm, AroundTerm)
LEVELS = ("disjunction", "conjunction", "negation", "group")


def read_condition(text: str, vocabulary: Vocabulary, limits: Limits) -> Where:
    """The tree of a condition, by parsing all of it.

    >>> read_condition("not rent > 5", Vocabulary(), Limits())
    Comparison(path=('rent',), operator='>', value=5.0, negated=True)
    """
    return ConditionReader(vocabulary, limits).read(read_syntax(text, "disjunction", limits))


class ConditionReader:
    """Reads one condition. Depth counts every `and`, `or`, `not` and pair of parentheses that a
    predicate stands in; a `not` directly before a predicate is free, as canonical text may need it.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self.vocabulary = vocabulary
        self.limits = limits
        self.predicates = 0
        self.readers: dict[str, Callable[..., Predicate]] = {
            "comparison": self._comparison,
            "membership": self._membership,
            "between": self._between,
            "text_match": self._text_match,
            "exists": self._exists,
            "fuzzy": self._fuzzy,
        }

    def read(self, tree: Branch, negated: bool = False, depth: int = 0) -> Where:
        check_depth(tree, depth, self.limits)
        match tree.data:
            case "disjunction" | "conjunction":
                kind = Or if (tree.data == "disjunction") != negated else And
                return kind(tuple([self.read(part, negated, depth + 1) for part in _parts(tree)]))
            case "negation":
                (part,) = _parts(tree)
                return self.read(part, not negated, depth + (part.data in LEVELS))
            case "group":
                (part,) = _parts(tree)
                return self.read(part, negated, depth + 1)
        self._count(tree)
        return self.readers[tree.data](negated, *tree.children)

    def _count(self, tree: Branch) -> None:
        self.predicates += 1
        allowed = self.limits.predicates
        if self.predicates > allowed:
            raise LanguageError(f"at most {allowed} predicates are allowed", column(tree))

    def _comparison(self, negated: bool, path: Token, operator: Token, value: Branch) -> Comparison:
        keys = path_of(path)
        scalar = self._scalar(keys, value)
        operators = {"=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
        if operator not in ("=", "!=", "<>"):
            _refuse_boolean(scalar, value)
        return Comparison(keys, operators[operator], scalar, negated)  # type: ignore[arg-type]

    def _membership(
        self, negated: bool, path: Token, inverted: Token | None, *values: Branch
    ) -> In:
        keys = path_of(path)
        return In(keys, self._scalars(keys, values), negated != bool(inverted))

    def _between(
        self, negated: bool, path: Token, inverted: Token | None, low: Branch, high: Branch
    ) -> Between:
        keys = path_of(path)
        first, last = self._scalars(keys, (low, high))
        return Between(keys, first, last, negated != bool(inverted))

    def _text_match(
        self, negated: bool, path: Token, inverted: Token | None, operator: Token, text: Token
    ) -> TextMatch:
        word = " ".join(operator.lower().split())
        return TextMatch(path_of(path), word, text_of(text), negated != bool(inverted))  # type: ignore[arg-type]

    def _exists(self, negated: bool, path: Token) -> Exists:
        return Exists(path_of(path), negated)

    def _fuzzy(
        self,
        negated: bool,
        path: Token,
        inverted: Token | None,
        hedges: Branch,
        term: Branch,
        thresholds: Branch | None,
    ) -> Is:
        keys = path_of(path)
        return Is(
            keys,
            self._named(path, keys, term) if term.data == "named_term" else _inline(term),
            tuple([hedge.lower() for hedge in hedges.children]),  # type: ignore[union-attr,misc]
            negated != bool(inverted),
            **_thresholds(thresholds),
        )

    def _named(self, path: Token, keys: Path, tree: Branch) -> NamedTerm:
        (token,) = tree.children
        assert isinstance(token, Token)
        (name,) = path_of(token)
        terms = self.vocabulary.of(keys).terms
        if name in terms:
            return NamedTerm(name)
        hint = f"its terms are {listed(name, terms)}" if terms else "the vocabulary gives it none"
        if name.lower() == "null":
            hint = f"write not {shown(path)} exists to ask for its absence"
        raise LanguageError(
            f"'{shown(name)}' is not a term of '{shown(path)}'; {hint}", column(token)
        )

    def _scalar(self, path: Path, tree: Branch) -> Scalar:
        return scalar_of(tree, self.vocabulary.is_time(path))

    def _scalars(self, path: Path, trees: tuple[Branch, ...]) -> tuple[Scalar, ...]:
        """Values of one type."""
        scalars = tuple([self._scalar(path, tree) for tree in trees])
        first = type(scalars[0])
        for scalar, tree in zip(scalars, trees, strict=True):
            _refuse_boolean(scalar, tree)
            if type(scalar) is not first:
                raise LanguageError(
                    f"expected {KINDS[first]} like the first value, found {KINDS[type(scalar)]}",
                    column(tree),
                )
        return scalars


def _parts(tree: Branch) -> list[Branch]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _refuse_boolean(scalar: Scalar, tree: Branch) -> None:
    if isinstance(scalar, bool):
        raise LanguageError("a boolean can only be compared with = and !=", column(tree))


def _inline(tree: Branch) -> FuzzyTerm:
    shape, *corners = tree.children
    assert isinstance(shape, Token)
    trees = [corner for corner in corners if not isinstance(corner, Token)]
    kind, wanted = shape.lower(), 4 if shape.lower() == "trapezoid" else 2
    if len(trees) != wanted:
        raise LanguageError(f"{kind} takes {wanted} values, found {len(trees)}", column(shape))
    values = [None if corner.data == "null" else signed_number(corner) for corner in trees]
    return _trapezoid(values, trees) if kind == "trapezoid" else _around(values, trees)


def _trapezoid(values: list[float | None], trees: list[Branch]) -> TrapezoidTerm:
    for left, right, which in ((0, 1, "first"), (2, 3, "last")):
        if (values[left] is None) != (values[right] is None):
            lonely = left if values[left] is None else right
            raise LanguageError(
                f"of the {which} two corners both must be null, or none", column(trees[lonely])
            )
    return _sound(TrapezoidTerm((values[0], values[1], values[2], values[3])), trees)


def _around(values: list[float | None], trees: list[Branch]) -> AroundTerm:
    centre, spread = values
    if centre is None or spread is None:
        nowhere = trees[0] if centre is None else trees[1]
        raise LanguageError("around takes two numbers, found null", column(nowhere))
    return _sound(AroundTerm(centre, spread), trees)


def _sound(term: InlineTerm, trees: list[Branch]) -> InlineTerm:
    fault = term_fault(term)
    if fault is not None:
        at, message = fault
        raise LanguageError(message, column(trees[at]))
    return term


def term_fault(term: FuzzyTerm) -> tuple[int, str] | None:
    """Which number of a term cannot stand beside the others, and why.

    >>> term_fault(TrapezoidTerm((None, None, 5.0, 4.0)))
    (3, 'the corners of a trapezoid must not go down')
    """
    match term:
        case AroundTerm(centre, spread):
            if spread < 0:
                return 1, "a spread must not be negative"
            if math.isinf(centre + spread) or math.isinf(centre - spread):
                return 1, "this spread is too large for its centre"
        case TrapezoidTerm(corners):
            known = [(corner, at) for at, corner in enumerate(corners) if corner is not None]
            for (low, _), (high, at) in pairwise(known):
                if low > high:
                    return at, "the corners of a trapezoid must not go down"
    return None


def has_sound_numbers(predicate: Is) -> bool:
    """Whether its term and its thresholds would be accepted.

    >>> has_sound_numbers(Is(("rent",), AroundTerm(900.0, 100.0), necessity=1.5))
    False
    """
    thresholds = (predicate.possibility, predicate.necessity)
    return term_fault(predicate.term) is None and all(map(_is_share, thresholds))


def _is_share(threshold: float | None) -> bool:
    return threshold is None or 0 <= threshold <= 1


def _thresholds(tree: Branch | None) -> dict[str, float]:
    limits: dict[str, float] = {}
    for threshold in [] if tree is None else _parts(tree):
        degree, number = threshold.children
        assert isinstance(degree, Token)
        assert isinstance(number, Tree)
        name, value = degree.lower(), signed_number(number)
        if name in limits:
            raise LanguageError(f"'{name}' has a threshold already", column(degree))
        if not _is_share(value):
            raise LanguageError("a threshold must lie between 0 and 1", column(number))
        limits[name] = value
    return limits
