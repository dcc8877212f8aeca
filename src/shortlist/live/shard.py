"""One shard's part of a batch: its state and the items that were let in, in; deliveries out."""

import json
import sys
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.arrow import Row, rows
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.merging import part
from shortlist.engine.mirror import Mirror
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_read_again
from shortlist.intake.roster import BEFORE_ALL_TIME
from shortlist.live.cache import Cache
from shortlist.live.compiled import CompiledRegistries, opened_shard
from shortlist.live.files import Files, ShardWork, Stored
from shortlist.live.folding import LEAST_FOLDED, Folding, packed_shard
from shortlist.live.manifest import Chain, Input
from shortlist.live.matching_stage import Incoming
from shortlist.live.registry_state import Concerns, concerning, of_shard
from shortlist.live.states import read_state, write_state
from shortlist.live.tables import DEPARTED, of_bytes, table_of, to_buffer, to_bytes
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits
from shortlist.selection.bank.offers import Placements

PATIENCE = 16
"""Where a registry is packed in the background, as many times more changes may stand beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(ShardWork):
    """What a shard has to do for a batch."""

    chain: Chain
    until: int | None
    """Everything that is due before this instant happens."""
    taken: Input | None = None
    finds: bool = True
    """Whether the shard matches for itself."""
    with_data: bool = False
    with_departures: bool = False
    since: int | None = None
    """Everything that was due before this instant has happened."""

    @property
    def kind(self) -> str:
        """Which kind of engine does it."""
        finds = "finding" if self.finds else "told"
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
    """A shard, with what saves it; of some shortlists only, where somebody looks at these."""

    def __init__(
        self, shard: Shard, snapshot: Saved, concerns: Concerns, registry: Stored | None = None
    ) -> None:
        """With a shard that has the registry as it is packed, and has seen nothing yet; and the
        file that has that registry, if it stands in one."""
        self.shard = shard
        self.mirror: Mirror | None = None
        self._concerns = concerns
        self._folding = Folding()
        self._written = snapshot.packed_registry, registry
        """A packed registry, and the file that has it."""
        self._older: bytes | None = None
        """What the registry was packed like before it was packed again."""
        shard.count([], sys.maxsize)
        for command in snapshot.changes(shard.matching.vocabulary):
            shard.follow(command)
        self._saving = Saving(self.shard, patience=PATIENCE)
        self._saving.load(snapshot)

    @classmethod
    def restore(
        cls,
        chain: Chain,
        files: Files,
        limits: Limits,
        concerns: Concerns,
        *,
        finds: bool = True,
        is_whole: bool = True,
    ) -> "KeptShard":
        """As the files say: what was taken in since the snapshot leads to the same state again.

        One that does not find matches is told them. If it is not to be whole, there is nothing in
        it but what concerns somebody.
        """
        saved = read_state(chain, files.read)

        def shard_of(saved: Saved, finds: bool) -> Shard:
            if is_whole:
                return opened_shard(saved, files, limits, finds=finds)
            return Shard(registry_read_again(saved.packed_document), limits, finds=finds)

        if not is_whole:
            saved = part(saved, concerns)
        is_told = all(taken.matches is not None for taken in chain.inputs)
        registry = chain.registry if is_whole else None
        kept = cls(shard_of(saved, finds or not is_told), saved, concerns, registry)
        for taken in chain.inputs:
            deque(kept.run(taken, files), maxlen=0)  # what it led to was delivered then
        if chain.until is not None:
            kept.shard.due(chain.until)
        if finds or is_told:
            return kept
        saved = kept.snapshot()
        return cls(shard_of(saved, finds=False), saved, concerns)

    def run(
        self, taken: Input | None, files: Files, until: int | None = None
    ) -> Iterator[Placements]:
        """Takes in what a batch has for the shard; then everything happens that is due."""
        if taken is None:
            return self.shard.run(Items.empty(), until=until, observer=self.mirror)
        is_told = taken.matches is not None and not self.shard.matching.finds
        found = Incoming(taken.matches or (), files) if is_told else None
        return self.shard.run(
            self._items(taken, files, found),
            chosen=chosen_in(taken, files),
            found=None if found is None else found.of,
            until=until,
            observer=self.mirror,
        )

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

    def snapshot(self, *, whole: bool = False) -> Saved:
        """All of it; one that is to be cut in parts has a whole registry."""
        return Saved.of_bytes(self._saving.saved(whole=whole).to_bytes())

    def save(self, chain: Chain, taken: Input, files: Files, shards: int) -> Chain:
        """The chain with one more input; a new snapshot is written where it would be long."""
        if not chain.is_long(shards):
            return chain.followed(uuid.uuid4().hex, taken)
        before = self._saving.packed
        self._fold(files)
        saved = self._saving.saved()
        if self._saving.packed is not before:
            self._replace(before, files)
        packed, file = self._written
        chain = write_state(saved, files, file if packed is saved.packed_registry else None)
        self._written = saved.packed_registry, chain.registry
        return chain

    def _fold(self, files: Files) -> None:
        """Takes the registry that was packed in the background, or has that done if many changes
        stand beside the one there is."""
        folded = self._folding.taken()
        if folded is not None:
            self._saving.fold(*folded)
        changes = self.shard.changes or ()
        if len(changes) <= self._saving.few() or self._folding.is_busy:
            return
        if len(self.shard.matching.roster.subscriptions) < LEAST_FOLDED:
            self._saving.packed = None
        else:
            packed, documents = self._saving.registry()
            matching = self.shard.matching
            state = Saved(packed, {"changes": documents}).to_bytes()
            limits, finds = matching.limits, matching.finds
            task = partial(packed_shard, state=state, limits=limits, finds=finds)
            self._folding.begin(files.folder, task, len(documents))

    def _replace(self, before: bytes | None, files: Files) -> None:
        """The registry is packed in another way than before: that may still be the one of the state
        that counts, but what it was packed like earlier is not."""
        known = CompiledRegistries(files.folder)
        assert self._saving.packed is not None
        known.keep(self.shard, self._saving.packed)
        if self._older is not None:
            known.drop(self.shard, self._older)
        self._older = before

    def _items(self, taken: Input, files: Files, found: Incoming | None) -> Items:
        """The items that concern a shard: of publications, those that match something, if known."""
        items = items_in(taken, files, self._concerns)
        if found is None:
            return items
        some = np.append(found.positions, np.array(taken.replacing, np.int64))
        return items.kept((items.kinds == COMMAND) | np.isin(items.positions, some))


SHARDS: Cache[KeptShard] = Cache()
"""Of this process: a worker of Spark's, or the driver itself."""


