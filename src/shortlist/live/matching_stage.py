"""Matching as a stage of its own: lanes share the publications and tell shards what they match."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from shortlist.engine.live_registry import LiveRegistry
from shortlist.engine.matching import Finder, Matching
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.cache import Cache
from shortlist.live.files import Files, ShardWork, Stored
from shortlist.live.keys import Key, Lanes, Meeting
from shortlist.live.manifest import Chain, Piece
from shortlist.live.registry_state import Concerns, concerning, replay_registry
from shortlist.live.slots import shard_of
from shortlist.live.tables import of_bytes, to_bytes
from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Ints, Longs
from shortlist.matching.index.names import NameColumn
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Items
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals

M = TypeVar("M", bound=LiveRegistry)
NAMES = pa.dictionary(pa.int32(), pa.string())
MATCHES = pa.schema(
    {
        "position": pa.int64(),
        "subscription": NAMES,
        "score": pa.float64(),
        "possibility": pa.float64(),
        "necessity": pa.float64(),
    }
)
"""Pairs of publications and subscriptions."""


class Outgoing:
    """What a lane finds, told apart by shard."""

    def __init__(self, shards: int) -> None:
        self._batches: list[list[pa.RecordBatch]] = [[] for _ in range(shards)]

    def add(self, positions: Longs, shards: Ints, found: Arrivals, names: NameColumn) -> None:
        """Matches of a block whose publications have these positions, with the pairs' shards."""
        for shard in np.unique(shards).tolist():
            some = found.kept(shards == shard)
            some = some.kept(np.argsort(some.publications.astype(np.uint16), kind="stable"))
            numbers, codes = np.unique(some.subscriptions, return_inverse=True)
            named = names.taken(numbers)
            columns = [
                positions[some.publications],
                pa.DictionaryArray.from_arrays(codes.astype(np.int32), named),
                *some[2:],
            ]
            self._batches[shard].append(pa.record_batch([*columns], schema=MATCHES))

    def write(self, files: Files) -> tuple[Piece | None, ...]:
        """One file for all shards; None for those that nothing was found for."""
        contents = [
            to_bytes(_together([pa.Table.from_batches(batches)])) if batches else b""
            for batches in self._batches
        ]
        if not any(contents):
            return (None,) * len(contents)
        file, start, pieces = files.write("matches", b"".join(contents)), 0, []
        for content in contents:
            pieces.append(Piece(file, start, len(content)) if content else None)
            start += len(content)
        return tuple(pieces)


class Incoming:
    """What the lanes found for a shard, in order of position."""

    def __init__(self, pieces: Iterable[Piece], files: Files) -> None:
        table = _together([MATCHES.empty_table(), *(_read(piece, files) for piece in pieces)])
        positions, subscriptions, *degrees = (column.chunk(0) for column in table.columns)
        order = np.argsort(positions.to_numpy(), kind="stable")
        self.positions: Longs = positions.to_numpy()[order]
        self._names = subscriptions.dictionary.to_pylist()
        self._codes: Ints = subscriptions.indices.to_numpy()[order]
        self._degrees = [column.to_numpy()[order] for column in degrees]

    def of(self, items: Items, matching: Matching) -> Arrivals:
        """The matches of a block of publications."""
        positions, number = items.positions, matching.number
        firsts = np.searchsorted(self.positions, positions)
        counts = np.searchsorted(self.positions, positions, "right") - firsts
        places = np.repeat(np.arange(len(positions), dtype=np.int32), counts)
        which = np.arange(places.size) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
        codes, inverse = np.unique(self._codes[which], return_inverse=True)
        numbers = np.array([number(self._names[code]) for code in codes.tolist()], np.int32)
        return Arrivals(places, numbers[inverse], *(column[which] for column in self._degrees))


def _read(piece: Piece, files: Files) -> pa.Table:
    with files.path(piece.file).open("rb") as file:
        file.seek(piece.start)
        return of_bytes(file.read(piece.size))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows in one batch, so that a subscription's name stands there once."""
    joined: pa.Table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    return joined


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWork(ShardWork):
    """Work for whoever matches with a part of the registry."""

    before: str
    """The token of the registry before the batch."""
    following: str
    """And after it."""
    items: Stored


class MatchingPart(Generic[M]):
    """The subscriptions of some shortlists, and who matches them: kept up to date by the commands
    that are let in.

    Unlike a shard it has no state of its own: the registry as it was committed, and the commands of
    the batch, say all. So it writes no files, and can always be made again.
    """

    def __init__(self, matching: M, concerns: Concerns) -> None:
        self.matching = matching
        self._concerns = concerns
        reader = ItemReader(matching.vocabulary, matching.limits.for_what_was_read())
        self._commands = CommandReader(reader)

    def steps(self, items: Items) -> Iterator[Items]:
        """Blocks of publications; the commands between them that concern this part are carried
        out."""
        for step in steps(concerning(items, self._concerns), self._commands):
            if isinstance(step, Command):
                self.matching.apply(step)
            else:
                yield step


