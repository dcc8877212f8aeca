"""Deliveries as columns, out of who gets what."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.delivery_ids import delivery_ids, publication_texts, shortlist_texts
from shortlist.engine.kernels.sha256 import Texts as Hashed
from shortlist.matching.arrays import Ints, distinct
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.texts import Texts
from shortlist.selection.bank.offers import Placements
from shortlist.selection.bank.publications import Publications

CAUSES = pa.array(["arrival", "promotion"])


class Receiving(NamedTuple):
    """The shortlists of some deliveries: who each is, and which one each delivery goes to."""

    shortlists: pa.StringArray
    subscribers: pa.StringArray
    hashed: Hashed
    """The shortlists, ready for ids."""
    places: Ints


class Receivers:
    """Shortlists that somebody names, and their subscribers.

    >>> receivers = Receivers(NameColumn(Texts.plain(["flats", "jobs"])), None)
    >>> receivers.put(0, "Ada"), receivers.put(1, "Bo")
    (None, None)
    >>> receivers.of(np.array([1, 1])).subscribers.to_pylist()
    ['Ada', 'Bo']
    """

    def __init__(self, names: NameColumn, subscribers: Texts | None) -> None:
        self._names = names
        self._subscribers = NameColumn(subscribers)
        self._hashed: Hashed | None = None
        """All ids of shortlists, ready for those of deliveries."""

    def put(self, number: int, subscriber: str) -> None:
        """A shortlist is somebody's from now on."""
        self._subscribers.put(number, subscriber)
        self._hashed = None

    def of(self, numbers: Ints) -> Receiving:
        """Those of deliveries, by number: all there are, or only these if they are few."""
        if self._names.is_cheap(numbers.size):
            if self._hashed is None:
                self._hashed = shortlist_texts(self._names.column().fill_null(""))
            columns = self._names.column(), self._subscribers.column()
            return Receiving(*columns, self._hashed, numbers)
        who, places = np.unique(numbers, return_inverse=True)
        ids = self._names.taken(who)
        return Receiving(ids, self._subscribers.taken(who), shortlist_texts(ids), places)


def delivery_batch(
    placed: Placements,
    publications: Publications,
    receivers: Receivers,
    subscriptions: NameColumn,
    with_data: bool,
) -> pa.RecordBatch:
    """Placements as rows of DELIVERIES."""
    numbers, places = distinct(placed.publications)
    told = ["source", "id", "data"] if with_data else ["source", "id"]
    sources, ids, *data = publications.texts(told, numbers)
    receiving = receivers.of(placed.places)
    what, to = places.astype(np.int32), receiving.places.astype(np.int32)
    of_delivery, of_shortlist = pa.array(what), pa.array(to)
    columns = {
        "id": delivery_ids(receiving.hashed, to, publication_texts(sources, ids), what),
        "time": pa.array(placed.times, DELIVERIES.field("time").type),
        "shortlist": receiving.shortlists.take(of_shortlist),
        "subscriber": receiving.subscribers.take(of_shortlist),
        "source": sources.take(of_delivery),
        "publication": ids.take(of_delivery),
        "subscription": subscriptions.taken(placed.named),
        "score": placed.scores,
        "possibility": placed.possibilities,
        "necessity": placed.necessities,
        "rank": pa.array(placed.ranks, mask=placed.ranks == 0),
        "cause": CAUSES.take(pa.array(placed.promoted.astype(np.int8))),
        "data": data[0].take(of_delivery) if data else pa.nulls(what.size, pa.string()),
        "position": publications.facts["position"][numbers][what],
    }
    return pa.record_batch([columns[name] for name in DELIVERIES.names], schema=DELIVERIES)
