"""The scores of subscriptions as arrays: the number of a template, a row of parameters.

Scores of one shape share a template: the same steps, each score with parameters of its own.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from shortlist.language.parser import parse_any_score
from shortlist.language.tree import (
    Arithmetic,
    AttributeValue,
    Axis,
    Call,
    Cosine,
    Degree,
    Distance,
    Negate,
    Number,
    OfSubscription,
    Relevance,
    Score,
)
from shortlist.matching.arrays import Ints, with_length
from shortlist.model.paths import Path
from shortlist.model.remembering import Remembered
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.cosines import Posted
from shortlist.scoring.kernels.layout import Kind, Operation, Stored
from shortlist.scoring.numbers import Numbering, Spans
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


@dataclass(frozen=True, slots=True)
class Template:
    kind: Kind
    instructions: tuple[Instruction, ...]

    @property
    def width(self) -> int:
        return sum(instruction.width for instruction in self.instructions)

    @property
    def term_places(self) -> Iterator[int]:
        """Which parameters are the numbers of terms."""
        start = 0
        for instruction in self.instructions:
            if instruction.operation is Operation.RELEVANCE:
                yield from range(start + 1, start + instruction.width, 2)
            start += instruction.width

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


def templated(score: Score, vocabulary: Vocabulary) -> tuple[Template, tuple[Parameter, ...]]:
    """What a score shares with others of its shape, and what is its own.

    >>> from shortlist.language.parser import parse_score
    >>> template, parameters = templated(parse_score("2 * rent + 5"), Vocabulary())
    >>> template == templated(parse_score("7 * rent + 1"), Vocabulary())[0], parameters
    (True, (2.0, 5.0))
    """
    match score:
        case Negate(Distance(kind, axes)):
            return _joined(NEAREST[kind], map(_offset, axes))
        case Relevance():
            return _joined(Kind.RELEVANCE, _steps(score, vocabulary))
        case Cosine():
            return _joined(Kind.COSINE, _steps(score, vocabulary))
    return _joined(Kind.GENERAL, _steps(score, vocabulary))


def _joined(kind: Kind, steps: Iterator[Step]) -> tuple[Template, tuple[Parameter, ...]]:
    instructions, parameters = zip(*steps, strict=True)
    return Template(kind, instructions), tuple(chain.from_iterable(parameters))


def _steps(score: Score, vocabulary: Vocabulary) -> Iterator[Step]:
    """Operands first, in the order in which the plain evaluation takes them."""
    match score:
        case Number(value):
            yield Instruction(Operation.CONSTANT), (value,)
        case AttributeValue(path):
            yield Instruction(Operation.ATTRIBUTE, path), ()
        case Degree(name):
            yield Instruction(DEGREES[name]), ()
        case Negate(operand):
            yield from _steps(operand, vocabulary)
            yield Instruction(Operation.NEGATE), ()
        case Arithmetic(operator, left, right):
            yield from _steps(left, vocabulary)
            yield from _steps(right, vocabulary)
            yield Instruction(ARITHMETIC[operator]), ()
        case Call("min" | "max" as function, (first, *others)):
            yield from _steps(first, vocabulary)
            for other in others:
                yield from _steps(other, vocabulary)
                yield Instruction(FUNCTIONS[function]), ()
        case Call(function, (operand,)):
            yield from _steps(operand, vocabulary)
            yield Instruction(FUNCTIONS[function]), ()
        case Distance(kind, axes):
            yield from _distance(kind, axes)
        case Relevance(path, query):
            weights = term_weights(query, vocabulary.of(path).idf)
            parameters: list[Parameter] = [math.hypot(*weights.values())]
            for word, weight in weights.items():
                parameters += [Term(path, word), weight]
            yield Instruction(Operation.RELEVANCE, path, len(weights)), tuple(parameters)
        case Cosine(path, vector):
            length = math.hypot(*vector)
            yield Instruction(Operation.COSINE, path, len(vector)), (length, *vector)
        case OfSubscription():
            raise ValueError("only an advertisement's score asks about a subscription")


def _distance(kind: str, axes: tuple[Axis, ...]) -> Iterator[Step]:
    squared = kind == "distance"
    for number, axis in enumerate(axes):
        yield _offset(axis)
        if squared:
            yield Instruction(Operation.SQUARE), ()
        if number:
            yield Instruction(Operation.ADD if squared else Operation.LARGER), ()
    if squared:
        yield Instruction(Operation.ROOT), ()


def _offset(axis: Axis) -> Step:
    return Instruction(Operation.OFFSET, axis.path), (axis.value, axis.weight)


class Postings:
    """For each term, known by a small number, the subscriptions that have it in their query.

    >>> postings = Postings()
    >>> postings.expect(1)
    >>> for subscription in (5, 3, 8):
    ...     postings.add(0, subscription, 1.0)
    >>> postings.remove(0, 5)
    >>> postings.arrays.subscriptions[postings.arrays.starts[0]:][:postings.arrays.counts[0]]
    array([8, 3], dtype=int32)
    """

    def __init__(self) -> None:
        self.arrays = Posted(
            np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1)
        )
        self._rooms = np.zeros(1, np.int32)
        self._spans = Spans()

    def expect(self, terms: int) -> None:
        """Numbers of terms are under this one, whether any subscription is listed there or not."""
        if terms <= self._rooms.size:
            return
        self._rooms = with_length(self._rooms, terms)
        self.arrays = self.arrays._replace(
            starts=with_length(self.arrays.starts, terms),
            counts=with_length(self.arrays.counts, terms),
        )

    def add(self, term: int, subscription: int, weight: float) -> None:
        if self.arrays.counts[term] == self._rooms[term]:
            self._move(term)
        starts, counts, subscriptions, weights = self.arrays
        place = starts[term] + counts[term]
        subscriptions[place], weights[place] = subscription, weight
        counts[term] += 1

    def remove(self, term: int, subscription: int) -> None:
        """The last one takes its place."""
        starts, counts, subscriptions, weights = self.arrays
        start, last = starts[term], starts[term] + counts[term] - 1
        place = start + np.argmax(subscriptions[start : last + 1] == subscription)
        subscriptions[place], weights[place] = subscriptions[last], weights[last]
        counts[term] -= 1
        if not counts[term]:
            self._spans.give_back(int(start), int(self._rooms[term]))
            self._rooms[term] = 0

    def _move(self, term: int) -> None:
        """To a place with twice the room, so that moving costs little in the long run."""
        start, count = int(self.arrays.starts[term]), int(self.arrays.counts[term])
        room = max(1, 2 * count)
        place = self._spans.take(room)
        self.arrays = self.arrays._replace(
            subscriptions=with_length(self.arrays.subscriptions, self._spans.end),
            weights=with_length(self.arrays.weights, self._spans.end),
        )
        for array in (self.arrays.subscriptions, self.arrays.weights):
            array[place : place + count] = array[start : start + count]
        self.arrays.starts[term] = place
        if count:
            self._spans.give_back(start, count)
        self._rooms[term] = room


class StoredScores:
    """What subscriptions ask for; each is known by a small number.

    >>> scores = StoredScores(Vocabulary(), Limits())
    >>> for number, rent in enumerate((900, 1200)):
    ...     scores.add(number, Subscription(id=str(rent), score=f"{rent} - rent"))
    >>> scores.arrays.templates[:2], scores.arrays.parameters[:2]
    (array([0, 0], dtype=int32), array([ 900., 1200.]))
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self.vocabulary = vocabulary
        self._limits = limits
        self.templates: Numbering[Template] = Numbering()
        self.numbers: Numbering[Path] = Numbering()
        self.texts: Numbering[Path] = Numbering()
        self.vectors: Numbering[Path] = Numbering()
        self.terms: Numbering[Term] = Numbering()
        self.postings = Postings()
        self.depth = 1
        """How many numbers the score of any template has on the stack at most."""
        self.arrays = Stored(
            templates=np.zeros(1, np.int32),
            starts=np.zeros(1, np.int64),
            least=np.zeros(1),
            parameters=np.zeros(1),
            kinds=np.zeros(1, np.int32),
            code_starts=np.zeros(1, np.int64),
            code_ends=np.zeros(1, np.int64),
            code=np.zeros((1, 4), np.int64),
        )
        self._rows, self._code = Spans(), Spans()
        self._templated = Remembered(self._read)

    @property
    def introduced(self) -> int:
        """Templates, and so attributes, and terms that ever got a number: while it stays the same,
        numbers mean the same."""
        return self.templates.introduced + self.terms.introduced

    def templates_of(self, subscriptions: Ints) -> list[int]:
        """The different ones."""
        return np.flatnonzero(np.bincount(self.arrays.templates[subscriptions])).tolist()

    def add(self, number: int, subscription: Subscription) -> None:
        template, parameters = self._templated(subscription.score)
        row = [self.terms.take(item) if isinstance(item, Term) else item for item in parameters]
        self.postings.expect(len(self.terms))
        start = self._rows.take(len(row))
        if number >= self.arrays.templates.size:
            self._make_room(templates=number + 1, starts=number + 1, least=number + 1)
        if self._rows.end > self.arrays.parameters.size:
            self._make_room(parameters=self._rows.end)
        least = subscription.at_least.score
        self.arrays.templates[number] = self._template(template)
        self.arrays.starts[number] = start
        self.arrays.least[number] = -math.inf if least is None else least
        self.arrays.parameters[start : start + len(row)] = row
        if template.kind is Kind.RELEVANCE:
            for term, weight in zip(row[1::2], row[2::2], strict=True):
                self.postings.add(int(term), number, weight)

    def remove(self, number: int) -> None:
        template = self.templates[self.arrays.templates[number]]
        start = int(self.arrays.starts[number])
        for place in template.term_places:
            term = int(self.arrays.parameters[start + place])
            if template.kind is Kind.RELEVANCE:
                self.postings.remove(term, number)
            self.terms.release(term)
        self._rows.give_back(start, template.width)
        self._release(int(self.arrays.templates[number]), template)

    def _read(self, score: str | float | None) -> tuple[Template, tuple[Parameter, ...]]:
        return templated(parse_any_score(score, self._limits), self.vocabulary)

    def _template(self, template: Template) -> int:
        is_new = self.templates.find(template) is None
        number = self.templates.take(template)
        if is_new:
            code = [
                (*self._code_of(instruction), place)
                for instruction, place in zip(template.instructions, template.places, strict=True)
            ]
            start = self._code.take(len(code))
            self._make_room(kinds=number + 1, code_starts=number + 1, code_ends=number + 1)
            self._make_room(code=self._code.end)
            self.arrays.kinds[number] = template.kind
            self.arrays.code_starts[number] = start
            self.arrays.code_ends[number] = start + len(code)
            self.arrays.code[start : start + len(code)] = code
            self.depth = max(self.depth, 1 + max(template.places))
        return number

    def _release(self, number: int, template: Template) -> None:
        if self.templates.release(number):
            start, end = self.arrays.code_starts[number], self.arrays.code_ends[number]
            for instruction, code in zip(
                template.instructions, self.arrays.code[start:end], strict=True
            ):
                if instruction.path:
                    self._attributes(instruction).release(int(code[1]))
            self._code.give_back(int(start), len(template.instructions))

    def _attributes(self, instruction: Instruction) -> Numbering[Path]:
        """Where the attribute of an instruction has its number: each type has its own."""
        match instruction.operation:
            case Operation.RELEVANCE:
                return self.texts
            case Operation.COSINE:
                return self.vectors
        return self.numbers

    def _code_of(self, instruction: Instruction) -> tuple[int, int, int]:
        operation, path, size = instruction
        return operation, self._attributes(instruction).take(path) if path else 0, size

    def _make_room(self, **lengths: int) -> None:
        self.arrays = self.arrays._replace(
            **{
                name: with_length(getattr(self.arrays, name), length)
                for name, length in lengths.items()
            }
        )
