"""A publication: a CloudEvent, read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Times are microseconds since the epoch; `position` is its place in the input."""

    id: str
    source: str
    time: int
    """When it came, by the time basis of whoever reads it."""
    position: int
    type: str | None = None
    expiry: int | None = None
    audience: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    replaces: str | None = field(default=None, compare=False)
    """The id of an earlier publication of the same source, which this one takes back as it comes;
    nobody keeps that."""
    event_time: int | Literal["time"] | None = field(default="time", compare=False)
    """What it says itself, for conditions and scores: mostly its `time`. Where a log's clock tells
    that, it may be any other instant, or none; nobody keeps it either."""

    @property
    def said_time(self) -> int | None:
        """The attribute `event.time`."""
        return self.time if self.event_time == "time" else self.event_time

    @property
    def dead_on_arrival(self) -> bool:
        return self.expiry is not None and self.expiry <= self.time
