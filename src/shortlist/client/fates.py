"""What became of publications that were sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.client.deployment import (
    Awaited,
    Deployment,
    last_before,
    rejections,
    wait_until_passed,
)
from shortlist.client.sending import Line, Receipt
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


def fate_text(fate: Document) -> str:
    """What became of a publication, for people.

    >>> fate_text({"place": "stdin:2", "id": "f1", "source": "ads", "offset": 7, "deliveries": 1})
    'stdin:2: f1 (ads): 1 delivery so far'
    """
    count = fate["deliveries"]
    became = f"{count:,} {'delivery' if count == 1 else 'deliveries'} so far"
    if "rejected" in fate:
        became = f"rejected: {fate['rejected']}"
    return one_line(f"{fate['place']}: {fate['id']} ({fate['source']}): {became}")


def fates(
    deployment: Deployment, receipt: Receipt, sent: Iterable[Line], before: Ends, patience: float
) -> list[Document]:
    """What became of publications, once the deployment has come to all of them."""
    if receipt.ends is None:
        return []
    documents = [json.loads(line.content.decode("utf-8-sig")) for line in sent]
    published = dict(zip(chain(*receipt.runs), documents, strict=True))
    manifest = wait_until_passed(deployment, awaited(published), patience)
    return became(deployment.log, manifest, published, before)


def awaited(published: Mapping[int, Document]) -> Awaited:
    """What is to be waited for, if publications stand at these offsets of the input."""
    times = (said_time(document) for document in published.values())
    return Awaited(max(published), max((time for time in times if time is not None), default=None))


def became(
    log: Log, manifest: Manifest, published: Mapping[int, Document], before: Ends
) -> list[Document]:
    """What became of publications at some offsets, which the deployment has come to: why each was
    rejected, and how often it was delivered so far."""
    reasons = dict(rejections(log, manifest, {*published}, after=before.rejects))
    delivered: Counter[tuple[str, str]] = Counter()
    for entry in log.read(DELIVERIES, before.deliveries):
        delivery = json.loads(entry.content)
        delivered[delivery["source"], delivery["publication"]] += 1
    return [
        {"id": document["id"], "source": document["source"], "offset": offset}
        | (
            {"rejected": reasons[offset], "deliveries": 0}
            if offset in reasons
            else {"deliveries": delivered[document["source"], document["id"]]}
        )
        for offset, document in published.items()
    ]
