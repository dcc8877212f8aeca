"""What a batch costs by how much it changes: bytes written and seconds, beside a whole snapshot."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import shortlist
from shortlist.model.times import format_time

from .live_load import subscriptions, wishes
from .one_shard import OneShard

SECOND = 1_000_000
WARM_UP = 10


class Cost(NamedTuple):
    """Of one batch."""

    touched: int
    """Shortlists that it delivers something to."""
    bytes_written: int
    seconds: float


def costs(count: int, shares: Sequence[float]) -> tuple[list[Cost], int]:
    """Batches of one publication that so large a share of all shortlists gets, after each holds
    something; and the size of a snapshot of all of it."""
    documents = [
        {**made, "where": f"reach >= {number / count}", "score": "fit"}
        for number, made in enumerate(subscriptions(wishes(count)))
    ]
    registry = shortlist.registry_from_documents({"subscriptions": documents})
    with tempfile.TemporaryDirectory() as name:
        shard = OneShard(registry, Path(name))
        found = []
        for number, share in enumerate((*[1.0] * WARM_UP, *shares)):
            began = time.perf_counter()
            report = shard.run([_line(number, share)])
            # a publication is passed on by the next one
            if number > WARM_UP:
                seconds = time.perf_counter() - began
                touched = report.deliveries.num_rows
                found.append(Cost(touched, report.bytes_written, seconds))
        snapshot = shard.state_bytes
    return found, snapshot


def _line(number: int, share: float) -> bytes:
    """A publication that many want, and a better one each time."""
    line = (
        f'{{"id": "p{number}", "source": "s", "time": "{format_time(number * SECOND)}", '
        f'"data": {{"reach": {share}, "fit": {number}}}}}'
    )
    return line.encode()
