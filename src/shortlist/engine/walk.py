"""A finite input through the stages, one after the other, in this process."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.admission import Admission, Admitted
from shortlist.engine.deliveries import DELIVERIES, put_in_order
from shortlist.engine.stages import Batches, Choose, Nominate, Read, ReadTable, Select, Share
from shortlist.model.items import PUBLICATION, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings

AT_ONCE = 1 << 14
"""Publications between two reports of how far it is."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One registry and all items of an input; the whole registry is one share."""

    arriving: Batches
    """What READ takes."""
    registry: Registry
    settings: Settings
    commands: bool = False
    tabular: bool = False
    with_data: bool = False
    explains: bool = False
    """Explanations will be asked for, which need all data."""

    @cached_property
    def admitted(self) -> Admitted:
        """READ, and what an admission makes of all items at once."""
        admission = Admission(self.registry, self.settings)
        wanted = admission.wanted.joined(Wanted(data=self.with_data or self.explains))
        items = [Items(batch) for batch in self._read(wanted)(self.arriving)]
        found = admission.admit(_by_position(items or [Items.empty(wanted)]), last=True)
        found.refusals.sort(key=lambda refusal: refusal.order)
        return found

    @property
    def publications(self) -> int:
        """How many are matched."""
        return self.admitted.counts["published"]

    def select(
        self, told: Callable[[int], object] | None = None
    ) -> tuple[pa.Table, dict[str, Any]]:
        """Deliveries in order, and counts."""
        deliveries = [DELIVERIES.empty_table()]
        counts: dict[str, Any] = {"other_type": {}}
        for batch in self._selected(Select(share=self._share, with_data=self.with_data, told=told)):
            (note,) = batch.column("note")[-1:].to_pylist()
            if note is None:
                deliveries.append(pa.Table.from_batches([batch]).drop_columns(["note"]))
            else:
                counts = json.loads(note)["counts"]
        found = pa.concat_tables(deliveries, promote_options="permissive").unify_dictionaries()
        return put_in_order(found), {"publications": self.publications, **counts}

    def explanations(self) -> list[str]:
        """Why each match was delivered or not, as JSON, in order."""
        found = self._selected(Select(share=self._share, explain=True))
        notes = (note for batch in found for note in batch.column("note").to_pylist())
        return sorted(json.loads(note)["explanation"] for note in notes)

    def _read(self, wanted: Wanted) -> Read | ReadTable:
        vocabulary, limits = self.registry.vocabulary, self.settings.limits
        if self.tabular:
            return ReadTable(vocabulary=vocabulary, limits=limits, wanted=wanted)
        return Read(vocabulary=vocabulary, limits=limits, wanted=wanted, commands=self.commands)

    @cached_property
    def _published(self) -> Items:
        items = self.admitted.items
        return items.kept(items.kinds == PUBLICATION)

    @cached_property
    def _share(self) -> Share:
        return Share(
            registry=self.registry,
            commands=[*self.admitted.commands.values()],
            limits=self.settings.limits,
            wanted=self.admitted.items.told,
        )

    def _selected(self, select: Select) -> Iterator[pa.RecordBatch]:
        if not self._share.is_idle:
            yield from select(self._with_chosen())

    def _with_chosen(self) -> Iterator[pa.RecordBatch]:
        chosen = self._chosen
        for batch in _pieces(self._published):
            names = [chosen.get(position) for position in batch.column("position").to_pylist()]
            yield batch.append_column("chosen", pa.array(names, pa.list_(pa.string())))

    @cached_property
    def _chosen(self) -> dict[int, list[str]]:
        """NOMINATE and CHOOSE: whom publishers reach, where an advertisement limits that."""
        chosen: dict[int, list[str]] = {}
        if self._share.advertises:
            is_limited = np.asarray(self._published.batch.column("reach").is_valid())
            nominate = Nominate(share=self._share)
            nominated = [*nominate(_pieces(self._published.kept(is_limited)))]
            if nominated:
                together = pa.Table.from_batches(nominated).sort_by("position")
                for batch in Choose()(together.to_batches()):
                    for each in batch.to_pylist():
                        chosen.setdefault(each["position"], []).append(each["shortlist"])
        return chosen


def _by_position(some: Sequence[Items]) -> Items:
    """READ may give rows of tables in another order."""
    items = Items.joined(some)
    in_order = np.argsort(items.positions, kind="stable")
    return items if (np.diff(in_order) > 0).all() else items.taken(in_order)


def _pieces(items: Items) -> Iterable[pa.RecordBatch]:
    return (
        items.between(first, min(first + AT_ONCE, len(items))).batch
        for first in range(0, len(items), AT_ONCE)
    )
