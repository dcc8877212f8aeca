"""One shard's part of a batch: its state and the items that were let in, in; deliveries out."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shortlist.engine.admitted import Admitted, readmitted
from shortlist.engine.arrivals import as_rows, placed
from shortlist.engine.arrow import batches, rows
from shortlist.engine.bulk import BLOCK, BulkHalves
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.ordering import Ordering
from shortlist.engine.results import RESULTS, delivery_row
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.cache import Cache
from shortlist.live.deliveries import ordered_lines
from shortlist.live.files import Files
from shortlist.live.found_matches import Incoming, Piece
from shortlist.live.gate import Passed
from shortlist.live.manifest import Chain, Stored
from shortlist.live.slots import shard_of
from shortlist.live.tables import of_bytes, to_bytes
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.settings import Limits
from shortlist.selection.bulk.offers import Placements

OTHER_TYPE = "other type: "
"""How counts of values of another type than a predicate's begin, before the attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a shard has to do for a batch; it travels with the task, so what is large is a file."""

    folder: str
    shard: int
    shards: int
    chain: Chain
    until: int | None
    """Everything that is due before this instant happens."""
    passed: str | None = None
    """The items."""
    chosen: str | None = None
    """Whom publishers with an audience reach."""
    matches: tuple[Piece, ...] | None = None
    """What lanes found for the shard; None where it matches for itself."""
    replacing: tuple[int, ...] = ()
    """The positions of publications that take others back, where lanes match."""
    limits: Limits
    with_data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of it. Nobody hears of an attempt that failed, and its files are collected."""

    shard: int
    chain: Chain
    deliveries: str | None
    delivered: int
    counts: dict[str, Any]


class ShardEngine:
    """The engine's halves for the shortlists of one shard, with what saves them."""

    def __init__(self, snapshot: Saved, limits: Limits, *, finds: bool = True) -> None:
        registry = registry_from_documents(snapshot.document["registry"], limits)
        index = Index(registry.vocabulary, limits) if finds else None
        self.halves = BulkHalves(registry.vocabulary, limits, index)
        self._saving = Saving(self.halves, Duplicates(0), Ordering(None))
        for command in registry_commands(registry):
            self.halves.apply(command)
        self._saving.load(snapshot)
        for arena in self.halves.selecting.arenas():
            arena.heads["touched"] = 0
        self._reader = ItemReader(registry.vocabulary, limits.for_what_was_read())
        self._commanded = False

    @classmethod
    def restored(
        cls, chain: Chain, files: Files, limits: Limits, *, finds: bool = True
    ) -> "ShardEngine":
        """As the files say; one that does not find matches is told them."""
        engine = cls(Saved.of_bytes(files.read(chain.snapshot.name)), limits, finds=finds)
        for change in chain.changes:
            engine._saving.load(Saved.of_bytes(files.read(change.name)))
        return engine

    def run(
        self,
        items: Iterable[Passed],
        chosen: Mapping[int, Sequence[str]],
        until: int | None,
        with_data: bool,
        found: Incoming | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Rows of RESULTS, in no particular order."""
        block: list[Admitted] = []
        for item in items:
            if item.kind == "publication":
                block.append(self._admitted(item, chosen))
                if len(block) == BLOCK:
                    yield from self._published(block, found, with_data)
                    block = []
            else:
                yield from self._published(block, found, with_data)
                block = []
                yield from self._told(self._carried_out(item), with_data)
        yield from self._published(block, found, with_data)
        if until is not None:
            yield from self._placed(self.halves.due(until), with_data)

    def saved(self, chain: Chain, files: Files) -> Chain:
        """The chain with what has changed behind it; the same one if nothing has."""
        is_touched = any(arena.heads["touched"].any() for arena in self.halves.selecting.arenas())
        if not is_touched and not self._commanded:
            return chain
        self._commanded = False
        token = uuid.uuid4().hex
        if chain.is_long:
            content = self._saving.snapshot()
            snapshot = Stored(files.write("snapshot", content), len(content))
            return Chain(token=token, snapshot=snapshot)
        content = self._saving.changes()
        return chain.changed(token, Stored(files.write("changes", content), len(content)))

    def snapshot(self) -> Saved:
        """All of it."""
        return Saved.of_bytes(self._saving.snapshot())

    @property
    def counts(self) -> dict[str, Any]:
        return self.halves.work

    def _admitted(self, item: Passed, chosen: Mapping[int, Sequence[str]]) -> Admitted:
        return readmitted(
            self.halves.matching,
            item.line,
            item.position,
            item.time,
            item.audience,
            item.advertisement,
            chosen.get(item.position, ()),
        )

    def _published(
        self, block: Sequence[Admitted], found: Incoming | None, with_data: bool
    ) -> Iterator[pa.RecordBatch]:
        if not block:
            return
        matches = None
        if found is not None:
            positions = [admitted.publication.position for admitted in block]
            matches = found.of(positions, self.halves.matching.number)
        yield from self._placed(self.halves.placed(block, matches), with_data)

    def _carried_out(self, item: Passed) -> list[Delivery]:
        command = self._reader.line(item.line, item.position)
        assert isinstance(command, Command)
        deliveries = self.halves.apply(command)
        self._saving.carried_out(command)
        self._commanded = True
        return deliveries

    def _placed(self, placements: Placements, with_data: bool) -> Iterator[pa.RecordBatch]:
        if placements.scores.size:
            yield as_rows(placed(self.halves, placements, with_data))

    def _told(self, deliveries: list[Delivery], with_data: bool) -> Iterator[pa.RecordBatch]:
        yield from batches((delivery_row(each, with_data) for each in deliveries), RESULTS)


ENGINES: Cache[ShardEngine] = Cache()
"""Of this process: a worker of Spark's, or the driver itself."""


def run(work: Work) -> Done:
    """Does a shard's part of a batch."""
    files = Files(work.folder)
    key, finds = f"{work.folder} {work.shard}", work.matches is None
    engine = ENGINES.take(key, f"{work.chain.token} {finds}")
    if engine is None:
        engine = ShardEngine.restored(work.chain, files, work.limits, finds=finds)
    before = Counter(_numbers(engine.counts))
    found = None if work.matches is None else Incoming(work.matches, files)
    items = _items(work, files, found)
    results = pa.Table.from_batches(
        engine.run(items, _chosen(work, files), work.until, work.with_data, found), RESULTS
    )
    delivered = None
    if results.num_rows:
        delivered = files.write("deliveries", to_bytes(ordered_lines(results)))
    chain = engine.saved(work.chain, files)
    counts = Counter(_numbers(engine.counts))
    counts.subtract(before)
    ENGINES.put(key, f"{chain.token} {finds}", engine)
    return Done(
        shard=work.shard,
        chain=chain,
        deliveries=delivered,
        delivered=results.num_rows,
        counts=+counts,
    )


def _items(work: Work, files: Files, found: Incoming | None) -> Iterator[Passed]:
    """The items that concern a shard: of publications, those that match something, if known."""
    if work.passed is None:
        return
    some = None if found is None else {*found.positions.tolist(), *work.replacing}
    for row in rows(of_bytes(files.read(work.passed)).to_batches()):
        item = Passed(*row)
        if item.kind == "publication":
            if some is None or item.position in some:
                yield item
        elif item.shortlist is None or shard_of(item.shortlist, work.shards) == work.shard:
            yield item


def _chosen(work: Work, files: Files) -> dict[int, list[str]]:
    """The shortlists that publishers reach, by position of the publication."""
    chosen: dict[int, list[str]] = {}
    if work.chosen is not None:
        for position, shortlist in rows(of_bytes(files.read(work.chosen)).to_batches()):
            chosen.setdefault(position, []).append(shortlist)
    return chosen


def _numbers(counts: Mapping[str, Any]) -> dict[str, int]:
    """Counts of work, flat."""
    flat = {name: count for name, count in counts.items() if name != "other_type"}
    return flat | {f"{OTHER_TYPE}{name}": n for name, n in counts["other_type"].items()}
