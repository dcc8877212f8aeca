"""Registries in which every match is a delivery: any task can take any publications.

Nothing is remembered between publications, so they are cut by time instead of copied to shards.
Every task opens the same compiled index, of which a machine holds one copy, and what it finds is in
order: one part of the output after the other.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.arrow import batches
from shortlist.engine.delivering import Published, Receiving, delivery_batch
from shortlist.engine.delivery_ids import shortlist_texts
from shortlist.engine.kernels.sorting import order_by
from shortlist.engine.stages import RESULTS
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.matching.blocks import Block, Ints
from shortlist.matching.census import TypeCensus
from shortlist.matching.index.compile import compiled_index
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from shortlist.model.items import Items
from shortlist.model.policy import Everything
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals, scored_pairs
from shortlist.scoring.bulk import BulkScores
from shortlist.spark.sinks import DeliveryFile
from shortlist.spark.tasks import Progress

PARTS = pa.schema(
    {"time": pa.int64(), "position": pa.int64(), "file": pa.string(), "note": pa.string()}
)
"""Files of deliveries that tasks wrote, each with the place of its first publication."""
AT_ONCE = 2**20
"""Deliveries that are written together: names that they repeat are then written once."""


def is_stateless(registry: Registry) -> bool:
    """Whether every match is a delivery, whatever came before.

    >>> from shortlist.intake.files import registry_from_documents
    >>> news = {"id": "news"}
    >>> best = {"id": "best", "policy": {"kind": "top-k", "k": 3}}
    >>> is_stateless(registry_from_documents({"subscriptions": [news]}))
    True
    >>> is_stateless(registry_from_documents({"subscriptions": [news, best]}))
    False
    """
    members = Counter(subscription.shortlist_id for subscription in registry.subscriptions)
    own = (subscription.own_shortlist() for subscription in registry.subscriptions)
    shortlists = [*registry.shortlists, *(shortlist for shortlist in own if shortlist is not None)]
    return not registry.advertisements and all(
        isinstance(shortlist.policy, Everything)
        and members[shortlist.id] <= 1
        and shortlist.combine not in ("mean", "sum")
        and not shortlist.prefers
        for shortlist in shortlists
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A stateless registry, compiled: what all tasks share; subscriptions are known by number."""

    folder: str
    vocabulary: Vocabulary
    limits: Limits
    scores: BulkScores | None
    """None where no subscription has a score: it is the possibility then."""
    unconditional: Ints
    subscriptions: pa.StringArray
    receiving: Receiving
    ranks: Ints
    """The place of each one's shortlist in the order of ids."""
    census: TypeCensus

    @classmethod
    def of(
        cls,
        registry: Registry,
        limits: Limits,
        folder: str | Path,
        processes: int | None = 1,
        progress: Callable[[int], object] = lambda done: None,
    ) -> Ready:
        """Compiles a registry into an index in a folder that all tasks can read.

        Without a number, so many processes compile as there are cores.
        """
        subscriptions, vocabulary = registry.subscriptions, registry.vocabulary
        compiled_index(subscriptions, vocabulary, limits, processes, progress).save(folder)
        scores, census = BulkScores(vocabulary, limits), TypeCensus(vocabulary, limits)
        subscribers = {shortlist.id: shortlist.subscriber for shortlist in registry.shortlists}
        # a new index numbers subscriptions as they come
        for number, subscription in enumerate(subscriptions):
            census.add(subscription)
            scores.add(number, subscription)
            own = subscription.own_shortlist()
            if own is not None:
                subscribers[own.id] = own.subscriber
        shortlists = [subscription.shortlist_id for subscription in subscriptions]
        place = {name: rank for rank, name in enumerate(sorted(shortlists))}
        return cls(
            folder=str(folder),
            vocabulary=vocabulary,
            limits=limits,
            scores=scores if any(map(_has_score, subscriptions)) else None,
            unconditional=np.array(
                [n for n, one in enumerate(subscriptions) if one.where is None], np.int32
            ),
            subscriptions=pa.array([made.id for made in subscriptions], pa.string()),
            receiving=Receiving(
                shortlists=pa.array(shortlists, pa.string()),
                subscribers=pa.array([subscribers[name] for name in shortlists], pa.string()),
                hashed=shortlist_texts(shortlists),
                places=np.empty(0, np.int32),
            ),
            ranks=np.array([place[name] for name in shortlists], np.int32),
            census=census,
        )


