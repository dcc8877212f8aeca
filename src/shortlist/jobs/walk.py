"""A finite input of this machine through the stages: READ, ADMIT and CHOOSE here, once; NOMINATE
and SELECT by a task for each shard, wherever tasks run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shortlist.engine.admitted import Admitted, Refusal
from shortlist.engine.merging import total_counts
from shortlist.engine.stages import Batches, Choose, Read, ReadTable, Share
from shortlist.intake.finite_input import FiniteInput
from shortlist.jobs.job import Counts, Job
from shortlist.jobs.parts import put_parts
from shortlist.jobs.shares import (
    BatchWork,
    Selected,
    explain,
    mapped,
    nominate,
    select,
    shares_of,
    written,
)
from shortlist.jobs.sinks import reject_lines, write_lines
from shortlist.live.registry_folder import CompiledRegistry, admission_of
from shortlist.model.items import PUBLICATION, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings

if TYPE_CHECKING:
    from shortlist.live.tasks import D, Run

AT_ONCE = 1 << 14
"""Publications between two reports of how far it is."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One registry, cut into shards, and all items of an input."""

    arriving: Batches
    """What READ takes."""
    registry: Registry | CompiledRegistry
    settings: Settings
    commands: bool = False
    tabular: bool = False
    with_data: bool = False
    explains: bool = False
    """Explanations will be asked for, which need all data."""
    run: Run
    shards: int
    folder: str
    """For files, as long as it walks."""

    @cached_property
    def admitted(self) -> Admitted:
        """READ, and what an admission makes of all items at once."""
        admission = admission_of(self.registry, self.settings)
        wanted = admission.wanted.joined(Wanted(data=self.with_data or self.explains))
        items = [Items(batch) for batch in self._read(wanted)(self.arriving)]
        found = admission.admit(_by_position(items or [Items.empty(wanted)]), last=True)
        found.refusals.sort(key=lambda refusal: refusal.order)
        return found

    @property
    def publications(self) -> int:
        """How many are matched."""
        return self.admitted.counts["published"]

    @property
    def passes(self) -> int:
        """How often publications are matched: once by every busy shard."""
        return self.publications * len(self._shares)

    def select(self, progress: str | None = None) -> list[Selected]:
        """What each busy shard delivers; they say in a folder how far they are."""
        how = {"with_data": self.with_data, "progress": progress}
        return self._by_shards(select, self._items, **how)

    def counts(self, selected: Sequence[Selected]) -> dict[str, Any]:
        """Publications and matches, and deliveries by cause."""
        counts = total_counts(each.counts for each in selected)
        return {"publications": self.publications, **counts}

    def explanations(self) -> list[str]:
        """Why each match was delivered or not, as JSON, in order."""
        files = self._by_shards(explain, self._items)
        batches = (batch for file in files for batch in mapped(file))
        notes = (note for batch in batches for note in batch.column("note").to_pylist())
        return sorted(json.loads(note)["explanation"] for note in notes)

    def _by_shards(self, task: Callable[[BatchWork], D], items: str, **how: Any) -> list[D]:
        works = [
            BatchWork(shard=shard, share=share, items=items, folder=self.folder, **how)
            for shard, share in self._shares.items()
        ]
        return [*self.run(task, works)] if works else []

    def _read(self, wanted: Wanted) -> Read | ReadTable:
        vocabulary, limits = self.registry.vocabulary, self.settings.limits
        if self.tabular:
            return ReadTable(vocabulary=vocabulary, limits=limits, wanted=wanted)
        return Read(vocabulary=vocabulary, limits=limits, wanted=wanted, commands=self.commands)

    @cached_property
    def _shares(self) -> dict[int, Share]:
        """Of shards that somebody subscribes in."""
        found = self.admitted
        shares = shares_of(
            self.registry, found, self.shards, self.settings.limits, found.items.told
        )
        return {shard: share for shard, share in enumerate(shares) if not share.is_idle}

    @cached_property
    def _published(self) -> Items:
        """Without what only an admission asks for."""
        items = self.admitted.items
        return items.kept(items.kinds == PUBLICATION).without(["line", "reason", "appended"])

    @cached_property
    def _items(self) -> str:
        """The file of admitted publications, with whom their publishers reach."""
        chosen, published = self._chosen, self._published
        names = pa.nulls(len(published), pa.list_(pa.string()))
        if chosen:
            found = [chosen.get(position) for position in published.positions.tolist()]
            names = pa.array(found, names.type)
        return self._written(published.with_columns(chosen=names))

    @cached_property
    def _chosen(self) -> dict[int, list[str]]:
        """NOMINATE and CHOOSE: whom publishers reach, where an advertisement limits that."""
        chosen: dict[int, list[str]] = {}
        is_limited = np.asarray(self._published.batch.column("reach").is_valid())
        if not is_limited.any():
            return chosen
        limited = self._written(self._published.kept(is_limited))
        files = self._by_shards(nominate, limited)
        nominated = [batch for file in files for batch in mapped(file)]
        if nominated:
            together = pa.Table.from_batches(nominated).sort_by("position")
            for batch in Choose()(together.to_batches()):
                for each in batch.to_pylist():
                    chosen.setdefault(each["position"], []).append(each["shortlist"])
        return chosen

    def _written(self, items: Items) -> str:
        pieces = (
            items.between(first, min(first + AT_ONCE, len(items))).batch
            for first in range(0, len(items), AT_ONCE)
        )
        return written(self.folder, pieces, items.batch.schema)


def _by_position(some: Sequence[Items]) -> Items:
    """READ may give rows of tables in another order."""
    items = Items.joined(some)
    in_order = np.argsort(items.positions, kind="stable")
    return items if (np.diff(in_order) > 0).all() else items.taken(in_order)


def run_job(job: Job, run: Run, shards: int) -> tuple[Counts, int]:
    """Reads, selects and writes; the counts, and how many rejects there are."""
    outputs, steps = job.outputs, job.steps
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        with steps.step("Reading"):
            source = FiniteInput.at(job.source)
            walk = Walk(
                arriving=source.batches(),
                registry=job.registry,
                settings=job.settings,
                commands=job.commands,
                tabular=source.tabular,
                with_data=job.with_data,
                explains=outputs.explanations is not None,
                run=run,
                shards=shards_of(job.registry, shards),
                folder=folder,
            )
            passes = walk.passes
        with steps.counted("Matching and selecting", passes) as progress:
            selected = walk.select(progress)
        with steps.step("Writing"):
            put_parts(run, selected, outputs.deliveries, job.with_data, walk.shards)
            refusals = walk.admitted.refusals
            rejects = (_reject(refusal, source) for refusal in refusals)
            write_lines(reject_lines(rejects, source.places), outputs.rejects)
            if outputs.explanations is not None:
                write_lines(walk.explanations(), outputs.explanations)
    return walk.counts(selected), len(refusals)


def shards_of(registry: Registry | CompiledRegistry, wanted: int) -> int:
    """One that is compiled has its shards."""
    return registry.shards if isinstance(registry, CompiledRegistry) else wanted


def _reject(refusal: Refusal, source: FiniteInput) -> tuple[int, str, str]:
    """Rows that were read in columns become text only where they are shown."""
    position = refusal.position
    assert position is not None
    return position, refusal.line or source.publication_text(position), refusal.reason
