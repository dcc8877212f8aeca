"""Deliveries as columns, where matches are deliveries as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from shortlist.engine.delivery_ids import delivery_ids
from shortlist.model.publication import Publication
from shortlist.scoring.blocks import Arrivals
from shortlist.spark.schemas import RESULTS


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who gets deliveries: the subscription that counts, its shortlist and subscriber, by place."""

    subscriptions: pa.StringArray
    shortlists: pa.StringArray
    subscribers: pa.StringArray


def arrived(
    publications: Sequence[Publication],
    arrivals: Arrivals,
    recipients: Recipients,
    with_data: bool = False,
) -> pa.RecordBatch:
    """Rows of RESULTS; the numbers of subscriptions are places among the recipients."""
    what, who = pa.array(arrivals.publications), pa.array(arrivals.subscriptions)
    count = len(what)

    def of_publication(values: Sequence[object], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind).take(what)

    keys = [(publication.source, publication.id) for publication in publications]
    texts = [json.dumps(publication.data, ensure_ascii=False) for publication in publications]
    columns = {
        "id": delivery_ids(
            recipients.shortlists.to_pylist(), arrivals.subscriptions, keys, arrivals.publications
        ),
        "time": of_publication([one.time for one in publications], RESULTS.field("time").type),
        "shortlist": recipients.shortlists.take(who),
        "subscriber": recipients.subscribers.take(who),
        "source": of_publication([one.source for one in publications], pa.string()),
        "publication": of_publication([one.id for one in publications], pa.string()),
        "subscription": recipients.subscriptions.take(who),
        "score": pa.array(arrivals.scores),
        "possibility": pa.array(arrivals.possibilities),
        "necessity": pa.array(arrivals.necessities),
        "rank": pa.nulls(count, pa.int32()),
        "cause": pa.repeat("arrival", count),
        "data": of_publication(texts, pa.string()) if with_data else pa.nulls(count, pa.string()),
        "position": of_publication([one.position for one in publications], pa.int64()),
        "note": pa.nulls(count, pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns, RESULTS)
