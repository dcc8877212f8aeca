"""What a batch costs by how much it changes: bytes written and seconds, beside a whole snapshot."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

import shortlist
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.folder_registers import FolderRegisters
from shortlist.model.settings import Settings
from shortlist.model.times import format_time

from .live_load import subscriptions, wishes

W = TypeVar("W")
D = TypeVar("D")
SECOND = 1_000_000
WARM_UP = 10


class Cost(NamedTuple):
    """Of one batch."""

    touched: int
    """Shortlists that it delivers something to."""
    bytes_written: int
    seconds: float


class Nowhere:
    """An outlet that forgets."""

    def deliver(self, before: int, deliveries: pa.Table) -> None: ...

    def reject(self, before: int, refusals: pa.Table) -> None: ...

    def depart(self, before: int, departures: pa.Table) -> None: ...


def here(task: Callable[[W], D], works: Sequence[W]) -> Sequence[D]:
    """Runs tasks in this process."""
    return [task(work) for work in works]


def costs(count: int, shares: Sequence[float]) -> tuple[list[Cost], int]:
    """Batches of one publication that so large a share of all shortlists gets, after each holds
    something; and the size of a snapshot of all of it."""
    documents = [
        {**made, "where": f"reach >= {number / count}", "score": "fit"}
        for number, made in enumerate(subscriptions(wishes(count)))
    ]
    registry = shortlist.registry_from_documents({"subscriptions": documents})
    with tempfile.TemporaryDirectory() as name:
        registers, files = FolderRegisters(Path(name, "registers")), Files(Path(name, "files"))
        begin(registers, files, registry, 1)
        driver = Driver(registers, files, Settings(lateness=0), here, Nowhere())
        found = []
        for number, share in enumerate((*[1.0] * WARM_UP, *shares)):
            began = time.perf_counter()
            report = driver.run_batch([_item(number, share)])
            # a publication is passed on by the next one
            if number > WARM_UP:
                seconds = time.perf_counter() - began
                touched = report.deliveries.num_rows
                found.append(Cost(touched, report.bytes_written, seconds))
        snapshot = driver.manifest.shards[0].size
    return found, snapshot


def _item(number: int, share: float) -> tuple[Any, ...]:
    """A publication that many want, and a better one each time; a row of ITEMS."""
    moment = number * SECOND
    line = (
        f'{{"id": "p{number}", "source": "s", "time": "{format_time(moment)}", '
        f'"data": {{"reach": {share}, "fit": {number}}}}}'
    )
    return number, "publication", moment, "s", f"p{number}", False, line, None
