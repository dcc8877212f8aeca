"""Warn when a batch rejects more rows than it takes, without a job of its own.

Spark computes deliveries when the caller asks for them, and `rank` returns nothing else. So tasks
send their counts to the driver with an accumulator, which they do at their end anyway. A shard
selects once all publications have been admitted: its report is the sign that counts are complete.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam

from shortlist.model.items import REJECT

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext

LOGGER = logging.getLogger("shortlist.batch")

Batches = Iterable[pa.RecordBatch]
Stage = Literal["items", "admit", "select"]


@dataclass(slots=True)
class Tally:
    """Counts of one task: rows, and rejects by the first word of their reasons."""

    rows: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def count(self, items: pa.RecordBatch) -> None:
        self.rows += items.num_rows
        reasons = items.filter(pc.equal(items["kind"], REJECT))["reason"].to_pylist()
        self.rejects.update(reason.partition(" ")[0].rstrip(":") for reason in reasons)
        self.example = self.example or next(iter(reasons), "")


# Tallies by stage and number of the task: a task that Spark runs again, for another shard or after
# a failure, replaces what it has reported before.
Tallies = dict[tuple[Stage, int], Tally]


class _Reports(AccumulatorParam[Tallies]):
    """Gathers reports in the driver, and logs once."""

    def __init__(self) -> None:
        self._is_done = False

    def zero(self, value: Tallies) -> Tallies:
        return {}

    def addInPlace(self, value1: Tallies, value2: Tallies) -> Tallies:  # noqa: N802
        value1.update(value2)
        if not self._is_done and any(stage == "select" for stage, _ in value2):
            self._is_done = True
            _warn(value1)
        return value1


def reports(context: SparkContext) -> Accumulator[Tallies]:
    """Return what tasks of one batch report to."""
    return context.accumulator(Tallies(), _Reports())


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A task that reports what it has counted when it is done."""

    task: Callable[[Batches], Iterator[pa.RecordBatch]]
    stage: Stage
    reports: Accumulator[Tallies]

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        tally = Tally()
        for batch in self.task(arriving):
            if self.stage != "select":
                tally.count(batch)
            yield batch
        context = TaskContext.get()
        assert context is not None
        self.reports.add({(self.stage, context.partitionId()): tally})


def _warn(tallies: Tallies) -> None:
    rows = sum(tally.rows for (stage, _), tally in tallies.items() if stage == "items")
    by_reason = sum((tally.rejects for tally in tallies.values()), Counter[str]())
    rejected = by_reason.total()
    if rejected <= rows - rejected:
        return
    LOGGER.warning(
        "%s of %s rows were rejected: %s; one of them: %s (`shortlist.batch` has all in `rejects`)",
        f"{rejected:,}",
        f"{rows:,}",
        ", ".join(f"{count:,} {word}" for word, count in by_reason.most_common()),
        next(tally.example for tally in tallies.values() if tally.example),
    )
