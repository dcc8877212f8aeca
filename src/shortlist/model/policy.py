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


class _Kind:
    """What others have to know of a kind of policy; as it stands here it is right for all."""

    __slots__ = ()
    free: ClassVar[tuple[str, ...]] = ()
    """The settings that may change while a shortlist keeps what it holds; only k may not grow."""
    shows: ClassVar[bool] = True
    """Whether a shortlist has a present content; else deliveries pass by."""
    asks_for_matches: ClassVar[bool] = True
    """Whether it has to know all subscriptions that a publication matches; else one is enough, the
    one that a delivery would name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything(_Kind):
    """Every match, as it arrives."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    shows: ClassVar[bool] = False
    asks_for_matches: ClassVar[bool] = False
    kind: Literal["everything"] = "everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK(_Kind):
    """Preferential delivery: an arrival must be among the k best still valid ones."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    free: ClassVar[tuple[str, ...]] = ("k", "refresh", "period")
    asks_for_matches: ClassVar[bool] = False
    kind: Literal["top-k"] = "top-k"
    k: Positive
    refresh: Duration | None = None
    period: Duration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(_Kind):
    """Top-k/w: the k best of a sliding window, with later promotion."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    free: ClassVar[tuple[str, ...]] = ("k", "error")
    asks_for_matches: ClassVar[bool] = False
    kind: Literal["window"] = "window"
    k: Positive
    window: WindowSize
    error: PartialShare = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty(_Kind):
    """What the subscriber rarely gets counts more, within a delivery budget."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    shows: ClassVar[bool] = False
    kind: Literal["novelty"] = "novelty"
    rate: Rate
    period: Positive
    mode: Literal["lazy", "eager"] = "lazy"
    measure: Literal["rate", "interval"] = "rate"
    algorithm: Literal["threshold", "sampling", "random"] = "threshold"
    aging: Share = 1.0
    seed: Whole = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh(_Kind):
    """As a window, but every score loses half of its worth in each half-life."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    free: ClassVar[tuple[str, ...]] = ("k",)
    asks_for_matches: ClassVar[bool] = False
    kind: Literal["fresh"] = "fresh"
    k: Positive
    window: WindowSize
    half_life: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Diverse(_Kind):
    """As a window, but the k are chosen to be good and far apart."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT
    free: ClassVar[tuple[str, ...]] = ("k",)
    asks_for_matches: ClassVar[bool] = False
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


def shows(policy: Policy) -> bool:
    """Whether shortlists with a policy show anything; else deliveries pass by.

    >>> shows(Chain((TopK(k=3), Everything()))), shows(Everything())
    (True, False)
    """
    choosing = [each for each in policies_of(policy) if not isinstance(each, Everything)]
    return bool(choosing) and choosing[-1].shows
