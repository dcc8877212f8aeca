"""The stages walked in one process: what a Spark job does between them, with tables for frames."""

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.deliveries import DELIVERIES, put_in_order
from shortlist.engine.deliveries import lines as delivery_lines
from shortlist.engine.matching import NOMINATIONS
from shortlist.engine.mentions import mentioned
from shortlist.engine.ordering import in_order
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
from shortlist.live.slots import cut_registry, shard_of
from shortlist.model.items import COMMAND, PUBLICATION, REJECT, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from tests.strategies import Pick

LINES = pa.schema({"position": pa.int64(), "line": pa.binary()})


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One finite input against one registry; `pick` decides how it is cut and scattered."""

    pick: Pick
    registry: Registry
    settings: Settings
    arriving: pa.Table
    """Lines with their positions, or rows of a table."""
    tabular: bool = False
    commands: bool = True
    shards: int = 1
    with_data: bool = True
    bucket_bits: int = 2

    @cached_property
    def deliveries(self) -> list[str]:
        """Delivery lines, in order."""
        found = self._results.filter(pc.is_null(self._results["note"])).select(DELIVERIES.names)
        return delivery_lines(put_in_order(found), self.with_data).to_pylist()

    @cached_property
    def rejects(self) -> list[tuple[int, str, str]]:
        """Position, reason and line of what was turned away."""
        refused = [(each.position, each.reason, each.line) for each in self._changes.refusals]
        for table in (self._items, self._admitted):
            rejects = _of_kind(table, REJECT).select(["position", "reason", "line"])
            refused += [tuple(row.values()) for row in rejects.to_pylist()]
        return sorted(refused, key=lambda each: each[0])

    @cached_property
    def _wanted(self) -> Wanted:
        wanted = mentioned(self.registry, self.settings.limits).joined(Wanted(data=self.with_data))
        if not self.commands:
            return wanted
        admission = Admission(Registry(vocabulary=self.registry.vocabulary), self.settings)
        commands = _of_kind(self._read(Wanted()), COMMAND)
        return wanted.joined(admission.wanted_of(Items.of_table(commands)))

    def _read(self, wanted: Wanted) -> pa.Table:
        how = {
            "vocabulary": self.registry.vocabulary,
            "limits": self.settings.limits,
            "wanted": wanted,
        }
        task = ReadTable(**how) if self.tabular else Read(**how, commands=self.commands)
        parts = self._scattered(self.arriving)
        return self._all(task, parts, wanted.schema)

    @cached_property
    def _items(self) -> pa.Table:
        items = self._read(self._wanted)
        if self.settings.lateness is None:
            return items
        buckets = [position >> self.bucket_bits for position in items["position"].to_pylist()]
        largest: dict[int, int] = {}
        for bucket, time in zip(buckets, items["time"].to_pylist(), strict=True):
            if time is not None:
                largest[bucket] = max(time, largest.get(bucket, time))
        latest_before, latest = {}, None
        for bucket in sorted({*buckets}):
            if latest is not None:
                latest_before[bucket] = latest
            if bucket in largest:
                latest = max(largest[bucket], largest[bucket] if latest is None else latest)
        task = FindLate(
            lateness=self.settings.lateness_micros,
            bucket_bits=self.bucket_bits,
            latest_before=latest_before,
        )
        parts = self._by(items, buckets, ["position"])
        return self._all(task, parts, self._wanted.schema)

    @cached_property
    def _changes(self) -> Admitted:
        found = Admitted()
        if self.commands:
            commands = Items.of_table(_of_kind(self._items, COMMAND))
            Admission(self.registry, self.settings).let_in(in_order(commands), found)
        return found

    @cached_property
    def _shares(self) -> list[Share]:
        commands = [[] for _ in range(self.shards)]
        changes = self._changes
        named = changes.items.values("shortlist") if changes.commands else []
        for command, name in zip(changes.commands.values(), named, strict=True):
            concerned = range(self.shards) if name is None else [shard_of(name, self.shards)]
            for shard in concerned:
                commands[shard].append(command)
        shares = [
            Share(registry=part, commands=some, limits=self.settings.limits, wanted=self._wanted)
            for part, some in zip(cut_registry(self.registry, self.shards), commands, strict=True)
        ]
        return [share for share in shares if not share.is_idle]

    @cached_property
    def _admitted(self) -> pa.Table:
        task = Admit(
            registry=self.registry,
            changes=advertising(self._changes.commands.values()),
            settings=self.settings,
            wanted=self._wanted,
        )
        published = _of_kind(self._items, PUBLICATION)
        keys = [*zip(*(published[name].to_pylist() for name in ("source", "id")), strict=True)]
        parts = self._by(published, keys, ["time", "position"])
        return self._all(task, parts, admitted_schema(self._wanted))

    @cached_property
    def _results(self) -> pa.Table:
        published = Items.of_table(_of_kind(self._admitted, PUBLICATION))
        bare = pa.Table.from_batches([published.without(["line", "reason"]).batch])
        names = self._chosen(bare)
        chosen = pa.array(map(names.get, bare["position"].to_pylist()), pa.list_(pa.string()))
        arriving = _sorted(bare.append_column("chosen", chosen), ["time", "position"])
        return self._in_shards(
            lambda share: Select(share=share, with_data=self.with_data), arriving, RESULTS
        )

    def _chosen(self, published: pa.Table) -> dict[int, list[str]]:
        """By position, whom a publisher reaches where an advertisement limits that."""
        limited = published.filter(pc.is_valid(published["reach"]))
        limited = _sorted(limited, ["time", "position"])
        nominated = self._in_shards(lambda share: Nominate(share=share), limited, NOMINATIONS)
        parts = self._by(nominated, nominated["position"].to_pylist(), ["position"])
        reached: dict[int, list[str]] = {}
        for row in self._all(Choose(), parts, CHOSEN).to_pylist():
            reached.setdefault(row["position"], []).append(row["shortlist"])
        return reached

    def _in_shards(self, task, arriving: pa.Table, schema: pa.Schema) -> pa.Table:
        found = [self._all(task(share), [arriving], schema) for share in self._shares]
        return pa.concat_tables([schema.empty_table(), *found])

    def _by(self, table: pa.Table, keys: list, order: list[str]) -> list[pa.Table]:
        """Parts in which all rows of one key are together, each sorted."""
        count = self.pick([1, 2, 3])
        homes = {key: self.pick(range(count)) for key in dict.fromkeys(keys)}
        at = [homes[key] for key in keys]
        return [
            _sorted(_taken(table, [n for n, home in enumerate(at) if home == part]), order)
            for part in range(count)
        ]

    def _scattered(self, table: pa.Table) -> list[pa.Table]:
        """Rows anywhere, in any order."""
        count = self.pick([1, 2, 3])
        at = [self.pick(range(count)) for _ in range(table.num_rows)]
        parts = [[n for n, home in enumerate(at) if home == part] for part in range(count)]
        return [_taken(table, part[:: self.pick([1, -1])]) for part in parts]

    def _all(self, task, parts: list[pa.Table], schema: pa.Schema) -> pa.Table:
        """What a task makes of all parts, each of which it gets in batches of any size."""
        batches = [batch for part in parts for batch in task(self._cut(part))]
        tables = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
        return pa.concat_tables([schema.empty_table(), *tables])

    def _cut(self, part: pa.Table) -> list[pa.RecordBatch]:
        batches, start = [], 0
        whole = Items.of_table(part).batch
        sizes = self.pick([[1], [1, 0, 2, 3, 7], [5], *[[100]] * 5])
        while start < whole.num_rows:
            size = self.pick(sizes)
            batches.append(whole.slice(start, size))
            start += size
        return batches


def lines_table(lines: list[str]) -> pa.Table:
    """Lines with their numbers from 1."""
    encoded = [line.encode() for line in lines]
    return pa.table([range(1, len(lines) + 1), encoded], schema=LINES)


def _taken(table: pa.Table, places: list[int]) -> pa.Table:
    return table.take(pa.array(places, pa.int64()))


def _of_kind(table: pa.Table, kind: int) -> pa.Table:
    return table.filter(pc.equal(table["kind"], kind))


def _sorted(table: pa.Table, names: list[str]) -> pa.Table:
    """Sorted by columns, whatever the order was."""
    return table.sort_by([(name, "ascending") for name in names])
