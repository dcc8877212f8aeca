"""What became of publications that were sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.client.deployment import Deployment, last_before, rejections
from shortlist.client.sending import Line, Receipt
from shortlist.client.waiting import Awaited, wait_until_passed
from shortlist.log.base import DELIVERIES, REJECTS, Log
from shortlist.model.times import said_time
from shortlist.model.wording import one_line

if TYPE_CHECKING:
    from shortlist.live.manifest import Manifest

Document = dict[str, Any]


class Ends(NamedTuple):
    """Where the streams ended before something was sent."""

    rejects: int
    deliveries: int

    @classmethod
    def of(cls, log: Log) -> Ends:
        return cls(log.end(REJECTS), log.end(DELIVERIES))

    @classmethod
    def at(cls, log: Log, time: int) -> Ends:
        """Where they ended at an instant in microseconds since 1970, or somewhat earlier."""
        return cls(last_before(log, REJECTS, time), last_before(log, DELIVERIES, time))


class Became(NamedTuple):
    """What became of an entry of the input."""

    rejected: str | None
    deliveries: int
    """So far."""


class Fate(NamedTuple):
    """What became of a publication."""

    place: str
    id: str
    source: str
    offset: int
    rejected: str | None
    deliveries: int
    """So far."""

    def document(self) -> dict[str, object]:
        return {name: value for name, value in self._asdict().items() if value is not None}

    def __str__(self) -> str:
        """
        >>> print(Fate("stdin:2", "f1", "ads", 7, None, 1))
        stdin:2: f1 (ads): 1 delivery so far
        """
        if self.rejected is not None:
            became = f"rejected: {self.rejected}"
        else:
            became = f"{self.deliveries:,} {'delivery' if self.deliveries == 1 else 'deliveries'}"
            became += " so far"
        return one_line(f"{self.place}: {self.id} ({self.source}): {became}")


def fates(
    deployment: Deployment, receipt: Receipt, sent: Sequence[Line], before: Ends, patience: float
) -> list[Fate]:
    """What became of publications, once the deployment has come to all of them."""
    if receipt.ends is None:
        return []
    documents = documents_of(sent)
    published = dict(zip(chain(*receipt.runs), documents, strict=True))
    manifest = wait_until_passed(deployment, awaited(published), patience)
    found = became(deployment.log, manifest, published, before)
    return [
        Fate(line.place, document["id"], document["source"], offset, *found[offset])
        for line, (offset, document) in zip(sent, published.items(), strict=True)
    ]


def documents_of(lines: Iterable[Line]) -> list[Document]:
    return [json.loads(line.content.decode("utf-8-sig")) for line in lines]


def awaited(published: Mapping[int, Document]) -> Awaited:
    """What is to be waited for, if publications stand at these offsets of the input."""
    times = (said_time(document) for document in published.values())
    return Awaited(max(published), max((time for time in times if time is not None), default=None))


def became(
    log: Log, manifest: Manifest, published: Mapping[int, Document], before: Ends
) -> dict[int, Became]:
    """What became of publications, by offset, which the deployment has come to."""
    reasons = dict(rejections(log, manifest, {*published}, after=before.rejects))
    delivered: Counter[tuple[str, str]] = Counter()
    for entry in log.read(DELIVERIES, before.deliveries):
        delivery = json.loads(entry.content)
        delivered[delivery["source"], delivery["publication"]] += 1
    return {
        offset: Became(reason, 0)
        if (reason := reasons.get(offset)) is not None
        else Became(None, delivered[document["source"], document["id"]])
        for offset, document in published.items()
    }
