"""What subscriptions ask of a matcher, what it is read under, and what it is compiled to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from shortlist.fuzzy.degrees import FALSE, Degrees
from shortlist.language.tree import CONNECTIVES, Or, Where
from shortlist.matching.coarse import asked_at_least, asked_where
from shortlist.matching.conditions import STRICT, Meets, condition
from shortlist.matching.index.literals import Literal, compiled
from shortlist.matching.index.texts import stable_hash
from shortlist.model.paths import format_path, parse_path
from shortlist.model.settings import Limits
from shortlist.model.subscription import NORMS, AtLeast, Norm, Subscription, Weights
from shortlist.model.vocabulary import Attribute, Vocabulary

MIN = NORMS.index("min")
WEIGHTED = len(NORMS)
"""The number of the norm that has weights; the others are numbered as in `NORMS`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Literals in order, and a postfix program over them.

    In `code` a number from 0 on is a literal, -2n is `and` and -(2n + 1) is `or` of the last n
    results. Under a strict norm, a conjunction holds at most where all of its literals do, and
    `is_conjunction` tells that the whole condition is one; under the others it holds at most
    where any literal does.
    """

    literals: tuple[Literal, ...]
    code: tuple[int, ...]
    norm: int
    is_strict: bool
    is_conjunction: bool
    is_graded: bool
    """Whether degrees other than 0 and 1 may come out of crisp values."""
    least: Degrees = FALSE
    """From which degrees on a match counts."""
    weights: tuple[float, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is the least of crisp literals, in any order, and all above 0 counts."""
        crisp = self.is_conjunction and not self.is_graded
        return crisp and self.norm == MIN and self.least == FALSE

    @property
    def program(self) -> tuple[tuple[int, ...], int, Degrees, tuple[float, ...]]:
        """All that it is beside its literals."""
        return self.code, self.norm, self.least, self.weights


def compiled_condition(
    where: Where, vocabulary: Vocabulary, norm: Norm = "min", least: Degrees = FALSE
) -> Condition:
    """The condition of a tree; `least` is the degrees from which on a match counts.

    >>> from shortlist.language.parser import parse_where
    >>> where = parse_where("rent < 900 and (rooms = 2 or rooms = 3)")
    >>> condition = compiled_condition(where, Vocabulary())
    >>> condition.code, condition.is_conjunction, condition.is_graded
    ((0, 1, 2, -5, -4), False, False)
    """
    literals: list[Literal] = []
    code: list[int] = []
    _compile(where, vocabulary, literals, code)
    strict = norm in STRICT
    graded = not strict or any(literal.grade is not None for literal in literals)
    is_flat = graded or norm != "min"
    return Condition(
        literals=tuple(literals),
        code=tuple(code),
        norm=WEIGHTED if isinstance(norm, Weights) else NORMS.index(norm),
        is_strict=strict,
        is_conjunction=strict and _is_conjunction(code, is_flat),
        is_graded=graded,
        least=least,
        weights=norm.weights if isinstance(norm, Weights) else (),
    )


def _is_conjunction(code: Sequence[int], is_flat: bool) -> bool:
    """Whether nothing is joined by `or` and, for degrees' sake, no level lies within another."""
    levels = [step for step in code if step < 0]
    return not any(step % 2 for step in levels) and not (is_flat and len(levels) > 1)


def _compile(
    where: Where, vocabulary: Vocabulary, literals: list[Literal], code: list[int]
) -> None:
    """Adds the literals of a tree, and the postfix program over them."""
    if isinstance(where, CONNECTIVES):
        for operand in where.operands:
            _compile(operand, vocabulary, literals, code)
        code.append(-(2 * len(where.operands) + isinstance(where, Or)))
    else:
        code.append(len(literals))
        literals.append(compiled(where, vocabulary))


_ATTRIBUTE = TypeAdapter(Attribute)


class Request(NamedTuple):
    """The part of a subscription that decides what matches it, and how far.

    >>> text = Request("rent < 900", "min", 0.5, 0.0).text
    >>> text, Request.of_text(text).where
    ('["rent < 900", "min", 0.5, 0.0]', 'rent < 900')
    """

    where: str | None
    norm: Norm
    possibility: float
    necessity: float

    @classmethod
    def of_text(cls, text: str) -> "Request":
        where, norm, possibility, necessity = json.loads(text)
        given = Weights(tuple(norm)) if isinstance(norm, list) else norm
        return cls(where, given, possibility, necessity)

    @property
    def text(self) -> str:
        norm = self.norm.weights if isinstance(self.norm, Weights) else self.norm
        return json.dumps([self.where, norm, self.possibility, self.necessity])

    @property
    def is_plain(self) -> bool:
        """Whether the least degree decides, and all above 0 counts."""
        return self.norm == "min" and (self.possibility, self.necessity) == FALSE

    @property
    def hash(self) -> int:
        """The same for equal requests, in every process."""
        return _hash(self)

    @property
    def at_least(self) -> AtLeast:
        return AtLeast(possibility=self.possibility, necessity=self.necessity)


@lru_cache(64)
def _hash(request: Request) -> int:
    """Whoever looks for a request enters it next."""
    where, norm, possibility, necessity = request
    return stable_hash(f"{possibility} {necessity} {norm} {where}")


@dataclass(frozen=True, slots=True)
class Terms:
    """A vocabulary and limits.

    >>> terms = Terms(Vocabulary(), Limits())
    >>> terms.request(Subscription(id="s1", where="rent < 900"))
    Request(where='rent < 900', norm='min', possibility=0.0, necessity=0.0)
    """

    vocabulary: Vocabulary
    limits: Limits

    def request(self, subscription: Subscription) -> Request:
        least = asked_at_least(subscription.at_least, self.limits)
        return Request(subscription.where, subscription.norm, least.possibility, least.necessity)

    def meets(self, where: str | None, norm: Norm, version: int) -> Meets:
        """What judges one publication, by this version of the vocabulary."""
        assert version == self.vocabulary.version
        return condition(asked_where(where, self.vocabulary, self.limits), self.vocabulary, norm)


def document_of(vocabulary: Vocabulary) -> dict[str, Any]:
    """What a file could say about the vocabulary.

    >>> document_of(Vocabulary({("rent",): Attribute(type="number")}))
    {'rent': {'type': 'number'}}
    """
    return {
        format_path(path): _ATTRIBUTE.dump_python(attribute, mode="json", exclude_defaults=True)
        for path, attribute in vocabulary.attributes.items()
    }


def vocabulary_of(document: dict[str, Any]) -> Vocabulary:
    """The vocabulary that a document was made of.

    >>> vocabulary_of({"rent": {"type": "number"}})
    Vocabulary(attributes={('rent',): Attribute(type='number', many=False, terms={}, idf={})})
    """
    return Vocabulary(
        {
            parse_path(name): _ATTRIBUTE.validate_python(attribute)
            for name, attribute in document.items()
        }
    )
