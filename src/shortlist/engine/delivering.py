"""Deliveries as columns, out of who gets what."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.delivery_ids import delivery_ids, publication_texts
from shortlist.engine.kernels.sha256 import Texts

Places = npt.NDArray[Any]
CAUSES = pa.array(["arrival", "promotion"])


class Published(NamedTuple):
    """The publications of some deliveries: what each is, and which one each delivery has."""

    sources: pa.StringArray
    ids: pa.StringArray
    positions: npt.NDArray[np.int64]
    data: pa.StringArray | None
    """None where nobody asked for it."""
    places: Places


class Receiving(NamedTuple):
    """The shortlists of some deliveries: who each is, and which one each delivery goes to."""

    shortlists: pa.StringArray
    subscribers: pa.StringArray
    hashed: Texts
    """The shortlists, ready for ids."""
    places: Places


def delivery_batch(
    published: Published,
    receiving: Receiving,
    *,
    times: Places,
    subscriptions: pa.StringArray,
    scores: Places,
    possibilities: Places,
    necessities: Places,
    ranks: pa.Array,
    promoted: Places,
) -> pa.RecordBatch:
    """Rows of DELIVERIES, in the order of what is given."""
    what, to = published.places.astype(np.int32), receiving.places.astype(np.int32)
    hashed = publication_texts(published.sources, published.ids)
    of_delivery, of_shortlist = pa.array(what), pa.array(to)
    data = pa.nulls(what.size, pa.string())
    if published.data is not None:
        data = published.data.take(of_delivery)
    columns = {
        "id": delivery_ids(receiving.hashed, to, hashed, what),
        "time": pa.array(times, DELIVERIES.field("time").type),
        "shortlist": receiving.shortlists.take(of_shortlist),
        "subscriber": receiving.subscribers.take(of_shortlist),
        "source": published.sources.take(of_delivery),
        "publication": published.ids.take(of_delivery),
        "subscription": subscriptions,
        "score": scores,
        "possibility": possibilities,
        "necessity": necessities,
        "rank": ranks,
        "cause": CAUSES.take(pa.array(promoted.astype(np.int8))),
        "data": data,
        "position": published.positions[what],
    }
    return pa.record_batch([columns[name] for name in DELIVERIES.names], schema=DELIVERIES)