class Lane(LiveRegistry):
    """Matching alone, with the subscriptions that its publications can meet; values of another type
    are counted for all of them.

    Where a publication and a subscription have several lanes in common, the first one reports.
    """

    def __init__(self, vocabulary: Vocabulary, work: "MatchWork") -> None:
        limits = work.limits.for_what_was_read()
        super().__init__(vocabulary, limits)
        vocabulary, key = self.vocabulary, work.key
        self._own: Lanes = 1 << work.shard
        self._meeting = None if key is None else Meeting(key, work.lanes, vocabulary, limits)
        self._shards = work.shards
        self._finder = Finder(vocabulary, limits)
        self._lanes: Ints = np.zeros(8, np.int64)
        """By subscription: those that hold it."""
        self._destinations: Ints = np.zeros(8, np.int32)
        """By subscription: the shard that selects for its shortlist."""

    def match(self, items: Items, outgoing: Outgoing) -> list[int]:
        """Reports the matches of those publications that go to this lane; the positions of those
        among them that take others back, once for all lanes. Without a key, all that come do."""
        lanes = self._lanes_of(items)
        is_here = (lanes & self._own) != 0
        items, lanes = items.kept(is_here), lanes[is_here]
        is_first = (lanes & (self._own - 1)) == 0
        takes_back = np.asarray(items.batch.column("replaces").is_valid())
        replacing: list[int] = items.positions[takes_back & is_first].tolist()
        is_alive = ~items.is_dead
        items, lanes, is_first = items.kept(is_alive), lanes[is_alive], is_first[is_alive]
        if len(items):
            self.census.observe(Block.of_items(items.kept(is_first), self.values))
            found = self._finder.found(Block.of_items(items, self.values))
            common = lanes[found.publications] & self._lanes[found.subscriptions]
            found = found.kept(common & (self._own - 1) == 0)
            shards = self._destinations[found.subscriptions]
            outgoing.add(items.positions, shards, found, self._finder.names)
        return replacing

    def _lanes_of(self, items: Items) -> Longs:
        """All that publications go to."""
        if self._meeting is None:
            return np.full(len(items), self._own)
        block, path = Block.of_items(items, self.values), self._meeting.key.path
        lanes = [
            self._meeting.of_publication(block.value(place, path), position)
            for place, position in enumerate(items.positions.tolist())
        ]
        return np.array(lanes, np.int64)

    def _subscribed(self, subscription: Subscription) -> None:
        lanes = -1 if self._meeting is None else self._meeting.of_subscription(subscription)
        if lanes & self._own:
            number = self._finder.add(subscription)
            self._lanes = with_length(self._lanes, number + 1)
            self._destinations = with_length(self._destinations, number + 1)
            self._lanes[number] = lanes
            self._destinations[number] = shard_of(subscription.shortlist_id, self._shards)

    def _unsubscribed(self, subscription: Subscription) -> None:
        if self._finder.knows(subscription.id):
            self._finder.remove(subscription)


PARTS: Cache[MatchingPart[Lane]] = Cache()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWork(PartWork):
    """What a lane has to do for a batch; its number is that of its shard."""

    registry: Chain
    """Before the batch."""
    lanes: int
    key: Key | None
    """Publications go to the lanes of their values; without a key each has an equal part."""

    def state(self, token: str) -> str:
        """Tells what a lane holds, by the registry's token."""
        return f"{token} {self.lanes} {self.shards} {self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of it."""

    pieces: tuple[Piece | None, ...]
    """The matches, by shard."""
    replacing: tuple[int, ...]
    """The positions of publications that take others back: they matter to shards in which they
    match nothing."""
    other_type: dict[str, int]
    """Values of another type than a predicate's, by attribute."""


def match(work: MatchWork) -> Found:
    """Does a lane's part of a batch."""
    files, key = work.files, f"{work.folder} {work.shard}"
    part = PARTS.take(key, work.state(work.before))
    if part is None:
        part = _part_of_lane(work, files)
    mismatches = part.matching.census.mismatches
    mismatches.clear()
    outgoing, replacing = Outgoing(work.shards), list[int]()
    for block in part.steps(_items(work, files)):
        replacing += part.matching.match(block, outgoing)
    found = Found(
        pieces=outgoing.write(files), replacing=tuple(replacing), other_type=dict(mismatches)
    )
    PARTS.put(key, work.state(work.following), part)
    return found


def _part_of_lane(work: MatchWork, files: Files) -> MatchingPart[Lane]:
    known, commands = replay_registry(work.registry, files, work.limits)
    lane = Lane(known.vocabulary, work)
    for command in (*registry_commands(known), *commands):
        lane.apply(command)
    return MatchingPart(lane, lambda shortlist: True)


def _items(work: MatchWork, files: Files) -> Items:
    """All commands, and the publications that may be this lane's."""
    items = Items.of_table(of_bytes(files.read(work.items.name)))
    is_command = items.kinds == COMMAND
    if work.key is not None:
        return items
    number = np.cumsum(~is_command) - 1
    publications = int((~is_command).sum())
    first, end = (publications * lane // work.lanes for lane in (work.shard, work.shard + 1))
    return items.kept(is_command | ((number >= first) & (number < end)))


@dataclass(frozen=True, slots=True)
class Matched:
    """What all lanes found in a batch."""

    by_shard: Sequence[tuple[Piece, ...]]
    replacing: tuple[int, ...] = ()
    other_type: Mapping[str, int] = field(default_factory=dict)


def gathered(found: Sequence[Found]) -> Matched:
    """The findings of several lanes, by shard."""
    by_shard = zip(*(one.pieces for one in found), strict=True)
    counts = Counter[str]()
    for one in found:
        counts.update(one.other_type)
    return Matched(
        [tuple(piece for piece in pieces if piece is not None) for pieces in by_shard],
        tuple(position for one in found for position in one.replacing),
        counts,
    )
