"""The batch plan: lines or rows in, ranked deliveries out."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.deliveries import COLUMNS
from shortlist.engine.matching import NOMINATIONS
from shortlist.engine.mentions import mentioned
from shortlist.engine.merging import total_counts
from shortlist.engine.ordering import in_order, largest_before
from shortlist.engine.stages import (
    CHOSEN,
    RESULTS,
    Admit,
    Choose,
    FindLate,
    Nominate,
    Read,
    ReadTable,
    Select,
    Share,
    admitted_schema,
    advertising,
)
from shortlist.intake.lines import VERBS
from shortlist.intake.tables import POSITION
from shortlist.jobs.job import Counts
from shortlist.jobs.shares import BatchWork, Progress, Selected, select, shares_of
from shortlist.jobs.walk import shards_of
from shortlist.live.registry_folder import CompiledRegistry, admission_of
from shortlist.model.items import COMMAND, PUBLICATION, REJECT, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.spark.reject_counts import Counted, Stage, reports
from shortlist.spark.sinks import REASON, lines_of_rows
from shortlist.spark.sources import Lines, json_row, quoted
from shortlist.spark.tasks import keep_apart

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
BUCKET_BITS = 16
"""The largest earlier time is worked out in buckets of 2^16 positions."""
ALIVE = "expiry is null or expiry > time"
"""Not `is_dead` as items say it: Spark counts and filters by it without Python."""
SELECTED = pa.schema({"selected": pa.binary()})
REJECTS = "position bigint, line string, reason string"
MAY_BE_COMMAND = '"(' + "|".join(VERBS) + ')"|\\\\u'
"""Lines that are commands name one, perhaps with escaped letters."""


@dataclass(eq=False, kw_only=True)
class Batch:
    """One finite input against one registry; its DataFrames are made when they are asked for.

    With `keep`, what several of them share is computed once and kept until `release`.
    """

    lines: Lines = field(kw_only=False)
    registry: Registry | CompiledRegistry = field(kw_only=False)
    """One that is compiled has its shards; every task must be able to open its files."""
    settings: Settings = field(default_factory=Settings, kw_only=False)
    commands: bool = False
    shards: int = 0
    """As many as there are cores if none are asked for."""
    with_data: bool = False
    keep: bool = False
    progress: str | None = None
    """A folder in which shards on this machine say how far they are."""
    warns: bool = False
    """Log a warning, with the deliveries, if more rows are rejected than taken."""

    def __post_init__(self) -> None:
        self._spark = self.lines.frame.sparkSession
        keep_apart(self._spark)
        self.shards = shards_of(self.registry, self.shards or self._cores)
        self._kept: list[DataFrame] = []
        self._reports = reports(self._spark.sparkContext) if self.warns else None

    @cached_property
    def deliveries(self) -> DataFrame:
        """Deliveries with the `position` of their publication, in no particular order."""
        columns = [*COLUMNS, *(["data"] if self.with_data else []), "position"]
        return self._results.where("note is null").select(columns)

    @cached_property
    def rejects(self) -> DataFrame:
        """What was turned away: position, line, reason."""
        columns = ("position", "line", "reason")
        unread = self._items.where(f"kind = {REJECT}").select(*columns)
        turned_away = self._admitted.where(f"kind = {REJECT}").select(*columns)
        found = unread.union(turned_away)
        if self.lines.tabular:
            # rows that were read in columns have no line yet
            has_line = "coalesce(line, '') <> ''"
            lacking = found.where(f"not ({has_line})")
            found = found.where(has_line).union(self._with_lines(lacking))
        refused = [(each.position, each.line, each.reason) for each in self._changes.refusals]
        return found.union(self._spark.createDataFrame(refused, REJECTS))

    @cached_property
    def explanations(self) -> DataFrame:
        """A JSON document for each match and each promotion, in the column `explanation`."""
        explained = self._telling._selected(explain=True)
        text = F.get_json_object("note", "$.explanation").alias("explanation")
        return explained.select(text).where("explanation is not null")

    @cached_property
    def _telling(self) -> Batch:
        """The same batch with all data of publications, which reasons need."""
        if self._wanted.data:
            return self
        return replace(self, with_data=True)

    def counts(self) -> dict[str, Any]:
        """Publications and matches of the whole batch, and deliveries by cause."""
        notes = self._results.where("note is not null").select("note").collect()
        return self.total(json.loads(row.note)["counts"] for row in notes)

    def select_into(self, folder: str) -> list[Selected]:
        """Lets each busy shard write what it delivers to a file of a folder that all tasks see."""
        how = partial(BatchWork, folder=folder, with_data=self.with_data, progress=self.progress)
        found = self._by_shards(
            self._arriving, lambda share: partial(_select_into, how(share=share)), SELECTED
        )
        return [pickle.loads(row.selected) for row in found.collect()]

    def total(self, counts: Iterable[Counts]) -> dict[str, Any]:
        """Publications, and what shards have counted."""
        return {"publications": self.publications, **total_counts(counts)}

    @cached_property
    def publications(self) -> int:
        """How many publications are matched."""
        return self._admitted.where(f"kind = {PUBLICATION}").where(ALIVE).count()

    @property
    def passes(self) -> int:
        """How often publications are matched: once by every busy shard."""
        return self.publications * len(self._busy_shares)

    def release(self) -> None:
        """Lets go of what was kept."""
        while self._kept:
            self._kept.pop().unpersist()
        telling = self.__dict__.pop("_telling", self)
        if telling is not self:
            telling.release()

    @cached_property
    def _wanted(self) -> Wanted:
        """What has to be known of publications, whatever becomes of the commands."""
        limits = self.settings.limits
        known = self.registry
        found = known.wanted if isinstance(known, CompiledRegistry) else mentioned(known, limits)
        wanted = found.joined(Wanted(data=self.with_data))
        if not self.commands:
            return wanted
        may_be_command = F.col("line").cast("string").rlike(MAY_BE_COMMAND)
        commands = self._read(Wanted(), self.lines.frame.where(may_be_command))
        told = _collected(commands.where(f"kind = {COMMAND}"))
        admission = Admission(Registry(vocabulary=self.registry.vocabulary), self.settings)
        return wanted.joined(admission.wanted_of(told))

    @cached_property
    def _items(self) -> DataFrame:
        read = self._shared(self._read(self._wanted, self.lines.frame))
        return self._without_late(read)

    def _read(self, wanted: Wanted, frame: DataFrame) -> DataFrame:
        """READ."""
        vocabulary, limits = self.registry.vocabulary, self.settings.limits
        if self.lines.tabular:
            task: Any = ReadTable(vocabulary=vocabulary, limits=limits, wanted=wanted)
        else:
            task = Read(vocabulary=vocabulary, limits=limits, wanted=wanted, commands=self.commands)
        if self.settings.lateness is None:
            task = self._counted(task, "items")
        return frame.mapInArrow(task, from_arrow_schema(wanted.schema))

    def _without_late(self, items: DataFrame) -> DataFrame:
        """Items in which what is late is a reject."""
        lateness = self.settings.lateness_micros
        if lateness is None:
            return items
        bucketed = items.withColumn("bucket", F.shiftright("position", BUCKET_BITS))
        timed = bucketed.where("time is not null").groupBy("bucket").agg(F.max("time"))
        buckets, largest = np.array(sorted(timed.collect()), np.int64).reshape(-1, 2).T
        latest_before = dict(zip(buckets.tolist(), largest_before(largest).tolist(), strict=True))
        task = FindLate(lateness=lateness, bucket_bits=BUCKET_BITS, latest_before=latest_before)
        return (
            bucketed.repartition(self._cores, "bucket")
            .sortWithinPartitions("position")
            .drop("bucket")
            .mapInArrow(self._counted(task, "items"), from_arrow_schema(self._wanted.schema))
        )

    @cached_property
    def _changes(self) -> Admitted:
        """The commands of the input: those that the registry allows, and those that it refuses."""
        found = Admitted()
        if self.commands:
            admission = admission_of(self.registry, self.settings)
            commands = _collected(self._items.where(f"kind = {COMMAND}"))
            admission.let_in(in_order(commands), found)
        return found

    @cached_property
    def _shares(self) -> list[Share]:
        """The registry and its changes cut by shortlist; advertisements go to every shard."""
        return shares_of(
            self.registry, self._changes, self.shards, self.settings.limits, self._wanted
        )

    @property
    def _busy_shares(self) -> list[tuple[int, Share]]:
        return [(n, share) for n, share in enumerate(self._shares) if not share.is_idle]

    @cached_property
    def _admitted(self) -> DataFrame:
        """ADMIT: publications that are let in, and those that are refused."""
        registry = self.registry
        task = Admit(
            registry=registry.rest if isinstance(registry, CompiledRegistry) else registry,
            changes=advertising(self._changes.commands.values()),
            settings=self.settings,
            wanted=self._wanted,
        )
        found = (
            self._items.where(f"kind = {PUBLICATION}")
            .repartition(self._cores, "source", "id")
            .sortWithinPartitions("time", "position")
            .mapInArrow(
                self._counted(task, "admit"), from_arrow_schema(admitted_schema(self._wanted))
            )
        )
        return self._shared(found)

    @cached_property
    def _results(self) -> DataFrame:
        told = Progress(self.progress)
        return self._shared(self._selected(with_data=self.with_data, told=told.add))

    def _selected(self, **how: Any) -> DataFrame:
        """SELECT, by every shard that somebody subscribes in."""
        return self._by_shards(
            self._arriving,
            lambda share: self._counted(Select(share=share, **how), "select"),
            RESULTS,
        )

    def _counted(self, task: Task, stage: Stage) -> Task:
        """Return the task, made to report what it counts if the batch warns."""
        if self._reports is None:
            return task
        return Counted(task=task, stage=stage, reports=self._reports)

    @property
    def _arriving(self) -> DataFrame:
        """What shards select from."""
        published = self._admitted.where(f"kind = {PUBLICATION}").drop("line", "reason")
        return self._with_chosen(self._complete(published))

    def _by_shards(
        self, arriving: DataFrame, task: Callable[[Share], Any], schema: pa.Schema
    ) -> DataFrame:
        """What each shard that somebody subscribes in makes of all publications, in order."""
        parts = []
        for _, share in self._busy_shares:
            ordered = arriving.repartition(1).sortWithinPartitions("time", "position")
            parts.append(ordered.mapInArrow(task(share), from_arrow_schema(schema)))
        if not parts:
            return self._spark.createDataFrame([], from_arrow_schema(schema))
        return reduce(lambda frame, more: frame.union(more), parts)

    def _complete(self, published: DataFrame) -> DataFrame:
        """With the columns that were left behind, empty."""
        schema = admitted_schema(self._wanted)
        nothing = {
            name: F.lit(None).cast("string")
            for name in schema.names
            if name not in published.columns
        }
        return published.withColumns(nothing).select(*schema.names)

    def _with_chosen(self, published: DataFrame) -> DataFrame:
        """With whom a publisher reaches, where an advertisement limits that."""
        if not any(share.advertises for share in self._shares):
            return published.withColumn("chosen", F.lit(None).cast("array<string>"))
        chosen = self._chosen(published.where("reach is not null")).groupBy("position")
        reached = chosen.agg(F.collect_set("shortlist").alias("chosen"))
        return published.join(reached, "position", "left").select(*published.columns, "chosen")

    def _chosen(self, limited: DataFrame) -> DataFrame:
        """NOMINATE and CHOOSE: the k best shortlists of all shards."""
        nominated = self._by_shards(limited, lambda share: Nominate(share=share), NOMINATIONS)
        together = nominated.repartition(self.shards, "position").sortWithinPartitions("position")
        return together.mapInArrow(Choose(), from_arrow_schema(CHOSEN))

    def _with_lines(self, rejects: DataFrame) -> DataFrame:
        """Return rejects with the text of their rows, which is made only here.

        There are as many rejects of a position as it has reasons, also where a user's column
        `position` gives it to several rows: to join all of these with all reasons would multiply
        rejects.
        """
        reasons = rejects.groupBy("position").agg(F.collect_list("reason").alias("__reasons"))
        reasons = reasons.withColumnRenamed("position", "__rejected")
        source = self.lines.frame
        found = source.join(reasons, source[POSITION] == reasons["__rejected"])
        alike = Window.partitionBy(POSITION).orderBy(json_row(source.columns).desc())
        reason = F.get("__reasons", F.row_number().over(alike) - 1).alias(REASON)
        columns = [F.col(quoted(name)) for name in source.columns]
        refused = found.select(*columns, reason).where(f"{REASON} is not null")
        return refused.mapInArrow(lines_of_rows, REJECTS)

    @property
    def _cores(self) -> int:
        """Into so many parts is everything cut: Spark's default of 200 is for larger clusters."""
        return int(self._spark.sparkContext.defaultParallelism)

    def _shared(self, frame: DataFrame) -> DataFrame:
        if self.keep:
            self._kept.append(frame.persist())
        return frame


def _select_into(work: BatchWork, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The task that selects into a file, and answers with what it says of that."""
    yield pa.record_batch([[pickle.dumps(select(work, arriving))]], schema=SELECTED)


def _collected(frame: DataFrame) -> Items:
    return Items.of_table(frame.toArrow())
