"""Scores as templates: what those of one shape share, and the parameters of each."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from shortlist.language import tree
from shortlist.language.parser import parse_any_score
from shortlist.matching.arrays import Floats, Ints, Longs, picked
from shortlist.matching.index.storage import Parts
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.layout import Kind, Operation
from shortlist.scoring.relevance import term_weights

ARITHMETIC = {
    "+": Operation.ADD,
    "-": Operation.SUBTRACT,
    "*": Operation.MULTIPLY,
    "/": Operation.DIVIDE,
    "^": Operation.POWER,
}
FUNCTIONS = {
    "abs": Operation.ABSOLUTE,
    "sqrt": Operation.ROOT,
    "log": Operation.LOGARITHM,
    "exp": Operation.EXPONENTIAL,
    "min": Operation.MINIMUM,
    "max": Operation.MAXIMUM,
}
DEGREES = {"possibility": Operation.POSSIBILITY, "necessity": Operation.NECESSITY}
NEAREST = {"distance": Kind.NEAREST, "max_distance": Kind.NEAREST_AT_WORST}
WHOLE = {tree.Relevance: Kind.RELEVANCE, tree.Cosine: Kind.COSINE}


class Instruction(NamedTuple):
    operation: Operation
    path: Path = ()
    """The attribute, where it asks for one."""
    size: int = 0
    """Of a query's terms, or of a vector's coordinates."""

    @property
    def width(self) -> int:
        """How many parameters it takes."""
        match self.operation:
            case Operation.CONSTANT:
                return 1
            case Operation.OFFSET:
                return 2
            case Operation.RELEVANCE:
                return 1 + 2 * self.size
            case Operation.COSINE:
                return 1 + self.size
        return 0


class Term(NamedTuple):
    """A word of a query, which is known by a number where scores are kept."""

    path: Path
    word: str


Parameter = float | Term
Step = tuple[Instruction, tuple[Parameter, ...]]


class Template(NamedTuple):
    kind: Kind
    instructions: tuple[Instruction, ...]

    @classmethod
    def restored(cls, saved: Any) -> "Template":
        """The one that was saved, which is a tuple of tuples by now.

        >>> one = Template(Kind.GENERAL, (Instruction(Operation.ATTRIBUTE, ("rent",)),))
        >>> Template.restored((0, ((1, ("rent",), 0),))) == one
        True
        """
        kind, steps = saved
        return cls(Kind(kind), tuple(Instruction(Operation(step[0]), *step[1:]) for step in steps))

    @property
    def width(self) -> int:
        return sum(instruction.width for instruction in self.instructions)

    @property
    def term_places(self) -> tuple[int, ...]:
        """Which parameters are the numbers of terms."""
        places: list[int] = []
        start = 0
        for instruction in self.instructions:
            if instruction.operation is Operation.RELEVANCE:
                places += range(start + 1, start + instruction.width, 2)
            start += instruction.width
        return tuple(places)

    @property
    def places(self) -> Iterator[int]:
        """Where on the stack the result of each instruction goes."""
        top = -1
        for instruction in self.instructions:
            if instruction.operation < Operation.NEGATE:
                top += 1
            elif instruction.operation >= Operation.ADD:
                top -= 1
            yield top


def templated(score: tree.Score, vocabulary: Vocabulary) -> tuple[Template, tuple[Parameter, ...]]:
    """What a score shares with others of its shape, and what is its own.

    >>> from shortlist.language.parser import parse_any_score
    >>> template, parameters = templated(parse_any_score("2 * rent + 5"), Vocabulary())
    >>> template == templated(parse_any_score("7 * rent + 1"), Vocabulary())[0], parameters
    (True, (2.0, 5.0))
    """
    match score:
        case tree.Negate(tree.Distance(kind, axes)):
            return _joined(NEAREST[kind], map(_offset, axes))
    return _joined(WHOLE.get(type(score), Kind.GENERAL), _steps(score, vocabulary))


def _joined(kind: Kind, steps: Iterator[Step]) -> tuple[Template, tuple[Parameter, ...]]:
    instructions, parameters = zip(*steps, strict=True)
    return Template(kind, instructions), tuple(chain.from_iterable(parameters))


def _steps(score: tree.Score, vocabulary: Vocabulary) -> Iterator[Step]:
    """Operands first, in the order in which the plain evaluation takes them."""
    match score:
        case tree.Number(value):
            yield Instruction(Operation.CONSTANT), (value,)
        case tree.AttributeValue(path):
            yield Instruction(Operation.ATTRIBUTE, path), ()
        case tree.Degree(name):
            yield Instruction(DEGREES[name]), ()
        case tree.Negate(operand):
            yield from _steps(operand, vocabulary)
            yield Instruction(Operation.NEGATE), ()
        case tree.Arithmetic(operator, left, right):
            yield from _steps(left, vocabulary)
            yield from _steps(right, vocabulary)
            yield Instruction(ARITHMETIC[operator]), ()
        case tree.Call("min" | "max" as function, (first, *others)):
            yield from _steps(first, vocabulary)
            for other in others:
                yield from _steps(other, vocabulary)
                yield Instruction(FUNCTIONS[function]), ()
        case tree.Call(function, (operand,)):
            yield from _steps(operand, vocabulary)
            yield Instruction(FUNCTIONS[function]), ()
        case tree.Distance(kind, axes):
            yield from _distance(kind, axes)
        case tree.Relevance(path, query):
            weights = term_weights(query, vocabulary.of(path).idf)
            parameters: list[Parameter] = [math.hypot(*weights.values())]
            for word, weight in weights.items():
                parameters += [Term(path, word), weight]
            yield Instruction(Operation.RELEVANCE, path, len(weights)), tuple(parameters)
        case tree.Cosine(path, vector):
            length = math.hypot(*vector)
            yield Instruction(Operation.COSINE, path, len(vector)), (length, *vector)
        case tree.OfSubscription():
            raise ValueError("only an advertisement's score asks about a subscription")


def _distance(kind: str, axes: tuple[tree.Axis, ...]) -> Iterator[Step]:
    squared = kind == "distance"
    for number, axis in enumerate(axes):
        yield _offset(axis)
        if squared:
            yield Instruction(Operation.SQUARE), ()
        if number:
            yield Instruction(Operation.ADD if squared else Operation.LARGER), ()
    if squared:
        yield Instruction(Operation.ROOT), ()


def _offset(axis: tree.Axis) -> Step:
    return Instruction(Operation.OFFSET, axis.path), (axis.value, axis.weight)


class ScoreRows(NamedTuple):
    """Scores of subscriptions in order, as `StoredScores` takes them: shapes, and parameters.

    >>> rows = ScoreRows.of(["5 - rent", "7 - rent", 0.5], np.array([0, 1, 0]), np.zeros(3),
    ...                     Vocabulary(), Limits())
    >>> len(rows.templates), rows.template_of, rows.parameters
    (2, array([0, 0, 0], dtype=int32), array([5., 7., 5.]))
    """

    templates: list[Template]
    template_of: Ints
    offsets: Longs
    parameters: Floats
    """Terms are places in `terms` here."""
    terms: list[Term]
    least: Floats

    @classmethod
    def of(
        cls,
        scores: Sequence[str | float | None],
        score_of: Ints,
        least: Floats,
        vocabulary: Vocabulary,
        limits: Limits,
    ) -> "ScoreRows":
        """Given different scores, and which of them each subscription has."""
        templates: dict[Template, int] = {}
        terms: dict[Term, int] = {}
        shapes, rows = [], []
        for score in scores:
            template, parameters = templated(parse_any_score(score, limits), vocabulary)
            shapes.append(templates.setdefault(template, len(templates)))
            rows.append(
                [
                    terms.setdefault(item, len(terms)) if isinstance(item, Term) else item
                    for item in parameters
                ]
            )
        ends = np.cumsum([0, *map(len, rows)])
        flat = np.array([*chain.from_iterable(rows)], np.float64)
        members, offsets = picked(ends, score_of)
        template_of = np.array(shapes, np.int32)[score_of]
        return cls([*templates], template_of, offsets, flat[members], [*terms], least)

    @classmethod
    def of_saved(cls, saved: Parts) -> "ScoreRows":
        return cls(**{**saved, "templates": [*map(Template.restored, saved["templates"])]})
