"""A delivery: a publication that enters a shortlist for the first time."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from shortlist.model.publication import Publication
from shortlist.model.times import format_time

Cause = Literal["arrival", "promotion"]


def delivery_id(shortlist: str, source: str, publication: str) -> str:
    """Stable, so that a receiver can tell a repeated delivery.

    >>> delivery_id("L2", "b", "p2")
    '36a62a02d9b94e9611ffe252e4d039b3'
    """
    key = "\0".join((shortlist, source, publication))
    return hashlib.sha256(key.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Who gets what, when, and how well it did."""

    time: int
    shortlist: str
    subscriber: str
    publication: Publication
    subscription: str
    score: float
    possibility: float
    necessity: float
    rank: int | None
    cause: Cause

    @property
    def order(self) -> tuple[int, int, str]:
        """Deliveries are written in this order."""
        return self.time, self.publication.position, self.shortlist

    def columns(self) -> dict[str, Any]:
        """What tables hold of it, by the names that files use."""
        publication = self.publication
        return {
            "id": delivery_id(self.shortlist, publication.source, publication.id),
            "time": self.time,
            "shortlist": self.shortlist,
            "subscriber": self.subscriber,
            "source": publication.source,
            "publication": publication.id,
            "subscription": self.subscription,
            "score": self.score,
            "possibility": self.possibility,
            "necessity": self.necessity,
            "rank": self.rank,
            "cause": self.cause,
        }

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold."""
        document = self.columns() | {"time": format_time(self.time)}
        return document | {"data": self.publication.data} if with_data else document
