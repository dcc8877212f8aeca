"""Whom publishers with an audience reach: the k best of every shard, then the k best of those."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shortlist.engine.matching import NOMINATIONS, Matching
from shortlist.engine.stages import CHOSEN, Choose
from shortlist.live.cache import Cache
from shortlist.live.compiled import opened_shard
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.matching_stage import MatchingPart, PartWork
from shortlist.live.registry_state import Concerns, of_shard
from shortlist.live.states import read_state
from shortlist.live.tables import joined, of_bytes, to_bytes
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits

PARTS: Cache[MatchingPart[Matching]] = Cache()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry(PartWork):
    """Which shortlists of a shard are the best for what has an audience."""

    chain: Chain
    """Of the shard, before the batch."""


def nominated(inquiry: Inquiry) -> str:
    """A shard's best candidates, as a file."""
    files = inquiry.files
    key = f"{inquiry.folder} {inquiry.shard} of {inquiry.shards}"
    part = PARTS.take(key, inquiry.before)
    if part is None:
        concerns = of_shard(inquiry.shard, inquiry.shards)
        part = part_of_shard(inquiry.chain, files, inquiry.limits, concerns)
    items = Items.of_table(of_bytes(files.read(inquiry.items.name)))
    has_reach = np.asarray(items.batch.column("reach").is_valid())
    some = items.kept(has_reach | (items.kinds == COMMAND))
    named = [part.matching.nominations(block) for block in part.steps(some)]
    PARTS.put(key, inquiry.following, part)
    return files.write("nominations", to_bytes(joined(named, NOMINATIONS)))


def part_of_shard(
    chain: Chain,
    files: Files,
    limits: Limits,
    concerns: Concerns,
    check: Callable[[], object] = lambda: None,
) -> MatchingPart[Matching]:
    """Open the registry that a shard has: as its snapshot says, and the commands since.

    `check` is called between the steps of this, and may raise to give it up.
    """
    saved = read_state(chain, files.read)
    check()
    matching = opened_shard(saved, files, limits).matching
    for command in saved.changes(matching.vocabulary):
        check()
        matching.apply(command)
    part = MatchingPart(matching, concerns)
    for taken in chain.inputs:
        check()
        items = Items.of_table(of_bytes(files.read(taken.items.name)))
        deque(part.steps(items.kept(items.kinds == COMMAND)), maxlen=0)
    return part


def reached(nominations: pa.Table) -> pa.Table:
    """The k best of all shards' candidates, as rows of CHOSEN.

    >>> both = [{"position": 7, "reach": 1, "shortlist": name, "score": score}
    ...         for name, score in (("a", 0.5), ("b", 0.9))]
    >>> reached(pa.Table.from_pylist(both, NOMINATIONS)).to_pylist()
    [{'position': 7, 'shortlist': 'b'}]
    """
    together = nominations.sort_by("position").to_batches()
    return pa.Table.from_batches(Choose()(together), CHOSEN)