def _has_score(subscription: Subscription) -> bool:
    return subscription.score is not None or subscription.at_least.score is not None


@lru_cache(maxsize=1)
def _index(folder: str) -> Index:
    """A worker's index: tasks come one after the other, most of them for the same registry."""
    return Index.open(folder, verify=False)


class _Run:
    """One task's publications, in order of time."""

    def __init__(self, ready: Ready, progress: str | None) -> None:
        self._ready = ready
        self._progress = Progress(progress)
        self._index = _index(ready.folder)
        self._values = Values(ready.vocabulary)
        self._reader = ItemReader(ready.vocabulary)
        self._published = self._matched = 0

    def blocks(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[tuple[Items, Arrivals]]:
        """Publications and their matches, in order of publication and shortlist."""
        for batch in arriving:
            for block in steps(Items(batch), CommandReader(self._reader)):
                assert isinstance(block, Items)
                yield block, self._arrivals(block)
                self._published += len(block)
                self._progress.add(len(block))

    def note(self) -> str:
        """What was counted."""
        counts: dict[str, Any] = {
            "publications": self._published,
            "matched": self._matched,
            "arrival": self._matched,
            "other_type": self._ready.census.mismatches,
        }
        return json.dumps({"counts": counts})

    def _arrivals(self, items: Items) -> Arrivals:
        ready = self._ready
        block = Block.of_items(items, self._values)
        ready.census.observe(block)
        matches = self._index.match_block(block, unconditional=ready.scores is None)
        if ready.scores is None:
            high = matches.possibility
            found = Arrivals(
                matches.publications, matches.subscriptions, high, high, matches.necessity
            )
        else:
            found = scored_pairs(ready.scores, block, matches, ready.unconditional)
        self._matched += found.scores.size
        return found.kept(order_by(found.publications, ready.ranks[found.subscriptions]))

    def deliveries(self, items: Items, found: Arrivals, with_data: bool) -> pa.RecordBatch:
        """Matches as rows of DELIVERIES."""
        ready, size = self._ready, found.scores.size
        return delivery_batch(
            Published(
                sources=items.values("source"),
                ids=items.values("id"),
                positions=items.positions,
                data=items.values("data") if with_data else None,
                places=found.publications,
            ),
            ready.receiving._replace(places=found.subscriptions),
            times=items.times[found.publications],
            subscriptions=ready.subscriptions.take(pa.array(found.subscriptions)),
            scores=found.scores,
            possibilities=found.possibilities,
            necessities=found.necessities,
            ranks=pa.nulls(size, pa.int32()),
            promoted=np.zeros(size, np.bool_),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAll:
    """The task that turns publications in order into rows of RESULTS."""

    ready: Ready
    with_data: bool = False
    progress: str | None = None

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run = _Run(self.ready, self.progress)
        for items, found in run.blocks(arriving):
            made = run.deliveries(items, found, self.with_data)
            yield made.append_column("note", pa.nulls(made.num_rows, pa.string()))
        nothing = [None] * (len(RESULTS) - 1)
        yield from batches([(*nothing, run.note())], RESULTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAll:
    """The task that writes the deliveries of its publications to a file of its own.

    It answers with a row of PARTS; a file that nobody hears of is of an attempt that failed.
    """

    ready: Ready
    folder: str
    with_data: bool = False
    progress: str | None = None

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run, first = _Run(self.ready, self.progress), None
        path = Path(self.folder, f"{uuid.uuid4()}.parquet")
        with DeliveryFile(path, self.with_data) as file:
            for items, found in _together(run.blocks(arriving)):
                if first is None:
                    first = int(items.times[0]), int(items.positions[0])
                made = run.deliveries(items, found, self.with_data)
                file.write(dict(zip(made.schema.names, made.columns, strict=True)))
        if first is not None:
            yield from batches([(*first, path.name, run.note())], PARTS)


def _together(blocks: Iterable[tuple[Items, Arrivals]]) -> Iterator[tuple[Items, Arrivals]]:
    """Blocks joined until there are enough deliveries to be written at once."""
    items: list[Items] = []
    parts: list[Arrivals] = []
    for more, found in blocks:
        before = sum(map(len, items))
        parts.append(found._replace(publications=found.publications + np.int32(before)))
        items.append(more)
        if sum(part.scores.size for part in parts) >= AT_ONCE:
            yield Items.joined(items), Arrivals.joined(parts)
            items, parts = [], []
    if items:
        yield Items.joined(items), Arrivals.joined(parts)
