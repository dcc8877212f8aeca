"""What became of publications that were sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from shortlist.client.deployment import Deployment, rejections
from shortlist.client.sending import Line, Receipt
from shortlist.client.waiting import Awaited, wait_until_passed
from shortlist.log.base import DELIVERIES, REJECTS, Log
from shortlist.model.times import said_time
from shortlist.model.wording import one_line


class Ends(NamedTuple):
    """Where the streams ended before something was sent."""

    rejects: int
    deliveries: int

    @classmethod
    def of(cls, log: Log) -> Ends:
        return cls(log.end(REJECTS), log.end(DELIVERIES))


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
    log, offsets = deployment.log, [*chain(*receipt.runs)]
    documents = [json.loads(line.content.decode("utf-8-sig")) for line in sent]
    latest = max((time for time in map(said_time, documents) if time is not None), default=None)
    manifest = wait_until_passed(deployment, Awaited(receipt.ends[1], latest), patience)
    reasons = dict(rejections(log, manifest, {*offsets}, after=before.rejects))
    delivered: Counter[tuple[str, str]] = Counter()
    for entry in log.read(DELIVERIES, before.deliveries):
        delivery = json.loads(entry.content)
        delivered[delivery["source"], delivery["publication"]] += 1
    found = []
    for line, document, offset in zip(sent, documents, offsets, strict=True):
        source, name = document["source"], document["id"]
        counted = 0 if offset in reasons else delivered[source, name]
        found.append(Fate(line.place, name, source, offset, reasons.get(offset), counted))
    return found
