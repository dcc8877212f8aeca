"""Trees to canonical text, one for each tree; parsing it gives the tree back."""

from typing import assert_never

from shortlist.language import tree
from shortlist.language.scores import BINDING, SIGNED
from shortlist.model.paths import Path, format_path
from shortlist.model.times import Instant, format_time

NOT = frozenset({"not"})
TERM_WORDS = frozenset({"not", "very", "somewhat", "trapezoid", "around"})
DEGREES = frozenset({"possibility", "necessity"})
SUBSCRIPTION = frozenset({"subscription"})

ATOM = 5


def print_where(where: tree.Where) -> str:
    """Parentheses stand only where the tree would change without them.

    >>> from shortlist.language.parser import parse_where
    >>> print_where(parse_where("NOT (a<>1.0 OR (b in (1,2)) AND c = 'x')"))
    "not a != 1 and (b not in (1, 2) or not c = 'x')"
    """
    match where:
        case tree.And(operands):
            return " and ".join([_inside(part, tree.And | tree.Or) for part in operands])
        case tree.Or(operands):
            return " or ".join([_inside(part, tree.Or) for part in operands])
        case _:
            return _predicate(where)


def print_score(score: tree.Score) -> str:
    """
    >>> from shortlist.language.parser import parse_any_score
    >>> print_score(parse_any_score("(-2)^2 - (-(2^2)) + (A*b)"))
    '(-2) ^ 2 - -2 ^ 2 + A * b'
    """
    match score:
        case tree.Number(value):
            return _number(value)
        case tree.AttributeValue(path):
            return _attribute(path, DEGREES if len(path) == 1 else frozenset())
        case tree.Degree(name):
            return name
        case tree.OfSubscription(name, key):
            return f"subscription.{name}" + ("" if key is None else f".{format_path((key,))}")
        case tree.Negate(operand):
            return f"-{_operand(operand, SIGNED)}"
        case tree.Arithmetic():
            return _arithmetic(score)
        case tree.Call(function, arguments):
            return f"{function}({', '.join([print_score(part) for part in arguments])})"
        case tree.Distance(kind, axes):
            return f"{kind}({', '.join([_axis(axis) for axis in axes])})"
        case tree.Relevance(path, query):
            return f"relevance({_attribute(path)}, {_text(query)})"
        case tree.Cosine(path, vector):
            return f"cosine({_attribute(path)}, [{', '.join([_number(part) for part in vector])}])"
        case _:
            assert_never(score)


def _inside(where: tree.Where, levels: object) -> str:
    text = print_where(where)
    return f"({text})" if isinstance(where, levels) else text  # type: ignore[arg-type]


def _predicate(predicate: tree.Predicate) -> str:
    name = format_path(predicate.path, NOT if len(predicate.path) == 1 else frozenset())
    before, between = ("not ", " not") if predicate.negated else ("", "")
    match predicate:
        case tree.Comparison(_, operator, value):
            return f"{before}{name} {operator} {_scalar(value)}"
        case tree.In(_, values):
            return f"{name}{between} in ({', '.join([_scalar(value) for value in values])})"
        case tree.Between(_, low, high):
            return f"{name}{between} between {_scalar(low)} and {_scalar(high)}"
        case tree.TextMatch(_, operator, text):
            return f"{name}{between} {operator} {_text(text)}"
        case tree.Exists():
            return f"{before}{name} exists"
        case tree.Is(_, term, hedges):
            words = "".join([f" {hedge}" for hedge in hedges])
            return f"{name} is{between}{words} {_term(term)}{_thresholds(predicate)}"
        case _:
            assert_never(predicate)


def _term(term: tree.FuzzyTerm) -> str:
    match term:
        case tree.NamedTerm(name):
            return format_path((name,), TERM_WORDS)
        case tree.TrapezoidTerm(corners):
            ends = ["null" if corner is None else _number(corner) for corner in corners]
            return f"trapezoid({', '.join(ends)})"
        case tree.AroundTerm(centre, spread):
            return f"around({_number(centre)}, {_number(spread)})"
        case _:
            assert_never(term)


def _thresholds(predicate: tree.Is) -> str:
    degrees = (("possibility", predicate.possibility), ("necessity", predicate.necessity))
    given = [f"{name} >= {_number(value)}" for name, value in degrees if value is not None]
    return f" ({', '.join(given)})" if given else ""


def _scalar(value: tree.Scalar) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Instant(micros):
            return f"time '{format_time(micros)}'"
        case str():
            return _text(value)
        case _:
            return _number(value)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _number(value: float) -> str:
    """
    >>> [_number(value) for value in (1.0, -0.0, 0.25, 1e22, 2.5e-7)]
    ['1', '0', '0.25', '1e22', '2.5e-7']
    """
    value = float(value)
    if value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent)}" if exponent else digits


def _attribute(path: Path, reserved: frozenset[str] = frozenset()) -> str:
    """In an advertisement's score a bare `subscription` is not an attribute, so it is quoted."""
    first = format_path(path[:1], reserved | SUBSCRIPTION)
    return ".".join([first, *[format_path((key,)) for key in path[1:]]])


def _axis(axis: tree.Axis) -> str:
    weight = "" if axis.weight == 1 else f" weight {_number(axis.weight)}"
    return f"{_attribute(axis.path)}: {_number(axis.value)}{weight}"


def _arithmetic(score: tree.Arithmetic) -> str:
    binding = BINDING[score.operator]
    left, right = (ATOM, SIGNED) if score.operator == "^" else (binding, binding + 1)
    return f"{_operand(score.left, left)} {score.operator} {_operand(score.right, right)}"


def _operand(score: tree.Score, tightness: int) -> str:
    """In parentheses if it binds less tightly than its place needs."""
    text = print_score(score)
    return f"({text})" if _binding(score) < tightness else text


def _binding(score: tree.Score) -> int:
    match score:
        case tree.Arithmetic(operator):
            return BINDING[operator]
        case tree.Negate():
            return SIGNED
        case _:
            return ATOM
