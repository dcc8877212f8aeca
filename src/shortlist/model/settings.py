"""Settings of a run, with safe defaults."""

import sys
from dataclasses import dataclass, field, replace
from typing import Literal

from shortlist.model.durations import parse_duration

Plan = Literal["replicate", "broadcast", "rendezvous"]
"""Where publications meet the subscriptions that they match, in a deployment."""
PlanSetting = Literal["replicate", "broadcast", "rendezvous", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What input may be at most; beyond that it is bad input."""

    expression_length: int = 65_536
    expression_depth: int = 64
    predicates: int = 1_024
    attributes: int = 1_024
    nesting: int = 32
    payload_bytes: int = 1_048_576

    def for_what_was_read(self) -> "Limits":
        """For lines that were within the limits once, and may have been written anew since."""
        return replace(self, payload_bytes=sys.maxsize)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`lateness` None is unlimited; both durations are microseconds of event time."""

    lateness: int | None = None
    dedup: int = parse_duration("24h")
    advertised: Literal["optional", "required"] = "optional"
    limits: Limits = field(default_factory=Limits)
