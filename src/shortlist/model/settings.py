"""Settings of a run, with safe defaults."""

import sys
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from shortlist.model.durations import parse_duration

Plan = Literal["replicate", "broadcast", "rendezvous"]
"""Where publications meet the subscriptions that they match, in a deployment."""
PlanSetting = Literal["replicate", "broadcast", "rendezvous", "auto"]


Bits = Literal[8, 4, 3, 2]
"""Of a degree that is less than a double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What input may be at most, beyond which it is bad input; and how finely degrees are told."""

    expression_length: int = 65_536
    expression_depth: int = 64
    predicates: int = 1_024
    attributes: int = 1_024
    nesting: int = 32
    payload_bytes: int = 1_048_576
    degree_bits: Bits | None = None
    """None is a double."""

    def __post_init__(self) -> None:
        if self.degree_bits is not None and self.degree_bits not in get_args(Bits):
            raise ValueError(f"degree_bits: expected 8, 4, 3 or 2, found {self.degree_bits!r}")

    def for_what_was_read(self) -> "Limits":
        """For lines that were within the limits once, and may have been written anew since."""
        return replace(self, payload_bytes=sys.maxsize)


UNLIMITED = Limits().for_what_was_read()
"""For what a deployment has taken in."""

TimeBasis = Literal["arrival", "event"]
"""What the time of an item is: when a log took it, or what the item itself says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Durations are microseconds; `lateness` and `ahead` matter to the basis `event` alone."""

    time: TimeBasis = "event"
    lateness: int | None = None
    """How far an item may be behind the largest time before it; None is unlimited."""
    ahead: int | None = None
    """How far its time may be after the instant at which a log took it; None is unlimited."""
    dedup: int = parse_duration("24h")
    advertised: Literal["optional", "required"] = "optional"
    limits: Limits = field(default_factory=Limits)

    @property
    def asks_the_log(self) -> bool:
        """Whether somebody has to know when a log took each item."""
        return self.time == "arrival" or self.ahead is not None
