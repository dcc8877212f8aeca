"""Policies: how a shortlist turns a scored stream into deliveries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    Tag,
)
from pydantic_core import CoreSchema, core_schema

from shortlist.model.aspects import Aspects
from shortlist.model.durations import format_duration, parse_duration
from shortlist.model.fields import DOCUMENT, Duration, Positive, Share, Whole, expecting, unexpected


@dataclass(frozen=True, slots=True)
class Span:
    """The length of a time window, kept apart from a count of publications."""

    micros: int


def _window(value: object) -> Span | int | None:
    if isinstance(value, str):
        return Span(parse_duration(value))
    if value is None or isinstance(value, Span):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError("neither a duration nor a count")


def _window_text(value: Span | int | None) -> str | int | None:
    return format_duration(value.micros) if isinstance(value, Span) else value


WindowSize = Annotated[
    Any,
    BeforeValidator(_window),
    PlainSerializer(_window_text),
    expecting("a duration above zero such as 40m, a count of at least 1, or null for everything"),
]
PartialShare = Annotated[
    float, Field(strict=True, ge=0, lt=1), expecting("a number from 0 to under 1")
]
Rate = Annotated[float, Field(strict=True, gt=0, le=1), expecting("a number above 0, at most 1")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """Every match, as it arrives."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["everything"] = "everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """Preferential delivery: an arrival must be among the k best still valid ones."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["top-k"] = "top-k"
    k: Positive
    refresh: Duration | None = None
    period: Duration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Top-k/w: the k best of a sliding window, with later promotion."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["window"] = "window"
    k: Positive
    window: WindowSize
    error: PartialShare = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty:
    """What the subscriber rarely gets counts more, within a delivery budget."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["novelty"] = "novelty"
    rate: Rate
    period: Positive
    mode: Literal["lazy", "eager"] = "lazy"
    measure: Literal["rate", "interval"] = "rate"
    algorithm: Literal["threshold", "sampling", "random"] = "threshold"
    aging: Share = 1.0
    seed: Whole = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """As a window, but every score loses half of its worth in each half-life."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["fresh"] = "fresh"
    k: Positive
    window: WindowSize
    half_life: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Diverse:
    """As a window, but the k are chosen to be good and far apart."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    kind: Literal["diverse"] = "diverse"
    k: Positive
    window: WindowSize
    over: Aspects
    weight: PartialShare = 0.5


POLICIES = {
    "everything": Everything,
    "top-k": TopK,
    "window": Window,
    "novelty": Novelty,
    "fresh": Fresh,
    "diverse": Diverse,
}
SinglePolicy = Annotated[
    Everything | TopK | Window | Novelty | Fresh | Diverse, Field(discriminator="kind")
]


@dataclass(frozen=True, slots=True)
class Chain:
    """Policies one behind the other: what one delivers comes to the next. A list in documents."""

    policies: tuple[SinglePolicy, ...]
    kind: ClassVar[str] = "chain"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            cls._read,
            handler(tuple[SinglePolicy, ...]),
            serialization=core_schema.wrap_serializer_function_ser_schema(cls._written),
        )

    @classmethod
    def _read(cls, value: object, read: Callable[[object], tuple[SinglePolicy, ...]]) -> "Chain":
        if isinstance(value, cls):
            return value
        policies = read(value)
        if not policies:
            raise unexpected("at least one policy")
        return cls(policies)

    def _written(self, write: Callable[[object], Any]) -> Any:
        return write(self.policies)


def _form(value: object) -> str:
    return "chain" if isinstance(value, list | tuple | Chain) else "single"


Policy = Annotated[
    Annotated[SinglePolicy, Tag("single")] | Annotated[Chain, Tag("chain")], Discriminator(_form)
]


def policies_of(policy: Policy) -> tuple[SinglePolicy, ...]:
    """The policies that a publication passes, one after the other.

    >>> policies_of(TopK(k=3))
    (TopK(kind='top-k', k=3, refresh=None, period=None),)
    """
    return policy.policies if isinstance(policy, Chain) else (policy,)
