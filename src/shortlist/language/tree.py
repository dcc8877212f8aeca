"""The trees of the language. Negation stands at predicates only: the parser pushes it down."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shortlist.model.paths import Path
from shortlist.model.times import Instant

Scalar = float | str | bool | Instant
"""A literal: its Python type is its type in the language."""

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
TextOperator = Literal["contains", "starts with", "ends with"]
Hedge = Literal["very", "somewhat"]


@dataclass(frozen=True, slots=True)
class Comparison:
    path: Path
    operator: Operator
    value: Scalar
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In:
    path: Path
    values: tuple[Scalar, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Between:
    """Both ends included."""

    path: Path
    low: Scalar
    high: Scalar
    negated: bool = False


@dataclass(frozen=True, slots=True)
class TextMatch:
    path: Path
    operator: TextOperator
    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    path: Path
    negated: bool = False


@dataclass(frozen=True, slots=True)
class NamedTerm:
    """A term of the attribute's vocabulary."""

    name: str


@dataclass(frozen=True, slots=True)
class TrapezoidTerm:
    corners: tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class AroundTerm:
    centre: float
    spread: float


FuzzyTerm = NamedTerm | TrapezoidTerm | AroundTerm


@dataclass(frozen=True, slots=True)
class Is:
    """A fuzzy predicate; its thresholds apply after hedges and negation."""

    path: Path
    term: FuzzyTerm
    hedges: tuple[Hedge, ...] = ()
    negated: bool = False
    possibility: float | None = None
    necessity: float | None = None


CrispPredicate = Comparison | In | Between | TextMatch | Exists
Predicate = CrispPredicate | Is


@dataclass(frozen=True, slots=True)
class And:
    """Two or more operands; a nested conjunction is a level of its own."""

    operands: tuple["Where", ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple["Where", ...]


Where = Predicate | And | Or
CONNECTIVES = (And, Or)
"""For `isinstance`, which takes a union apart each time."""


def predicates(where: Where | None) -> Iterator[Predicate]:
    """Every predicate of a condition, from left to right."""
    left = [] if where is None else [where]
    while left:
        one = left.pop()
        if isinstance(one, CONNECTIVES):
            left += reversed(one.operands)
        else:
            yield one


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """A number that the publication carries."""

    path: Path


@dataclass(frozen=True, slots=True)
class Degree:
    """How well the condition was met."""

    name: Literal["possibility", "necessity"]


@dataclass(frozen=True, slots=True)
class OfSubscription:
    """What an advertisement's score asks of a candidate."""

    name: Literal["score", "volume", "profile"]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Negate:
    operand: "Score"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Literal["+", "-", "*", "/", "^"]
    left: "Score"
    right: "Score"


@dataclass(frozen=True, slots=True)
class Call:
    function: Literal["min", "max", "abs", "sqrt", "log", "exp"]
    arguments: tuple["Score", ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One attribute of a distance."""

    path: Path
    value: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Distance:
    kind: Literal["distance", "max_distance"]
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Relevance:
    path: Path
    query: str


@dataclass(frozen=True, slots=True)
class Cosine:
    path: Path
    vector: tuple[float, ...]


Score = (
    Number
    | AttributeValue
    | Degree
    | OfSubscription
    | Negate
    | Arithmetic
    | Call
    | Distance
    | Relevance
    | Cosine
)


def parts(score: Score) -> Iterator[Score]:
    """A score and every score within it, from left to right."""
    yield score
    match score:
        case Negate(operand):
            yield from parts(operand)
        case Arithmetic(_, left, right):
            yield from parts(left)
            yield from parts(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from parts(argument)
