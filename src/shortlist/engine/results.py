"""What tasks hand back: deliveries as rows, and notes beside them."""

import json

import pyarrow as pa

from shortlist.engine.arrow import Row
from shortlist.engine.deliveries import DELIVERIES
from shortlist.model.delivery import Delivery

RESULTS = pa.schema([*DELIVERIES, ("note", pa.string())])
"""Deliveries, and notes (JSON) beside them: a shard's counts, or explanations."""


def delivery_row(delivery: Delivery, with_data: bool) -> Row:
    """A delivery as a row of RESULTS."""
    publication = delivery.publication
    data = json.dumps(publication.data, ensure_ascii=False) if with_data else None
    columns = delivery.columns() | {"data": data, "position": publication.position}
    return tuple(columns.get(name) for name in RESULTS.names)
