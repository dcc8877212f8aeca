"""Policies: how a shortlist turns a scored stream into deliveries."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    Tag,
)
from pydantic_core import CoreSchema, core_schema

from shortlist.model.aspects import Aspects
from shortlist.model.durations import Span, parse_duration, span_text
from shortlist.model.fields import Duration, Noun, Positive, Share, Whole, expecting, unexpected
from shortlist.model.wall_clock import (
    MIDNIGHT,
    UTC,
    WEEK,
    Days,
    Every,
    Moment,
    OnDay,
    OwnMoment,
    OwnZone,
    To,
    Zone,
)
from shortlist.model.wording import TOO_LONG


def _window(value: object) -> Span | int | None:
    if isinstance(value, str):
        return Span(parse_duration(value))
    if value is None or isinstance(value, Span):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < TOO_LONG:
        return value
    raise ValueError("neither a duration nor a count")


WindowSize = Annotated[
    Any,
    BeforeValidator(_window),
    PlainSerializer(span_text),
    expecting("a duration above zero such as 40m, a count of at least 1, or null for everything"),
]
PartialShare = Annotated[
    float, Field(strict=True, ge=0, lt=1), expecting("a number from 0 to under 1")
]
Rate = Annotated[float, Field(strict=True, gt=0, le=1), expecting("a number above 0, at most 1")]


class _Kind(Noun):
    """What others have to know of a kind of policy; as it stands here it is right for all."""

    __slots__ = ()
    free: ClassVar[tuple[str, ...]] = ()
    """The settings that may change while a shortlist keeps what it holds."""
    shows: ClassVar[bool] = True
    """Whether a shortlist has a present content; else deliveries pass by."""
    looks_through: ClassVar[bool] = False
    """Whether a shortlist shows what the policies before this one show."""
    waits: ClassVar[bool] = False
    """Whether publications wait here, which is shown besides; then k may become larger, too."""
    asks_for_matches: ClassVar[bool] = True
    """Whether it has to know all subscriptions that a publication matches; else one is enough, the
    one that a delivery would name."""

    def __init_subclass__(cls, **settings: Any) -> None:
        """With what is so of this kind."""
        for name, setting in settings.items():
            setattr(cls, name, setting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything(_Kind, asks_for_matches=False):
    """Every match, as it arrives."""

    kind: Literal["everything"] = "everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK(_Kind, free=("k", "refresh", "period"), asks_for_matches=False):
    """Preferential delivery: an arrival must be among the k best still valid ones."""

    kind: Literal["top-k"] = "top-k"
    k: Positive
    refresh: Duration | None = None
    period: Duration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(_Kind, free=("k", "error"), asks_for_matches=False):
    """Top-k/w: the k best of a sliding window, with later promotion."""

    kind: Literal["window"] = "window"
    k: Positive
    window: WindowSize
    error: PartialShare = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty(_Kind, shows=False):
    """What the subscriber rarely gets counts more, within a delivery budget."""

    kind: Literal["novelty"] = "novelty"
    rate: Rate
    period: Positive
    mode: Literal["lazy", "eager"] = "lazy"
    measure: Literal["rate", "interval"] = "rate"
    algorithm: Literal["threshold", "sampling", "random"] = "threshold"
    aging: Share = 1.0
    seed: Whole = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh(_Kind, free=("k",), asks_for_matches=False):
    """As a window, but every score loses half of its worth in each half-life."""

    kind: Literal["fresh"] = "fresh"
    k: Positive
    window: WindowSize
    half_life: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Diverse(_Kind, free=("k",), asks_for_matches=False):
    """As a window, but the k are chosen to be good and far apart."""

    kind: Literal["diverse"] = "diverse"
    k: Positive
    window: WindowSize
    over: Aspects
    weight: PartialShare = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest(_Kind, free=("k",), looks_through=True, waits=True, asks_for_matches=False):
    """What arrives waits; at each boundary the k best pass, and the others are dropped."""

    kind: Literal["digest"] = "digest"
    k: Positive | None = None
    every: Every
    at: OwnMoment = None
    on: OnDay = None
    zone: OwnZone = None

    def __post_init__(self) -> None:
        _say_defaults(self, self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet(
    _Kind,
    free=("k", "from_", "to", "days"),
    looks_through=True,
    waits=True,
    asks_for_matches=False,
):
    """What arrives in quiet hours waits until they end; then the k best pass."""

    kind: Literal["quiet"] = "quiet"
    from_: Annotated[Moment, Field(alias="from")]
    to: To
    zone: Zone = UTC
    days: Days = WEEK
    k: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap(_Kind, free=("most",), looks_through=True, asks_for_matches=False):
    """What arrives passes, while fewer than so many have since the last boundary."""

    kind: Literal["cap"] = "cap"
    most: Positive
    per: Every
    at: OwnMoment = None
    on: OnDay = None
    zone: OwnZone = None

    def __post_init__(self) -> None:
        _say_defaults(self, self.per)


def _say_defaults(policy: Digest | Cap, every: Span | str) -> None:
    """Puts defaults for what is not given, so that equal calendars are equal."""
    if isinstance(every, Span):
        return
    defaults = {"at": MIDNIGHT, "on": WEEK[0] if every == "week" else None, "zone": UTC}
    for name, value in defaults.items():
        if getattr(policy, name) is None:
            object.__setattr__(policy, name, value)


AnyKind = Everything | TopK | Window | Novelty | Fresh | Diverse | Digest | Quiet | Cap
SinglePolicy = Annotated[AnyKind, Field(discriminator="kind")]
POLICIES: dict[str, type[AnyKind]] = {
    str(fields(kind)[0].default): kind for kind in get_args(AnyKind)
}


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
    """Whether shortlists with a policy show anything but what waits; else deliveries pass by.

    >>> shows(Chain((TopK(k=3), Everything()))), shows(Everything())
    (True, False)
    """
    policies = [each for each in policies_of(policy) if not each.looks_through]
    choosing = [each for each in policies if not isinstance(each, Everything)]
    return bool(choosing) and choosing[-1].shows
