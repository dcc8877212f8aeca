"""Deliveries as columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.engine.bulk import BulkHalves
from shortlist.engine.delivery_ids import delivery_ids, shortlist_texts
from shortlist.engine.kernels.sha256 import Texts
from shortlist.engine.results import RESULTS
from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.model.publication import Publication
from shortlist.scoring.blocks import Arrivals
from shortlist.selection.bank.offers import Placements

CAUSES = pa.array(["arrival", "promotion"])


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


class Columns(NamedTuple):
    """Deliveries side by side: publications and recipients by place in what is given beside."""

    publications: Ints
    recipients: Ints
    times: Longs
    scores: Floats
    possibilities: Floats
    necessities: Floats
    ranks: pa.Array
    causes: pa.Array


def arrived(
    publications: Sequence[Publication],
    arrivals: Arrivals,
    recipients: Recipients,
    with_data: bool = False,
) -> dict[str, pa.Array]:
    """The columns of RESULTS of matches that are deliveries.

    The numbers of subscriptions are places among the recipients.
    """
    count = arrivals.scores.size
    times = np.array([publication.time for publication in publications])
    columns = Columns(
        publications=arrivals.publications,
        recipients=arrivals.subscriptions,
        times=times[arrivals.publications],
        scores=arrivals.scores,
        possibilities=arrivals.possibilities,
        necessities=arrivals.necessities,
        ranks=pa.nulls(count, pa.int32()),
        causes=_repeated(CAUSES, np.zeros(count, np.int32)),
    )
    return delivered(publications, columns, recipients, with_data)


def placed(
    halves: BulkHalves, placements: Placements, with_data: bool = False
) -> dict[str, pa.Array]:
    """The columns of RESULTS of placements."""
    numbers, what = np.unique(placements.publications, return_inverse=True)
    publications = [halves.selecting.publications[number] for number in numbers.tolist()]
    pairs = (placements.places.astype(np.int64) << 32) | placements.named
    both, who = np.unique(pairs, return_inverse=True)
    shortlists = [halves.shortlist(number) for number in (both >> 32).tolist()]
    named = [halves.matching.subscription(number) for number in (both & 0xFFFFFFFF).tolist()]
    recipients = Recipients.of(
        [subscription.id for subscription in named],
        [shortlist.id for shortlist in shortlists],
        [shortlist.subscriber for shortlist in shortlists],
    )
    columns = Columns(
        publications=what.astype(np.int32),
        recipients=who.astype(np.int32),
        times=placements.times,
        scores=placements.scores,
        possibilities=placements.possibilities,
        necessities=placements.necessities,
        ranks=pa.array(placements.ranks, mask=placements.ranks == 0),
        causes=_repeated(CAUSES, placements.promoted.astype(np.int32)),
    )
    return delivered(publications, columns, recipients, with_data)


def delivered(
    publications: Sequence[Publication],
    columns: Columns,
    recipients: Recipients,
    with_data: bool = False,
) -> dict[str, pa.Array]:
    """The columns of RESULTS, texts as places in what they repeat."""
    what, who = columns.publications, columns.recipients
    count = who.size
    keys = [(publication.source, publication.id) for publication in publications]
    positions = np.array([publication.position for publication in publications], np.int64)
    data = pa.nulls(count, pa.string())
    if with_data:
        texts = [json.dumps(publication.data, ensure_ascii=False) for publication in publications]
        data = _repeated(pa.array(texts, pa.string()), what)
    return {
        "id": delivery_ids(recipients.hashed, who, keys, what),
        "time": pa.array(columns.times, RESULTS.field("time").type),
        "shortlist": _repeated(recipients.shortlists, who),
        "subscriber": _repeated(recipients.subscribers, who),
        "source": _repeated(pa.array([source for source, _ in keys], pa.string()), what),
        "publication": _repeated(pa.array([name for _, name in keys], pa.string()), what),
        "subscription": _repeated(recipients.subscriptions, who),
        "score": pa.array(columns.scores),
        "possibility": pa.array(columns.possibilities),
        "necessity": pa.array(columns.necessities),
        "rank": columns.ranks,
        "cause": columns.causes,
        "data": data,
        "position": pa.array(positions[what]),
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
