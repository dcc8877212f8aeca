"""Deliveries as columns, where matches are deliveries as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shortlist.engine.delivery_ids import delivery_ids, shortlist_texts
from shortlist.engine.kernels.sha256 import Texts
from shortlist.matching.blocks import Ints
from shortlist.model.publication import Publication
from shortlist.scoring.blocks import Arrivals
from shortlist.spark.schemas import RESULTS


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who gets deliveries: the subscription that counts, its shortlist and subscriber, by place."""

    subscriptions: pa.StringArray
    shortlists: pa.StringArray
    subscribers: pa.StringArray
    hashed: Texts
    """The shortlists, ready for ids."""

    @classmethod
    def of(
        cls, subscriptions: Sequence[str], shortlists: Sequence[str], subscribers: Sequence[str]
    ) -> Recipients:
        return cls(
            pa.array(subscriptions, pa.string()),
            pa.array(shortlists, pa.string()),
            pa.array(subscribers, pa.string()),
            shortlist_texts(shortlists),
        )


def arrived(
    publications: Sequence[Publication],
    arrivals: Arrivals,
    recipients: Recipients,
    with_data: bool = False,
) -> dict[str, pa.Array]:
    """The columns of RESULTS, texts as places in what they repeat.

    The numbers of subscriptions are places among the recipients.
    """
    what, who = arrivals.publications, arrivals.subscriptions
    count = who.size
    keys = [(publication.source, publication.id) for publication in publications]
    times = np.array([publication.time for publication in publications])
    positions = np.array([publication.position for publication in publications])
    data = pa.nulls(count, pa.string())
    if with_data:
        texts = [json.dumps(publication.data, ensure_ascii=False) for publication in publications]
        data = _repeated(pa.array(texts, pa.string()), what)
    return {
        "id": delivery_ids(recipients.hashed, who, keys, what),
        "time": pa.array(times[what], RESULTS.field("time").type),
        "shortlist": _repeated(recipients.shortlists, who),
        "subscriber": _repeated(recipients.subscribers, who),
        "source": _repeated(pa.array([source for source, _ in keys], pa.string()), what),
        "publication": _repeated(pa.array([name for _, name in keys], pa.string()), what),
        "subscription": _repeated(recipients.subscriptions, who),
        "score": pa.array(arrivals.scores),
        "possibility": pa.array(arrivals.possibilities),
        "necessity": pa.array(arrivals.necessities),
        "rank": pa.nulls(count, pa.int32()),
        "cause": _repeated(pa.array(["arrival"]), np.zeros(count, np.int32)),
        "data": data,
        "position": pa.array(positions[what], pa.int64()),
        "note": pa.nulls(count, pa.string()),
    }


def as_rows(columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """The columns as rows of RESULTS, with every text written out."""
    plain = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in columns.values()
    ]
    return pa.RecordBatch.from_arrays(plain, schema=RESULTS)


def _repeated(texts: pa.StringArray, places: Ints) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), texts)
