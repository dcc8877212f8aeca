"""Snapshots of a shard, or of a whole engine."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.bank_tables import Names, bank_tables, held_serials, load_banks
from shortlist.engine.saved import Saved, packed
from shortlist.engine.shard import Shard
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.intake.written import Known, publication_document, registry_document
from shortlist.model.items import COMMAND, Items, Wanted
from shortlist.selection.bank.publications import PUBLICATION

NO_PUBLICATIONS = pa.RecordBatch.from_pylist([], PUBLICATION)
ACCEPTED = pa.schema({"time": pa.int64(), "source": pa.string(), "publication": pa.string()})


class Saving:
    """Saves a shard; and the admission before it, where the two are one engine."""

    def __init__(self, shard: Shard, admission: Admission | None = None) -> None:
        self._shard = shard
        self._admission = admission
        self._known: Known = {}
        """The subscriptions of the last snapshot, as it has them."""
        self._packed: tuple[int, bytes] | None = None
        """The registry of the last snapshot, and how many commands had changed it."""

    def snapshot(self) -> bytes:
        """Everything that another shard or engine needs to go on."""
        shard = self._shard
        publications = shard.selecting.publications
        tables = bank_tables(shard.selecting, self._names)
        serials = held_serials(tables)
        document = {"serials": publications.serials, "counts": shard.work}
        if serials.size:
            tables["publications"] = publications.saved(serials)
        if self._admission is not None:
            ordering = self._admission.ordering
            document |= {
                "latest": ordering.latest,
                "arrived": self._admission.arrivals.latest,
                "waiting": _waiting(ordering.waiting),
            }
            accepted = self._admission.duplicates.remembered()
            if accepted:
                columns = [[*column] for column in zip(*accepted, strict=True)]
                tables["accepted"] = pa.record_batch(columns, schema=ACCEPTED)
        return Saved(self._packed_registry(), document, tables).to_bytes()

    def load(self, saved: Saved) -> None:
        """Takes a state in, after its registry."""
        document, tables = saved.document, saved.tables
        held = tables.get("publications", NO_PUBLICATIONS)
        self._shard.selecting.publications.restore(held, document["serials"])
        load_banks(self._shard.selecting, self._names, tables)
        counts = dict(document["counts"])
        self._shard.matching.census.mismatches.update(counts.pop("other_type"))
        self._shard.counts.update(counts)
        self._packed = self._shard.changes, saved.packed_registry
        if self._admission is not None:
            self._load_admission(self._admission, document, tables)

    def _packed_registry(self) -> bytes:
        """As long as no command changes the registry, it is packed once."""
        if self._packed is None or self._packed[0] != self._shard.changes:
            live = self._shard.matching.roster.registry()
            content = packed(registry_document(live, self._known))
            self._packed = self._shard.changes, content
        return self._packed[1]

    def _load_admission(
        self, admission: Admission, document: dict[str, Any], tables: Mapping[str, pa.RecordBatch]
    ) -> None:
        read = ItemReader(self._shard.matching.values.vocabulary, self._shard.matching.limits)
        for row in tables["accepted"].to_pylist() if "accepted" in tables else ():
            admission.duplicates.accept(row["source"], row["publication"], row["time"])
        waiting = [
            read.document(held, position, *time) for position, held, *time in document["waiting"]
        ]
        items, _ = items_of(waiting, admission.wanted.joined(Wanted(data=True)))
        admission.ordering.restore(document["latest"], items)
        admission.arrivals.latest = document.get("arrived")

    @property
    def _names(self) -> Names:
        shard = self._shard
        return Names(
            shard.names.taken,
            shard.matching.names.taken,
            shard.matching.shortlists.number,
            shard.matching.number,
        )


def _waiting(items: Items | None) -> list[tuple[int, dict[str, Any], int]]:
    """Items as documents, by position, and their times."""
    if items is None:
        return []
    lines = items.values("line")
    found = []
    for at, (position, time) in enumerate(
        zip(items.positions.tolist(), items.times.tolist(), strict=True)
    ):
        if items.kinds[at] == COMMAND:
            document = json.loads(lines[at] or "")
        else:
            document = publication_document(items.publication(at))
        found.append((position, document, time))
    return sorted(found, key=lambda one: one[0])
