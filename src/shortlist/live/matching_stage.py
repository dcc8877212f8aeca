"""Matching as a stage of its own: lanes share the publications and tell shards what they match."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from shortlist.live.cache import Cache
from shortlist.live.files import Files, Stored
from shortlist.live.found_matches import Outgoing
from shortlist.live.keys import Key
from shortlist.live.lane import Lane
from shortlist.live.manifest import Chain, Piece
from shortlist.live.matching_part import MatchingPart
from shortlist.live.tables import of_bytes
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits

PARTS: Cache[MatchingPart[Lane]] = Cache()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWork:
    """What a lane has to do for a batch."""

    folder: str
    shard: int
    """The lane's number: what has the same one is best done in the same process."""
    lanes: int
    shards: int
    key: Key | None
    """Publications go to the lanes of their values; without a key each has an equal part."""
    registry: Chain
    """Before the batch."""
    following: str
    """The token of the registry after the batch."""
    items: Stored
    limits: Limits

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
    files = Files(work.folder)
    key = f"{work.folder} {work.shard}"
    part = PARTS.take(key, work.state(work.registry.token))
    if part is None:
        make = partial(Lane, lane=work.shard, lanes=work.lanes, shards=work.shards, key=work.key)
        part = MatchingPart(work.registry, files, work.limits, lambda shortlist: True, make)
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
