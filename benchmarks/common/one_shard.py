"""A deployment of one shard in this process, without Spark: lines in, reports of batches out.

Benchmarks that run batches know only this of how that is done.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from shortlist.live.driver import Driver, Report, begin
from shortlist.live.files import Files
from shortlist.live.registers import FolderRegisters
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings

W = TypeVar("W")
D = TypeVar("D")


class OneShard:
    """A new deployment whose state is in a folder.

    >>> from tempfile import TemporaryDirectory
    >>> import shortlist
    >>> registry = shortlist.registry_from_documents({"subscriptions": [{"id": "all"}]})
    >>> some = '{"id": "p", "source": "s", "time": "2026-01-01T00:00:0%dZ"}'
    >>> with TemporaryDirectory() as name:
    ...     shard = OneShard(registry, Path(name))
    ...     report = shard.run([(some % second).encode() for second in range(3)])
    >>> report.counts["published"], report.refusals.num_rows  # the last may not be alone yet
    (1, 1)
    """

    def __init__(self, registry: Registry, folder: Path) -> None:
        registers, files = FolderRegisters(folder / "registers"), Files(folder / "files")
        begin(registers, files, registry, 1)
        settings = Settings(lateness=0)
        self._driver = Driver(registers, files, settings, _here, _Nowhere())
        self._position = 0

    def run(self, lines: Sequence[bytes]) -> Report:
        """One batch; its seconds are without those of reading the lines."""
        first = self._position + 1
        self._position += len(lines)
        positions = range(first, first + len(lines))
        return self._driver.run_batch(self._driver.read_task().items(positions, lines)[0])

    @property
    def state_bytes(self) -> int:
        """What the state of the shard takes on disk."""
        (chain,) = self._driver.manifest.shards
        return sum(part.size for part in (*chain.first, *(taken.items for taken in chain.inputs)))


class _Nowhere:
    """An outlet that forgets."""

    def deliver(self, before: int, deliveries: pa.Table) -> None: ...

    def reject(self, before: int, refusals: pa.Table) -> None: ...

    def depart(self, before: int, departures: pa.Table) -> None: ...


def _here(task: Callable[[W], D], works: Sequence[W]) -> Sequence[D]:
    """Runs tasks in this process."""
    return [task(work) for work in works]
