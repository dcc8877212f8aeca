"""What a shortlist shows, the best first; and what leaves it or returns, for who keeps a mirror."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from shortlist.engine.shard import Shard
from shortlist.matching.index.numbering import NOBODY
from shortlist.model.publication import Publication
from shortlist.model.times import END_OF_TIME, format_time
from shortlist.selection.bank.contents import shortlist_contents
from shortlist.selection.bank.shown import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A publication that a shortlist shows; None where its policy does not keep that."""

    publication: Publication
    subscription: str | None
    score: float
    possibility: float | None
    necessity: float | None
    rank: int
    until: int | None
    """When it leaves, if nothing happens before."""
    waiting: bool = False
    """Whether it waits to be delivered yet; its rank is as if it were now."""

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that is shown."""
        publication = self.publication
        document = {
            "rank": self.rank,
            "source": publication.source,
            "publication": publication.id,
            "published": format_time(publication.time),
            "subscription": self.subscription,
            "score": self.score,
            "possibility": self.possibility,
            "necessity": self.necessity,
            "until": None if self.until is None else format_time(self.until),
        }
        if self.waiting:
            document["waiting"] = True
        return document | {"data": publication.data} if with_data else document


def content(shard: Shard, shortlist: str, now: int) -> list[Entry]:
    """What a live shortlist shows once all that is due at or before an instant has happened.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.model.settings import Settings
    >>> best = {"id": "best", "score": "fit", "policy": {"kind": "window", "k": 2, "window": "1h"}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [best]}), Settings(lateness=0))
    >>> flats = [Publication(id=name, source="ads", time=n, position=n, data={"fit": fit})
    ...          for n, (name, fit) in enumerate([("attic", 3), ("bedsit", 9), ("cabin", 5)])]
    >>> late = Publication(id="dome", source="ads", time=9, position=9)
    >>> _ = engine.process([*flats, late])
    >>> [(entry.rank, entry.publication.id) for entry in content(engine.shard, "best", now=2)]
    [(1, 'bedsit'), (2, 'cabin')]
    """
    number = shard.matching.shortlists.find(shortlist)
    if number == NOBODY:
        raise KeyError(shortlist)
    return [*entries(shard, shortlist_contents(shard.selecting, [number], now))]


def entries(shard: Shard, contents: Contents) -> Iterator[Entry]:
    """Columns as objects."""
    columns = (column.tolist() for column in contents)
    for _, publication, score, named, high, low, rank, end, _, _, waiting in zip(
        *columns, strict=True
    ):
        yield Entry(
            publication=shard.selecting.publications[publication],
            subscription=None if named < 0 else shard.matching.subscription(named).id,
            score=score,
            possibility=None if math.isnan(high) else high,
            necessity=None if math.isnan(low) else low,
            rank=rank,
            until=end if end < END_OF_TIME else None,
            waiting=waiting,
        )


Reason = Literal["expired", "window", "outranked", "cancelled", "closed", "retracted", "restarted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A publication leaves what a shortlist shows."""

    time: int
    shortlist: str
    publication: Publication
    reason: Reason

    @property
    def order(self) -> tuple[int, int, str]:
        """As deliveries; those of an instant come behind its deliveries."""
        return self.time, self.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold."""
        return {
            "time": format_time(self.time),
            "shortlist": self.shortlist,
            "source": self.publication.source,
            "publication": self.publication.id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A publication that was outranked is shown again: it is not delivered twice."""

    time: int
    shortlist: str
    entry: Entry

    @property
    def order(self) -> tuple[int, int, str]:
        return self.time, self.entry.publication.position, self.shortlist

    def document(self, with_data: bool = False) -> dict[str, Any]:
        """The JSON object that files hold; it has what the delivery had, as it is now."""
        when = {"time": format_time(self.time), "shortlist": self.shortlist, "reason": "returned"}
        return when | self.entry.document(with_data)


Change = Departure | Return
"""What a mirror must hear of beside deliveries."""
