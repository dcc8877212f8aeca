"""Snapshots of a shard, or of a whole engine, and the changes between them.

A snapshot holds everything; changes hold what has happened since the snapshot or the changes
before: the commands, the publications accepted, and the shortlists that hold something else now.
Each says which one it follows, so that none can be left out.
"""

import json
from collections import deque
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.bank_tables import Names, Tables, bank_tables, held_serials, load_banks
from shortlist.engine.saved import Saved, UnusableState
from shortlist.engine.shard import Shard
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.intake.written import Known, item_document, publication_document, registry_document
from shortlist.matching.blocks import Longs
from shortlist.model.items import COMMAND, Items, Wanted
from shortlist.selection.bank.publications import PUBLICATION

NO_PUBLICATIONS = pa.RecordBatch.from_pylist([], PUBLICATION)
ACCEPTED = pa.schema({"time": pa.int64(), "source": pa.string(), "publication": pa.string()})


class Saving:
    """Keeps in mind what has happened to a shard since the last save, once there was one; and to
    the admission before it, where the two are one engine."""

    def __init__(self, shard: Shard, admission: Admission | None = None) -> None:
        self._shard = shard
        self._admission = admission
        self._number = 0
        self._known: Known = {}
        """The subscriptions of the last snapshot, as it has them."""

    def snapshot(self) -> bytes:
        """Everything that another shard or engine needs to go on."""
        matching = self._shard.matching
        live = matching.roster.registry(matching.values.vocabulary)
        registry = registry_document(live, self._known)
        tables = bank_tables(self._shard.selecting, self._names, only_changes=False)
        serials = held_serials(tables)
        accepted = self._admission.duplicates.remembered() if self._admission else []
        return self._saved({"registry": registry}, tables, serials, accepted)

    def changes(self) -> bytes:
        """What another one needs that knows the snapshot and the changes before."""
        if self._shard.carried_out is None:
            raise ValueError("expected a snapshot before the first changes")
        commands = [
            [command.position, item_document(command)] for command in self._shard.carried_out
        ]
        publications = self._shard.selecting.publications
        tables = bank_tables(self._shard.selecting, self._names, only_changes=True)
        serials = held_serials(tables)
        is_new = ~publications.facts["is_saved"][publications.numbers(serials)]
        document = {"follows": self._number, "commands": commands}
        news = self._admission.duplicates.news if self._admission else None
        return self._saved(document, tables, serials[is_new], [*(news or ())])

    def load(self, saved: Saved) -> None:
        """Takes a state in, or the changes that follow."""
        document, tables = saved.document, saved.tables
        if document.get("follows", self._number) != self._number:
            raise UnusableState(
                f"expected the changes that follow {self._number}, "
                f"found those that follow {document['follows']}"
            )
        vocabulary = self._shard.matching.values.vocabulary
        read = ItemReader(vocabulary, self._shard.matching.limits)
        commands = [
            read.document(command, position) for position, command in document.get("commands", ())
        ]
        made, known = items_of(commands, Wanted())
        deque(self._shard.run(made, known), maxlen=0)  # what they led to was delivered then
        held = tables.get("publications", NO_PUBLICATIONS)
        self._shard.selecting.publications.restore(held, document["serials"])
        load_banks(self._shard.selecting, self._names, tables)
        counts = dict(document["counts"])
        self._shard.matching.census.mismatches.clear()
        self._shard.matching.census.mismatches.update(counts.pop("other_type"))
        self._shard.counts.clear()
        self._shard.counts.update(counts)
        if self._admission is not None:
            for command in known.values():
                self._admission.follow(command)
            self._load_admission(self._admission, document, tables, read)
        self._begin(document["number"])

    def _saved(
        self,
        document: dict[str, Any],
        tables: Tables,
        serials: Longs,
        accepted: Sequence[tuple[int, str, str]],
    ) -> bytes:
        publications = self._shard.selecting.publications
        document |= {
            "number": self._number + 1,
            "serials": publications.serials,
            "counts": self._shard.work,
        }
        if self._admission is not None:
            ordering = self._admission.ordering
            document |= {"latest": ordering.latest, "waiting": _waiting(ordering.waiting)}
        if serials.size:
            tables["publications"] = publications.saved(serials)
        if accepted:
            columns = [[*column] for column in zip(*accepted, strict=True)]
            tables["accepted"] = pa.record_batch(columns, schema=ACCEPTED)
        saved = Saved(document, tables).to_bytes()
        self._begin(self._number + 1)
        return saved

    def _load_admission(
        self, admission: Admission, document: dict[str, Any], tables: Any, read: ItemReader
    ) -> None:
        for row in tables["accepted"].to_pylist() if "accepted" in tables else ():
            admission.duplicates.accept(row["source"], row["publication"], row["time"])
        waiting = [read.document(held, position) for position, held in document["waiting"]]
        items, _ = items_of(waiting, admission.wanted.joined(Wanted(data=True)))
        admission.ordering.restore(document["latest"], items)

    def _begin(self, number: int) -> None:
        self._number, self._shard.carried_out = number, []
        if self._admission is not None:
            self._admission.duplicates.news = deque()

    @property
    def _names(self) -> Names:
        shard = self._shard
        return Names(
            shard.names.taken,
            shard.matching.names.taken,
            shard.matching.shortlists.number,
            shard.matching.number,
        )


def _waiting(items: Items | None) -> list[tuple[int, dict[str, Any]]]:
    """Items as documents, by position."""
    if items is None:
        return []
    lines = items.values("line")
    found = []
    for at, position in enumerate(items.positions.tolist()):
        if items.kinds[at] == COMMAND:
            found.append((position, json.loads(lines[at] or "")))
        else:
            found.append((position, publication_document(items.publication(at))))
    return sorted(found, key=lambda one: one[0])
