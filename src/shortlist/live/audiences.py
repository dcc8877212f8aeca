"""Whom publishers with an audience reach: the k best of every shard, then the k best of those."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shortlist.engine.matching import NOMINATIONS, Matching
from shortlist.engine.stages import CHOSEN, Choose
from shortlist.live.cache import Cache
from shortlist.live.files import Files, Stored
from shortlist.live.manifest import Chain
from shortlist.live.matching_part import MatchingPart
from shortlist.live.registry_state import of_shard
from shortlist.live.tables import items_of_bytes, joined, to_bytes
from shortlist.model.items import COMMAND
from shortlist.model.settings import Limits

PARTS: Cache[MatchingPart[Matching]] = Cache()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """Which shortlists of a shard are the best for what has an audience."""

    folder: str
    epoch: int
    shard: int
    shards: int
    registry: Chain
    """Before the batch."""
    following: str
    """The token of the registry after the batch."""
    items: Stored
    limits: Limits


def nominated(inquiry: Inquiry) -> str:
    """A shard's best candidates, as a file."""
    files = Files(inquiry.folder, inquiry.epoch)
    key = f"{inquiry.folder} {inquiry.shard} of {inquiry.shards}"
    part = PARTS.take(key, inquiry.registry.token)
    if part is None:
        concerns = of_shard(inquiry.shard, inquiry.shards)
        part = MatchingPart(inquiry.registry, files, inquiry.limits, concerns, Matching)
    items = items_of_bytes(files.read(inquiry.items.name))
    has_reach = np.asarray(items.batch.column("reach").is_valid())
    some = items.kept(has_reach | (items.kinds == COMMAND))
    named = [part.matching.nominations(block) for block in part.steps(some)]
    PARTS.put(key, inquiry.following, part)
    return files.write("nominations", to_bytes(joined(named, NOMINATIONS)))


def reached(nominations: pa.Table) -> pa.Table:
    """The k best of all shards' candidates, as rows of CHOSEN.

    >>> both = [{"position": 7, "reach": 1, "shortlist": name, "score": score}
    ...         for name, score in (("a", 0.5), ("b", 0.9))]
    >>> reached(pa.Table.from_pylist(both, NOMINATIONS)).to_pylist()
    [{'position': 7, 'shortlist': 'b'}]
    """
    together = nominations.sort_by("position").to_batches()
    return pa.Table.from_batches(Choose()(together), CHOSEN)
