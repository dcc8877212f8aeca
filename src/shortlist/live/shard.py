"""One shard's part of a batch: its state and the items that were let in, in; deliveries out."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.arrow import Row, rows
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.mirror import Mirror
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import BEFORE_ALL_TIME
from shortlist.live.cache import Cache
from shortlist.live.files import Files
from shortlist.live.found_matches import Incoming, Piece
from shortlist.live.manifest import Chain, Stored
from shortlist.live.registry_state import of_shard
from shortlist.live.tables import DEPARTED, of_bytes, table_of, to_bytes
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a shard has to do for a batch; it travels with the task, so what is large is a file."""

    folder: str
    shard: int
    shards: int
    chain: Chain
    until: int | None
    """Everything that is due before this instant happens."""
    items: str | None = None
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


class KeptShard:
    """A shard, with what saves it."""

    def __init__(self, snapshot: Saved, limits: Limits, *, finds: bool = True) -> None:
        registry = registry_from_documents(snapshot.document["registry"], limits)
        self.shard = Shard(registry, limits, finds=finds)
        self._saving = Saving(self.shard)
        self._saving.load(snapshot)
        for arena in self.shard.selecting.arenas():
            arena.heads["touched"] = 0
        self.mirror: Mirror | None = None

    @classmethod
    def restore(
        cls, chain: Chain, files: Files, limits: Limits, *, finds: bool = True
    ) -> "KeptShard":
        """As the files say; one that does not find matches is told them."""
        kept = cls(Saved.of_bytes(files.read(chain.snapshot.name)), limits, finds=finds)
        for change in chain.changes:
            kept._saving.load(Saved.of_bytes(files.read(change.name)))
        return kept

    def follow(self, since: int | None) -> None:
        """From now on what leaves shortlists is noted; nothing since an instant has happened."""
        if self.mirror is None:
            self.mirror = Mirror(self.shard, BEFORE_ALL_TIME if since is None else since)

    def departures(self, with_data: bool) -> Iterator[Row]:
        """What has left, and what has returned: rows of DEPARTED."""
        for change in self.mirror.taken() if self.mirror is not None else ():
            line = json.dumps(change.document(with_data), ensure_ascii=False)
            time, position, shortlist = change.order
            yield time, position, shortlist, line

    def save(self, chain: Chain, files: Files, shards: int) -> Chain:
        """Writes what has changed; the chain with that behind it, or as it is if nothing has."""
        if not self.shard.is_touched:
            return chain
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


SHARDS: Cache[KeptShard] = Cache()
"""Of this process: a worker of Spark's, or the driver itself."""


def run(work: Work) -> Done:
    """Does a shard's part of a batch."""
    files = Files(work.folder)
    key = f"{work.folder} {work.shard}"
    kept = SHARDS.take(key, f"{work.chain.token} {work.kind}")
    if kept is None:
        finds = work.matches is None
        kept = KeptShard.restore(work.chain, files, work.limits, finds=finds)
    if work.with_departures:
        kept.follow(work.since)
    shard, before = kept.shard, kept.shard.tallies
    found = None if work.matches is None else Incoming(work.matches, files)
    placements = shard.run(
        _items(work, files, found),
        chosen=_chosen(work, files),
        found=found,
        until=work.until,
        observer=kept.mirror,
    )
    made = (shard.deliveries(placed, work.with_data) for placed in placements if placed.scores.size)
    deliveries = pa.Table.from_batches(made, DELIVERIES)
    delivered = files.write("deliveries", to_bytes(deliveries)) if deliveries.num_rows else None
    left = table_of(kept.departures(work.with_data), DEPARTED)
    departures = files.write("departures", to_bytes(left)) if left.num_rows else None
    chain = kept.save(work.chain, files, work.shards)
    if departures is not None and chain.token == work.chain.token:
        # what has left is told once: a shard that has told it is in another state
        chain = replace(chain, token=uuid.uuid4().hex)
    counts = shard.tallies
    counts.subtract(before)
    SHARDS.put(key, f"{chain.token} {work.kind}", kept)
    return Done(
        shard=work.shard,
        chain=chain,
        deliveries=delivered,
        delivered=deliveries.num_rows,
        departures=departures,
        departed=left.num_rows,
        counts=+counts,
    )


def _items(work: Work, files: Files, found: Incoming | None) -> Items:
    """The items that concern a shard: of publications, those that match something, if known."""
    if work.items is None:
        return Items.empty()
    items = Items.of_table(of_bytes(files.read(work.items)))
    is_command = items.kinds == COMMAND
    concerns = np.ones(len(items), np.bool_)
    if is_command.any():
        own = of_shard(work.shard, work.shards)
        named = items.values("shortlist")
        concerns[is_command] = [own(named[at]) for at in np.flatnonzero(is_command).tolist()]
    if found is not None:
        some = np.append(found.positions, np.array(work.replacing, np.int64))
        concerns &= is_command | np.isin(items.positions, some)
    return items.kept(concerns)


def _chosen(work: Work, files: Files) -> dict[int, list[str]]:
    """The shortlists that publishers reach, by position of the publication."""
    chosen: dict[int, list[str]] = {}
    if work.chosen is not None:
        for position, shortlist in rows(of_bytes(files.read(work.chosen)).to_batches()):
            chosen.setdefault(position, []).append(shortlist)
    return chosen
