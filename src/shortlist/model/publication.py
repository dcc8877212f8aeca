"""A publication: a CloudEvent, read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Times are microseconds since the epoch; `position` is its place in the input."""

    id: str
    source: str
    time: int
    position: int
    type: str | None = None
    expiry: int | None = None
    audience: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    replaces: str | None = field(default=None, compare=False)
    """The id of an earlier publication of the same source, which this one takes back as it comes;
    nobody keeps that."""

    @property
    def dead_on_arrival(self) -> bool:
        return self.expiry is not None and self.expiry <= self.time
