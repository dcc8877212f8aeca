"""The batch plan: lines or rows in, ranked deliveries out."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.engine.arrow import Row
from shortlist.engine.deliveries import file_schema
from shortlist.engine.results import RESULTS
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.tables import row_document
from shortlist.model.command import Command
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.spark.ingest import admitted, carried_out, read_items, without_late
from shortlist.spark.schemas import CHOSEN, NOMINATIONS, PARTS, ddl
from shortlist.spark.shards import Choose, Nominate, Select, Share, shares
from shortlist.spark.sinks import parts_folder, put_in_order
from shortlist.spark.sources import Lines, NoInput, read_table
from shortlist.spark.stateless import MatchAll, Ready, WriteAll, is_stateless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REJECTS = "position bigint, line string, reason string"
ALLOWED = "position bigint, shard int, allowed array<string>"


class Batch:
    """One finite input against one registry; its DataFrames are made when they are asked for.

    With `keep`, what several of them share is computed once and kept until `release`.
    """

    def __init__(
        self,
        lines: Lines,
        registry: Registry,
        settings: Settings | None = None,
        *,
        commands: bool = False,
        shards: int | None = None,
        with_data: bool = False,
        keep: bool = False,
    ) -> None:
        self._lines = lines
        self._registry = registry
        self._settings = settings or Settings()
        self._has_commands = commands
        self._spark = lines.frame.sparkSession
        self._shards = shards or self._spark.sparkContext.defaultParallelism
        self._with_data = with_data
        self._keep = keep
        self._kept: list[DataFrame] = []
        self.progress: str | None = None
        """A folder in which shards on this machine say how far they are."""

    @cached_property
    def deliveries(self) -> DataFrame:
        """Deliveries with the `position` of their publication, in no particular order."""
        columns = [*file_schema(self._with_data).names, "position"]
        return self._results.where("note is null").select(columns)

    @cached_property
    def rejects(self) -> DataFrame:
        """What was turned away: position, line, reason."""
        unread = self._items.where("kind = 'reject'").select("position", "line", "reason")
        repeated = self._admitted.where("reason is not null")
        refused = self._spark.createDataFrame(self._changes[1], REJECTS)
        return unread.union(repeated.select("position", "line", "reason")).union(refused)

    @cached_property
    def explanations(self) -> DataFrame:
        """A JSON document for each match and each promotion, in the column `explanation`."""
        from pyspark.sql import functions as F  # noqa: N812

        explained = self._selected(Select(shares=self._shares, explain=True))
        field = F.get_json_object("note", "$.explanation").alias("explanation")
        return explained.select(field).where("explanation is not null")

    def counts(self) -> dict[str, Any]:
        """Publications and matches of the whole batch, and deliveries by cause."""
        notes = self._results.where("note is not null").select("note").collect()
        return self._total(row.note for row in notes)

    @cached_property
    def is_stateless(self) -> bool:
        """Whether every match is a delivery, and the machine of every task is this one."""
        is_local = str(self._spark.sparkContext.master).startswith("local")
        return is_local and not self._has_commands and is_stateless(self._registry)

    def prepare(
        self, processes: int | None = 1, progress: Callable[[int], object] = lambda done: None
    ) -> None:
        """Compiles a stateless registry now, and not with the first result.

        More than one process can only be started by a program that does nothing when it is
        imported; without a number, there are as many as cores.
        """
        self._ready = self._compiled(processes, progress)

    def write_parts(self, out: str | Path) -> dict[str, Any]:
        """Lets the tasks of a stateless batch write Parquet in order themselves; the counts."""
        with parts_folder(out) as folder:
            task = WriteAll(
                ready=self._ready,
                folder=str(folder),
                with_data=self._with_data,
                progress=self.progress,
            )
            parts = sorted(self._in_order.mapInArrow(task, ddl(PARTS)).collect())
            put_in_order(folder, [part.file for part in parts], self._with_data)
        return self._total(part.note for part in parts)

    def _total(self, notes: Iterable[str]) -> dict[str, Any]:
        total: Counter[str] = Counter()
        other_type: Counter[str] = Counter()
        for note in notes:
            counts = json.loads(note)["counts"]
            other_type.update(counts.pop("other_type"))
            total.update(counts)
        # every shard goes through the same ones, and does not count them
        published = total.pop("publications", None)
        if published is None:
            published = self.publications
        return {"publications": published, **total, "other_type": dict(other_type)}

    @cached_property
    def publications(self) -> int:
        """How many publications are matched."""
        return self._admitted.where("reason is null").count()

    @property
    def passes(self) -> int:
        """How often publications are matched: once, or once by every busy shard."""
        return self.publications * (1 if self.is_stateless else self._busy_shards)

    @property
    def _busy_shards(self) -> int:
        return sum(not share.is_idle for share in self._shares)

    def release(self) -> None:
        """Lets go of what was kept."""
        while self._kept:
            self._kept.pop().unpersist()

    @cached_property
    def _items(self) -> DataFrame:
        vocabulary = self._registry.vocabulary
        read = read_items(self._lines, vocabulary, self._settings, self._has_commands)
        return without_late(self._shared(read), self._settings.lateness)

    @cached_property
    def _changes(self) -> tuple[list[Command], list[Row]]:
        if not self._has_commands:
            return [], []
        return carried_out(self._items, self._registry, self._settings)

    @cached_property
    def _shares(self) -> list[Share]:
        commands = self._changes[0]
        return shares(self._registry, commands, self._settings.limits, self._shards)

    @cached_property
    def _admitted(self) -> DataFrame:
        found = admitted(self._items, self._registry, self._changes[0], self._settings)
        return self._shared(found)

    @cached_property
    def _in_order(self) -> DataFrame:
        """Publications cut into ranges of time, as many as there are cores."""
        published = self._admitted.where("reason is null").select("time", "position", "line")
        ranges = published.repartitionByRange(self._shards, "time", "position")
        return ranges.sortWithinPartitions("time", "position")

    @cached_property
    def _ready(self) -> Ready:
        return self._compiled()

    def _compiled(
        self, processes: int | None = 1, progress: Callable[[int], object] = lambda done: None
    ) -> Ready:
        folder = tempfile.mkdtemp(prefix="shortlist-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        index, limits = Path(folder, "index"), self._settings.limits
        return Ready.of(self._registry, limits, index, processes, progress)

    @cached_property
    def _results(self) -> DataFrame:
        if self.is_stateless:
            every = MatchAll(ready=self._ready, with_data=self._with_data, progress=self.progress)
            return self._shared(self._in_order.mapInArrow(every, ddl(RESULTS)))
        task = Select(shares=self._shares, with_data=self._with_data, progress=self.progress)
        return self._shared(self._selected(task))

    def _selected(self, task: Select) -> DataFrame:
        published = self._admitted.where("reason is null")
        allowed = self._allowed(published)
        arriving = self._for_each_shard(published).join(allowed, ["position", "shard"], "left")
        columns = ("shard", "time", "position", "line", "audience", "advertisement", "allowed")
        return self._by_shard(arriving.select(*columns)).mapInArrow(task, ddl(RESULTS))

    def _allowed(self, published: DataFrame) -> DataFrame:
        """Which shortlists of a shard may receive a publication that an advertisement limits."""
        from pyspark.sql import functions as F  # noqa: N812

        if not any(share.advertises for share in self._shares):
            return self._spark.createDataFrame([], ALLOWED)
        chosen = self._chosen(published).groupBy("position", "shard")
        return chosen.agg(F.collect_set("shortlist").alias("allowed"))

    def _chosen(self, published: DataFrame) -> DataFrame:
        """The k best shortlists of all shards, for each publication that has a limit."""
        limited = self._for_each_shard(published.where("audience is not null"))
        columns = ("shard", "time", "position", "line", "audience", "advertisement")
        nominated = self._by_shard(limited.select(*columns)).mapInArrow(
            Nominate(shares=self._shares), ddl(NOMINATIONS)
        )
        ordered = nominated.repartition(self._shards, "position").sortWithinPartitions("position")
        return ordered.mapInArrow(Choose(shards=self._shards), ddl(CHOSEN))

    def _for_each_shard(self, published: DataFrame) -> DataFrame:
        busy = [(shard,) for shard, share in enumerate(self._shares) if not share.is_idle]
        return published.crossJoin(self._spark.createDataFrame(busy, "shard int").hint("broadcast"))

    def _by_shard(self, frame: DataFrame) -> DataFrame:
        placed = frame.repartitionById(self._shards, "shard")
        return placed.sortWithinPartitions("shard", "time", "position")

    def _shared(self, frame: DataFrame) -> DataFrame:
        if self._keep:
            self._kept.append(frame.persist())
        return frame


def rank(
    publications: DataFrame,
    registry: Registry | str | Path | Mapping[str, Any],
    settings: Settings | None = None,
    *,
    shards: int | None = None,
    with_data: bool = False,
) -> DataFrame:
    """The deliveries that publications lead to, on the Spark session that they live on.

    `publications` has the columns `id`, `source`, `time` and, if you like, `type`, `expirytime`,
    `audience`, `data` (a struct, a map or JSON text) and `position`; all others count as data.
    """
    return batch(publications, registry, settings, shards=shards, with_data=with_data).deliveries


def batch(
    publications: DataFrame,
    registry: Registry | str | Path | Mapping[str, Any],
    settings: Settings | None = None,
    *,
    shards: int | None = None,
    with_data: bool = False,
    keep: bool = False,
) -> Batch:
    """As `rank`, with rejects, counts and explanations beside the deliveries."""
    if (
        settings is not None
        and settings.lateness is not None
        and "position" not in publications.columns
    ):
        raise NoInput("lateness needs a column `position`: a DataFrame has no order of its own")
    return Batch(
        read_table(publications),
        any_registry(registry, (settings or Settings()).limits),
        settings,
        shards=shards,
        with_data=with_data,
        keep=keep,
    )


def any_registry(
    registry: Registry | str | Path | Mapping[str, Any], limits: Limits | None = None
) -> Registry:
    """A registry as it is, from a file or folder, or from documents and DataFrames.

    >>> any_registry({"subscriptions": [{"id": "s"}]}).subscriptions[0].id
    's'
    """
    if isinstance(registry, Registry):
        return registry
    if isinstance(registry, Mapping):
        documents = {kind: _documents(part) for kind, part in registry.items()}
        return registry_from_documents(documents, limits)
    return read_registry(registry, limits)


def _documents(part: Any) -> Any:
    if hasattr(part, "toArrow"):
        return [row_document(row) for row in part.toArrow().to_pylist()]
    return part
