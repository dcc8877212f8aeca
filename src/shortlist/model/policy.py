"""Policies: how a shortlist turns a scored stream into deliveries."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer

from shortlist.model.durations import format_duration, parse_duration
from shortlist.model.fields import DOCUMENT, Duration, Positive, Share, Whole, expecting


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
AllowedError = Annotated[
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
    error: AllowedError = 0.0


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


POLICIES = {"everything": Everything, "top-k": TopK, "window": Window, "novelty": Novelty}
Policy = Annotated[Everything | TopK | Window | Novelty, Field(discriminator="kind")]
