"""Settings of a run, with safe defaults."""

from dataclasses import dataclass, field
from typing import Literal

from shortlist.model.durations import parse_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What input may be at most; beyond that it is bad input."""

    expression_length: int = 65_536
    expression_depth: int = 64
    predicates: int = 1_024
    attributes: int = 1_024
    nesting: int = 32
    payload_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`lateness` None is unlimited; both durations are microseconds of event time."""

    lateness: int | None = None
    dedup: int = parse_duration("24h")
    advertised: Literal["optional", "required"] = "optional"
    limits: Limits = field(default_factory=Limits)
