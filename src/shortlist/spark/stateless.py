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

import numpy as np
import pyarrow as pa

from shortlist.engine.arrow import batches
from shortlist.engine.delivering import Published, Receiving, delivery_batch
from shortlist.engine.delivery_ids import shortlist_texts
from shortlist.engine.kernels.sorting import order_by
from shortlist.engine.stages import RESULTS
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.jobs.shares import Progress
from shortlist.jobs.sinks import DeliveryFile
from shortlist.matching.blocks import Block, Ints
from shortlist.matching.census import TypeCensus
from shortlist.matching.index.index import Index
from shortlist.matching.index.segments import FULL
from shortlist.matching.values import Values
from shortlist.model.items import Items
from shortlist.model.policy import Everything
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.scoring.blocks import Arrivals, BulkScores

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
    return not registry.advertisements and all(
        isinstance(shortlist.policy, Everything)
        and members[shortlist.id] <= 1
        and shortlist.combine not in ("mean", "sum")
        and not shortlist.prefers
        for shortlist in registry.every_shortlist
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A stateless registry, compiled: what all tasks share; subscriptions are known by number."""

    folder: str
    values: Values
    scoring: BulkScores | None
    """None where no subscription has a score: it is the possibility then."""
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
        progress: Callable[[int], object] = lambda done: None,
    ) -> Ready:
        """Compiles a registry into an index in a folder that all tasks can read."""
        subscriptions, vocabulary = registry.subscriptions, registry.vocabulary
        index = Index(vocabulary, limits)
        scoring, census = BulkScores(vocabulary, limits), TypeCensus(vocabulary, limits)
        subscribers = {each.id: each.subscriber for each in registry.every_shortlist}
        # a new index numbers subscriptions as they come
        for number, subscription in enumerate(subscriptions):
            index.add(subscription)
            census.add(subscription)
            scoring.add(number, subscription)
            if number % FULL == 0:
                progress(number)
        progress(len(subscriptions))
        index.save(folder)
        shortlists = [subscription.shortlist_id for subscription in subscriptions]
        place = {name: rank for rank, name in enumerate(sorted(shortlists))}
        has_scores = any(
            made.score is not None or made.at_least.score is not None for made in subscriptions
        )
        return cls(
            folder=str(folder),
            values=Values(vocabulary),
            scoring=scoring if has_scores else None,
            subscriptions=pa.array([made.id for made in subscriptions], pa.string()),
            receiving=Receiving(
                shortlists=pa.array(shortlists, pa.string()),
                subscribers=pa.array([subscribers[name] for name in shortlists], pa.string()),
                hashed=shortlist_texts(pa.array(shortlists, pa.string())),
                places=np.empty(0, np.int32),
            ),
            ranks=np.array([place[name] for name in shortlists], np.int32),
            census=census,
        )

    def matches(self, items: Items) -> Arrivals:
        """All matches of publications, in order of publication and shortlist."""
        block = Block.of_items(items, self.values)
        self.census.observe(block)
        matches = _index(self.folder).match_block(block, unconditional=self.scoring is None)
        if self.scoring is None:
            high = matches.possibility
            found = Arrivals(
                matches.publications, matches.subscriptions, high, high, matches.necessity
            )
        else:
            found = self.scoring.scored(block, matches)
        return found.kept(order_by(found.publications, self.ranks[found.subscriptions]))


@lru_cache(maxsize=1)
def _index(folder: str) -> Index:
    """A worker's index: tasks come one after the other, most of them for the same registry."""
    return Index.open(folder, verify=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAll:
    """The task that turns publications in order into rows of RESULTS."""

    ready: Ready
    with_data: bool = False
    progress: str | None = None

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counter[str] = Counter()
        for _, made in self._deliveries(arriving, counts):
            yield made.append_column("note", pa.nulls(made.num_rows, pa.string()))
        nothing = [None] * (len(RESULTS) - 1)
        yield from batches([(*nothing, self._note(counts))], RESULTS)

    def _deliveries(
        self, arriving: Iterable[pa.RecordBatch], counts: Counter[str], at_once: int = 0
    ) -> Iterator[tuple[Items, pa.RecordBatch]]:
        """Publications with their deliveries, in order; so many of these together, if there are."""
        progress, reader = Progress(self.progress), ItemReader(self.ready.values.vocabulary)
        waiting: list[Items] = []
        found: list[Arrivals] = []
        for batch in arriving:
            for items in steps(Items(batch), CommandReader(reader)):
                assert isinstance(items, Items)
                matches, before = self.ready.matches(items), sum(map(len, waiting))
                waiting.append(items)
                found.append(matches._replace(publications=matches.publications + before))
                counts.update(publications=len(items), matched=matches.scores.size)
                progress.add(len(items))
                if sum(each.scores.size for each in found) >= at_once:
                    yield self._made(Items.joined(waiting), Arrivals.joined(found))
                    waiting, found = [], []
        if waiting:
            yield self._made(Items.joined(waiting), Arrivals.joined(found))

    def _made(self, items: Items, found: Arrivals) -> tuple[Items, pa.RecordBatch]:
        ready, size = self.ready, found.scores.size
        return items, delivery_batch(
            Published(
                sources=items.batch.column("source"),
                ids=items.batch.column("id"),
                positions=items.positions,
                data=items.batch.column("data") if self.with_data else None,
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

    def _note(self, counts: Counter[str]) -> str:
        """What was counted: every match is a delivery."""
        other_type = self.ready.census.mismatches
        return json.dumps(
            {"counts": {**counts, "arrival": counts["matched"], "other_type": other_type}}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAll(MatchAll):
    """The task that writes the deliveries of its publications to a file of its own.

    It answers with a row of PARTS; a file that nobody hears of is of an attempt that failed.
    """

    folder: str

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counter[str] = Counter()
        path, first = Path(self.folder, f"{uuid.uuid4()}.parquet"), None
        with DeliveryFile(path, self.with_data) as file:
            for items, made in self._deliveries(arriving, counts, AT_ONCE):
                if first is None:
                    first = int(items.times[0]), int(items.positions[0])
                file.write(pa.Table.from_batches([made]))
        if first is not None:
            yield from batches([(*first, path.name, self._note(counts))], PARTS)
