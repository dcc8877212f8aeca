"""Matching as a stage of its own: lanes share the publications and tell shards what they match."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from shortlist.engine.arrow import rows
from shortlist.engine.bulk import BLOCK
from shortlist.intake.lines import reread
from shortlist.live.cache import Cache
from shortlist.live.files import Files
from shortlist.live.found_matches import Outgoing, Piece
from shortlist.live.gate import Passed
from shortlist.live.keys import Key
from shortlist.live.lane import Lane, Visit
from shortlist.live.manifest import Chain
from shortlist.live.matching_part import MatchingPart
from shortlist.live.tables import of_bytes
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
    passed: str
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
    outgoing = Outgoing(work.shards)
    replacing = [*_matched(part, _items(work, files), outgoing)]
    found = Found(
        pieces=outgoing.written(files), replacing=tuple(replacing), other_type=dict(mismatches)
    )
    PARTS.put(key, work.state(work.following), part)
    return found


def _matched(
    part: MatchingPart[Lane], items: Iterator[Passed], outgoing: Outgoing
) -> Iterator[int]:
    """Reports the matches; yields the positions of those that take others back, once each."""
    lane, block = part.matching, list[Visit]()
    for item in items:
        if item.kind == "command":
            lane.match(block, outgoing)
            block = []
            part.follow(item.position, item.shortlist, item.line)
            continue
        publication = reread(item.line, item.position, item.time)
        visit = lane.visit(publication)
        if visit is None:
            continue
        if publication.replaces is not None and lane.is_first(visit):
            yield item.position
        if not publication.dead_on_arrival:
            block.append(visit)
        if len(block) == BLOCK:
            lane.match(block, outgoing)
            block = []
    lane.match(block, outgoing)


def _items(work: MatchWork, files: Files) -> Iterator[Passed]:
    """All commands, and the publications that may be this lane's."""
    passed = of_bytes(files.read(work.passed))
    items = [Passed(*row) for row in rows(passed.to_batches())]
    publications = sum(item.kind == "publication" for item in items)
    first, end = (publications * lane // work.lanes for lane in (work.shard, work.shard + 1))
    seen = 0
    for item in items:
        if item.kind == "command" or work.key is not None or first <= seen < end:
            yield item
        seen += item.kind == "publication"


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