def run(work: Work) -> Done:
    """Does a shard's part of a batch."""
    files = work.files
    key = f"{work.folder} {work.shard}"
    kept = SHARDS.take(key, f"{work.chain.token} {work.kind}")
    if kept is None:
        concerns = of_shard(work.shard, work.shards)
        kept = KeptShard.restore(work.chain, files, work.limits, concerns, finds=work.finds)
    if work.with_departures:
        kept.follow(work.since)
    shard, before = kept.shard, kept.shard.tallies
    placements = kept.run(work.taken, files, work.until)
    made = (shard.deliveries(placed, work.with_data) for placed in placements if placed.scores.size)
    deliveries = pa.Table.from_batches(made, DELIVERIES)
    delivered = None
    if deliveries.num_rows:
        delivered = files.write("deliveries", to_buffer(deliveries))
    left = table_of(kept.departures(work.with_data), DEPARTED)
    departures = files.write("departures", to_bytes(left)) if left.num_rows else None
    chain = work.chain
    if work.taken is not None:
        chain = kept.save(chain, work.taken, files, work.shards)
    elif delivered or departures:
        # what was due is told once: a shard that has told it is in another state
        chain = replace(chain, token=uuid.uuid4().hex)
    chain = replace(chain, until=work.until)
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


def items_in(taken: Input, files: Files, concerns: Concerns) -> Items:
    """What a batch has, but for commands that concern nobody here."""
    return concerning(Items.of_table(of_bytes(files.read(taken.items.name))), concerns)


def chosen_in(taken: Input, files: Files) -> dict[int, list[str]]:
    """The shortlists that publishers reach, by position of the publication."""
    return {} if taken.chosen is None else chosen_of(of_bytes(files.read(taken.chosen)))


def chosen_of(table: pa.Table) -> dict[int, list[str]]:
    """Group rows of CHOSEN by the position of the publication."""
    chosen: dict[int, list[str]] = {}
    for position, shortlist in rows(table.to_batches()):
        chosen.setdefault(position, []).append(shortlist)
    return chosen
