"""One shard's part of a batch: its state and the items that were let in, in; deliveries out."""

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from shortlist.engine.admitted import Admitted, readmitted
from shortlist.engine.arrivals import as_rows, placed
from shortlist.engine.arrow import Row, batches, rows
from shortlist.engine.attentive import AttentiveHalves
from shortlist.engine.bulk import BulkHalves
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.mirror import Mirror
from shortlist.engine.ordering import Ordering
from shortlist.engine.results import RESULTS, delivery_row
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import BEFORE_ALL_TIME, registry_commands
from shortlist.live.cache import Cache
from shortlist.live.deliveries import ordered_lines
from shortlist.live.files import Files
from shortlist.live.found_matches import Incoming, Piece
from shortlist.live.gate import Passed
from shortlist.live.manifest import Chain, Stored
from shortlist.live.slots import shard_of
from shortlist.live.tables import DEPARTED, of_bytes, table_of, to_bytes
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.settings import Limits
from shortlist.selection.bank.offers import Placements

OTHER_TYPE = "other type: "
"""How counts of values of another type than a predicate's begin, before the attribute."""
SUPPRESSED = "suppressed: "
"""How counts of matches that were not delivered at arrival begin, before the reason."""


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
    with_departures: bool = False
    since: int | None = None
    """Everything that was due before this instant has happened."""

    @property
    def kind(self) -> str:
        """Which kind of engine does it."""
        finds = "finding" if self.matches is None else "told"
        return f"{finds}, mirrored" if self.with_departures else finds


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of it. Nobody hears of an attempt that failed, and its files are collected."""

    shard: int
    chain: Chain
    deliveries: str | None
    delivered: int
    departures: str | None
    departed: int
    counts: dict[str, Any]


class ShardEngine:
    """The engine's halves for the shortlists of one shard, with what saves them."""

    def __init__(
        self, snapshot: Saved, limits: Limits, *, finds: bool = True, is_mirrored: bool = False
    ) -> None:
        registry = registry_from_documents(snapshot.document["registry"], limits)
        index = Index(registry.vocabulary, limits) if finds else None
        halves = AttentiveHalves if is_mirrored else BulkHalves
        self.halves = halves(registry.vocabulary, limits, index)
        self._mirror: Mirror | None = None
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
        cls,
        chain: Chain,
        files: Files,
        limits: Limits,
        *,
        finds: bool = True,
        is_mirrored: bool = False,
    ) -> "ShardEngine":
        """As the files say; one that does not find matches is told them."""
        snapshot = Saved.of_bytes(files.read(chain.snapshot.name))
        engine = cls(snapshot, limits, finds=finds, is_mirrored=is_mirrored)
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
            if self._mirror is not None:
                yield from self._placed(self._mirror.due(item.time), with_data)
            if item.kind == "publication":
                block.append(self._admitted(item, chosen))
                if len(block) == self._halves.at_once:
                    yield from self._published(block, found, with_data)
                    block = []
            else:
                yield from self._published(block, found, with_data)
                block = []
                yield from self._told(self._carried_out(item), with_data)
        yield from self._published(block, found, with_data)
        if until is not None:
            yield from self._placed(self._halves.due(until), with_data)

    @property
    def _halves(self) -> BulkHalves | Mirror:
        return self.halves if self._mirror is None else self._mirror

    def follow(self, since: int | None) -> None:
        """From now on what leaves shortlists is noted; nothing since an instant has happened."""
        if self._mirror is None and isinstance(self.halves, AttentiveHalves):
            self._mirror = Mirror(self.halves, BEFORE_ALL_TIME if since is None else since)

    def departures(self, with_data: bool) -> Iterator[Row]:
        """What has left, and what has returned: rows of DEPARTED."""
        for change in self._mirror.taken() if self._mirror is not None else ():
            line = json.dumps(change.document(with_data), ensure_ascii=False)
            time, position, shortlist = change.order
            yield time, position, shortlist, line

    def saved(self, chain: Chain, files: Files, shards: int) -> Chain:
        """The chain with what has changed behind it; the same one if nothing has."""
        is_touched = any(arena.heads["touched"].any() for arena in self.halves.selecting.arenas())
        if not is_touched and not self._commanded:
            return chain
        self._commanded = False
        token = uuid.uuid4().hex
        if chain.is_long(shards):
            content = self._saving.snapshot()
            snapshot = Stored(files.write("snapshot", content), len(content))
            return Chain(token=token, snapshot=snapshot)
        content = self._saving.changes()
        return chain.changed(token, Stored(files.write("changes", content), len(content)))

    def snapshot(self) -> Saved:
        """All of it."""
        return Saved.of_bytes(self._saving.snapshot())

    @property
    def counts(self) -> Counter[str]:
        """What was done so far, each kind of it under a name of its own."""
        work = self.halves.work
        counts = Counter({name: count for name, count in work.items() if name != "other_type"})
        counts.update({f"{OTHER_TYPE}{name}": n for name, n in work["other_type"].items()})
        counts.update({f"{SUPPRESSED}{why}": n for why, n in self.halves.suppressed.items()})
        return counts

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
        yield from self._placed(self._halves.placed(block, matches), with_data)

    def _carried_out(self, item: Passed) -> list[Delivery]:
        command = self._reader.line(item.line, item.position)
        assert isinstance(command, Command)
        deliveries = self._halves.apply(command)
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
    key = f"{work.folder} {work.shard}"
    engine = ENGINES.take(key, f"{work.chain.token} {work.kind}")
    if engine is None:
        engine = ShardEngine.restored(
            work.chain,
            files,
            work.limits,
            finds=work.matches is None,
            is_mirrored=work.with_departures,
        )
    engine.follow(work.since)
    before = engine.counts
    found = None if work.matches is None else Incoming(work.matches, files)
    items = _items(work, files, found)
    results = pa.Table.from_batches(
        engine.run(items, _chosen(work, files), work.until, work.with_data, found), RESULTS
    )
    delivered = None
    if results.num_rows:
        delivered = files.write("deliveries", to_bytes(ordered_lines(results)))
    left = table_of(engine.departures(work.with_data), DEPARTED)
    departures = files.write("departures", to_bytes(left)) if left.num_rows else None
    chain = engine.saved(work.chain, files, work.shards)
    if departures is not None and chain.token == work.chain.token:
        # what has left is told once: an engine that has told it is in another state
        chain = replace(chain, token=uuid.uuid4().hex)
    counts = engine.counts
    counts.subtract(before)
    ENGINES.put(key, f"{chain.token} {work.kind}", engine)
    return Done(
        shard=work.shard,
        chain=chain,
        deliveries=delivered,
        delivered=results.num_rows,
        departures=departures,
        departed=left.num_rows,
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
