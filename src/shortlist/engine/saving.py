"""Snapshots of a shard, or of a whole engine."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.bank_tables import Names, bank_tables, held_numbers, load_banks
from shortlist.engine.saved import Saved, compressed
from shortlist.engine.shard import Shard
from shortlist.intake.columns import registry_text
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.intake.written import item_document, publication_document
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Items, Wanted
from shortlist.selection.bank.publications import PUBLICATION

NO_PUBLICATIONS = pa.RecordBatch.from_pylist([], PUBLICATION)
FEW_CHANGES, FEW_OF = 100, 16
"""So many commands, or one for so many subscriptions, stand beside a registry."""
SAVED_IDS = pa.schema({"time": pa.int64(), "source": pa.string(), "publication": pa.string()})


class Saving:
    """Saves a shard; and the admission before it, where the two are one engine."""

    def __init__(self, shard: Shard, admission: Admission | None = None, patience: int = 1) -> None:
        """The more patience, the more commands stand beside a registry before it is packed again:
        so many times a few."""
        self._shard = shard
        self._admission = admission
        self._patience = patience
        self.packed: bytes | None = None
        """The registry of earlier snapshots; without one it is packed again with the next."""
        self._changes: list[dict[str, Any]] = []
        """The shard's changes since, as documents."""

    def saved(self, *, whole: bool = False) -> Saved:
        """Everything that another shard or engine needs to go on, to be written before anything
        else happens. One that is to be cut in parts has a whole registry, without changes beside
        it."""
        shard = self._shard
        publications = shard.selecting.publications
        tables = bank_tables(shard.selecting, self._names)
        serials = held_numbers(tables, "publication")
        registry, changes = self.registry(whole=whole)
        document = {"serials": publications.serials, "counts": shard.work, "changes": changes}
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
                tables["accepted"] = pa.record_batch(columns, schema=SAVED_IDS)
        return Saved(registry, document, tables)

    def load(self, saved: Saved) -> None:
        """Takes a state in, after its registry: whole, or as it is packed with the changes."""
        document, tables = saved.document, saved.tables
        held = tables.get("publications", NO_PUBLICATIONS)
        self._shard.selecting.publications.restore(held, document["serials"])
        load_banks(self._shard.selecting, self._names, tables)
        counts = dict(document["counts"])
        self._shard.matching.census.mismatches.update(counts.pop("other_type"))
        self._shard.counts.update(counts)
        if len(self._shard.changes or ()) == len(document.get("changes", ())):
            self._count_from(saved.packed_registry, self._shard.changes or [])
        if self._admission is not None:
            self._load_admission(self._admission, document, tables)

    def few(self) -> int:
        """So many commands beside a registry are no reason to pack it again."""
        return few_changes(len(self._shard.matching.roster.subscriptions))

    def registry(self, *, whole: bool = False) -> tuple[bytes, list[dict[str, Any]]]:
        """The registry as it was at some time, and the commands since: it is packed again only
        when these are many, or there are to be none."""
        changes = self._shard.changes
        if self.packed is None or changes is None or (whole and changes):
            changes = []
            self._count_from(compressed([registry_text(self._shard.matching.roster)]), changes)
        assert self.packed is not None
        self._changes += map(item_document, changes[len(self._changes) :])
        return self.packed, self._changes

    def fold(self, packed: bytes, count: int) -> None:
        """Takes a registry that was packed elsewhere, with the first commands beside the one that
        there is, in place of that and these."""
        if self._shard.changes is not None:
            del self._changes[:count]
            self.packed = packed
            self._shard.count(self._shard.changes[count:], self._patience * self.few())

    def _count_from(self, packed: bytes, changes: list[Command]) -> None:
        self.packed = packed
        self._changes.clear()
        self._shard.count(changes, self._patience * self.few())

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
        return Names(self._shard.names, self._shard.matching.names)


def few_changes(subscriptions: int) -> int:
    """So many commands may stand beside a registry of so many subscriptions.

    >>> few_changes(100), few_changes(100_000)
    (100, 6250)
    """
    return max(FEW_CHANGES, subscriptions // FEW_OF)


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
