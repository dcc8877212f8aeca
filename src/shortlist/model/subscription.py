"""A standing subscription: a condition, a score, and the shortlist that it feeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from shortlist.model.fields import (
    Duration,
    Id,
    Noun,
    Number,
    Share,
    Text,
    expecting,
    finite,
    whole_characters,
)
from shortlist.model.policy import Everything, Policy
from shortlist.model.shortlist import Combine, Shortlist

NormName = Literal["min", "product", "lukasiewicz", "average", "max"]
NORMS: tuple[NormName, ...] = ("min", "product", "lukasiewicz", "average", "max")


@dataclass(frozen=True, slots=True)
class Weights:
    """The norm that takes the weighted mean of a flat conjunction, in predicate order."""

    weights: tuple[float, ...]


Norm = NormName | Weights


def _norm(value: object) -> object:
    if isinstance(value, Weights) or value in NORMS:
        return value
    if isinstance(value, Mapping) and value.keys() == {"weights"}:
        return _weights(value["weights"])
    raise ValueError("no norm")


def _weights(value: object) -> Weights:
    numbers = [finite(weight) for weight in value] if isinstance(value, list | tuple) else []
    weights = tuple(number for number in numbers if number is not None and number >= 0)
    if not any(weights) or len(weights) < len(numbers):
        raise ValueError("no weights")
    return Weights(weights)


def _norm_document(value: Norm) -> object:
    return {"weights": list(value.weights)} if isinstance(value, Weights) else value


def _score(value: object) -> object:
    if isinstance(value, str):
        return whole_characters(value)
    number = finite(value)
    if number is None:
        raise ValueError("neither an expression nor a number")
    return number


Score = Annotated[Any, BeforeValidator(_score), expecting("a score expression or a number")]
AnyNorm = Annotated[
    Any,
    BeforeValidator(_norm),
    PlainSerializer(_norm_document),
    expecting(
        "min, product, lukasiewicz, average, max, "
        "or {weights: a list of numbers of at least 0, not all of them 0}"
    ),
]
Weight = Annotated[
    float, Field(strict=True, gt=0, allow_inf_nan=False), expecting("a number above 0")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast(Noun):
    """Static thresholds under which a publication does not match."""

    possibility: Share = 0.0
    necessity: Share = 0.0
    score: Number | None = None


NO_THRESHOLD = AtLeast()
EVERYTHING = Everything()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription(Noun):
    """A condition with its score; without a `shortlist` it carries one of its own.

    >>> own = Subscription(id="s", where="rent < 900").own_shortlist()
    >>> own.id, own.subscriber, own.policy.kind
    ('s', 's', 'everything')
    """

    id: Id
    shortlist: Id | None = None
    where: Text | None = None
    score: Score | None = None
    weight: Weight = 1.0
    norm: AnyNorm = "min"
    at_least: AtLeast = NO_THRESHOLD
    refresh: Duration | None = None
    profile: Mapping[Text, Number] = field(default_factory=dict)
    subscriber: Id | None = None
    policy: Policy | None = None
    combine: Combine | None = None

    @property
    def shortlist_id(self) -> str:
        return self.shortlist if self.shortlist is not None else self.id

    @property
    def asks_only_condition(self) -> bool:
        """Whether it matches all that meets its condition: the score is a number, if any."""
        return self.matches_plainly and not isinstance(self.score, str)

    @property
    def matches_plainly(self) -> bool:
        """Whether its condition holds or does not, and it matches wherever its score is known."""
        return self.norm == "min" and self.at_least == NO_THRESHOLD

    def own_shortlist(self) -> Shortlist | None:
        """The shortlist that lives and dies with this subscription, if it names none."""
        if self.shortlist is not None:
            return None
        return Shortlist(
            id=self.id,
            subscriber=self.subscriber or self.id,
            policy=self.policy or EVERYTHING,
            combine=self.combine or "max",
        )
