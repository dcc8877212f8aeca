"""A standing subscription: a condition, a score, and the shortlist that it feeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from shortlist.model.fields import DOCUMENT, Duration, Id, Number, Share, Text
from shortlist.model.policy import Everything, Policy
from shortlist.model.shortlist import Combine, Shortlist

NormName = Literal["min", "product", "lukasiewicz", "average", "max"]
NORMS: tuple[NormName, ...] = ("min", "product", "lukasiewicz", "average", "max")


@dataclass(frozen=True, slots=True)
class Weights:
    """The norm that takes the weighted mean of a flat conjunction, in predicate order."""

    weights: tuple[float, ...]


Norm = NormName | Weights


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
    )


def _norm(value: object) -> object:
    if isinstance(value, Weights) or value in NORMS:
        return value
    if isinstance(value, Mapping) and value.keys() == {"weights"}:
        weights = value["weights"]
        if (
            isinstance(weights, list | tuple)
            and all(_is_number(weight) and weight >= 0 for weight in weights)
            and sum(weights) > 0
        ):
            return Weights(tuple(float(weight) for weight in weights))
    raise PydanticCustomError(
        "norm",
        'expected min, product, lukasiewicz, average, max or {{"weights": [numbers, not all 0]}}',
    )


def _norm_document(value: Norm) -> object:
    return {"weights": list(value.weights)} if isinstance(value, Weights) else value


def _score(value: object) -> object:
    if isinstance(value, str) or _is_number(value):
        return value
    raise PydanticCustomError("score", "expected a score expression, or a number from 0 to 1")


Score = Annotated[Any, BeforeValidator(_score)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """Static thresholds under which a publication does not match."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT

    possibility: Share = 0.0
    necessity: Share = 0.0
    score: Number | None = None


NO_THRESHOLD = AtLeast()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A condition with its score; without a `shortlist` it carries one of its own.

    >>> own = Subscription(id="s", where="rent < 900").own_shortlist()
    >>> own.id, own.subscriber, own.policy.kind
    ('s', 's', 'everything')
    """

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT

    id: Id
    shortlist: Id | None = None
    where: Text | None = None
    score: Score | None = None
    weight: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] = 1.0
    norm: Annotated[Any, BeforeValidator(_norm), PlainSerializer(_norm_document)] = "min"
    at_least: AtLeast = NO_THRESHOLD
    refresh: Duration | None = None
    profile: Mapping[Text, Number] = field(default_factory=dict)
    subscriber: Id | None = None
    policy: Policy | None = None
    combine: Combine | None = None

    @property
    def shortlist_id(self) -> str:
        return self.shortlist if self.shortlist is not None else self.id

    def own_shortlist(self) -> Shortlist | None:
        """The shortlist that lives and dies with this subscription, if it names none."""
        if self.shortlist is not None:
            return None
        return Shortlist(
            id=self.id,
            subscriber=self.subscriber or self.id,
            policy=self.policy or Everything(),
            combine=self.combine or "max",
        )
