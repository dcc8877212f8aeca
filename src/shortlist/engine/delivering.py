"""Deliveries as columns, out of who gets what; their ids are equal to `delivery_id` one by one."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shortlist.engine.arrow import text_bytes
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.kernels.sha256 import PAIRS, Messages, texts, write_digests
from shortlist.engine.kernels.sha256 import Texts as Hashed
from shortlist.matching.arrays import Ints, distinct
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.texts import Texts
from shortlist.selection.bank.offers import Placements
from shortlist.selection.bank.publications import Publications

DIGITS = 2 * PAIRS
MOST = np.iinfo(np.int32).max // DIGITS
"""Ids that an Arrow array of strings can hold."""


def delivery_ids(
    shortlists: Hashed,
    of_shortlist: NDArray[np.int32],
    publications: Hashed,
    of_publication: NDArray[np.int32],
) -> pa.StringArray:
    """Row by row, of a publication that enters a shortlist.

    >>> both, same = np.array([0, 1], np.int32), np.array([0, 0], np.int32)
    >>> shortlists = shortlist_texts(pa.array(["L1", "L2"]))
    >>> publications = publication_texts(pa.array(["b"]), pa.array(["p2"]))
    >>> delivery_ids(shortlists, both, publications, same).to_pylist()
    ['06acb291999806e361ec50a3ebe3d9d2', '36a62a02d9b94e9611ffe252e4d039b3']
    """
    count = len(of_shortlist)
    if count > MOST:
        raise ValueError(f"expected at most {MOST} deliveries at once, found {count}")
    messages = Messages(
        heads=shortlists,
        tails=publications,
        of_head=np.require(of_shortlist, np.int32, ["C", "W"]),
        of_tail=np.require(of_publication, np.int32, ["C", "W"]),
    )
    digits = np.empty(count * PAIRS, np.uint16)
    write_digests(messages, digits)
    offsets = np.arange(0, count * DIGITS + 1, DIGITS, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(digits))


def shortlist_texts(shortlists: pa.StringArray) -> Hashed:
    """Shortlists, ready to be hashed."""
    return texts(*text_bytes(shortlists))


def publication_texts(sources: pa.StringArray, ids: pa.StringArray) -> Hashed:
    """Publications, ready to be hashed."""
    return texts(*text_bytes(pc.binary_join_element_wise("", sources, ids, "\0")))


CAUSES = pa.array(["arrival", "promotion"])


class Receivers:
    """Shortlists that somebody names, and their subscribers.

    >>> receivers = Receivers(NameColumn(Texts.plain(["flats", "jobs"])), None)
    >>> receivers.put(0, "Ada"), receivers.put(1, "Bo")
    (None, None)
    >>> receivers.of(np.array([1, 1]))[1].to_pylist()
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

    def of(self, numbers: Ints) -> tuple[pa.StringArray, pa.StringArray, Hashed, Ints]:
        """Those of deliveries, by number: all there are, or only these if they are few; their
        subscribers; the shortlists ready for ids; and which one each delivery goes to."""
        if self._names.is_cheap(numbers.size):
            if self._hashed is None:
                self._hashed = shortlist_texts(self._names.column().fill_null(""))
            return self._names.column(), self._subscribers.column(), self._hashed, numbers
        who, places = np.unique(numbers, return_inverse=True)
        ids = self._names.taken(who)
        return ids, self._subscribers.taken(who), shortlist_texts(ids), places


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
    shortlists, subscribers, hashed, receiving = receivers.of(placed.places)
    what, to = places.astype(np.int32), receiving.astype(np.int32)
    of_delivery, of_shortlist = pa.array(what), pa.array(to)
    columns = {
        "id": delivery_ids(hashed, to, publication_texts(sources, ids), what),
        "time": pa.array(placed.times, DELIVERIES.field("time").type),
        "shortlist": shortlists.take(of_shortlist),
        "subscriber": subscribers.take(of_shortlist),
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
