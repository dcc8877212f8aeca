"""Whom publishers with an audience reach: the k best of every shard, then the k best of those."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from shortlist.engine.admitted import readmitted
from shortlist.engine.arrow import Row, rows
from shortlist.engine.bulk import BLOCK
from shortlist.engine.bulk_matching import BulkMatching
from shortlist.live.cache import Cache
from shortlist.live.files import Files
from shortlist.live.gate import Passed
from shortlist.live.manifest import Chain
from shortlist.live.matching_part import MatchingPart
from shortlist.live.registry_state import of_shard
from shortlist.live.tables import CHOSEN, NOMINATIONS, of_bytes, table_of, to_bytes
from shortlist.matching.index.index import Index
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Nomination, chosen

PARTS: Cache[MatchingPart[BulkMatching]] = Cache()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """Which shortlists of a shard are the best for what has an audience."""

    folder: str
    shard: int
    shards: int
    registry: Chain
    """Before the batch."""
    following: str
    """The token of the registry after the batch."""
    passed: str
    limits: Limits


def nominated(inquiry: Inquiry) -> str:
    """A shard's best candidates, as a file."""
    files = Files(inquiry.folder)
    key = f"{inquiry.folder} {inquiry.shard} of {inquiry.shards}"
    part = PARTS.take(key, inquiry.registry.token)
    if part is None:
        concerns = of_shard(inquiry.shard, inquiry.shards)
        part = MatchingPart(inquiry.registry, files, inquiry.limits, concerns, _matching)
    items = (Passed(*row) for row in rows(of_bytes(files.read(inquiry.passed)).to_batches()))
    found = table_of(_nominations(part, items), NOMINATIONS)
    PARTS.put(key, inquiry.following, part)
    return files.write("nominations", to_bytes(found))


def _matching(vocabulary: Vocabulary, limits: Limits) -> BulkMatching:
    return BulkMatching(vocabulary, limits, Index(vocabulary, limits))


def _nominations(part: MatchingPart[BulkMatching], items: Iterable[Passed]) -> Iterator[Row]:
    block: list[Passed] = []
    for item in items:
        if item.kind == "command":
            yield from _of_block(part, block)
            block = []
            part.follow(item.position, item.shortlist, item.line)
        elif item.advertisement is not None:
            block.append(item)
            if len(block) == BLOCK:
                yield from _of_block(part, block)
                block = []
    yield from _of_block(part, block)


def _of_block(part: MatchingPart[BulkMatching], block: list[Passed]) -> Iterator[Row]:
    if not block:
        return
    admitted = [
        readmitted(
            part.matching,
            item.line,
            item.position,
            item.time,
            item.audience,
            item.advertisement,
            None,
        )
        for item in block
    ]
    for item, nominations in zip(block, part.matching.nominations(admitted), strict=True):
        for nomination in nominations:
            yield item.position, item.audience, *nomination


def reached(nominations: pa.Table) -> pa.Table:
    """The k best of all shards' candidates, as rows of CHOSEN.

    >>> reached(table_of([(7, 1, "a", 0.5), (7, 1, "b", 0.9)], NOMINATIONS)).to_pylist()
    [{'position': 7, 'shortlist': 'b'}]
    """
    return table_of(_reached(nominations), CHOSEN)


def _reached(nominations: pa.Table) -> Iterator[Row]:
    by_position = rows(nominations.sort_by("position").to_batches())
    for (position, audience), group in groupby(by_position, key=lambda row: row[:2]):
        for nomination in chosen([Nomination(*row[2:]) for row in group], audience):
            yield position, nomination.shortlist
