"""Snapshots of an engine in bulk, and the changes between them.

A snapshot holds everything; changes hold what has happened since the snapshot or the changes
before: the commands, the publications accepted, and the shortlists that hold something else now.
Each says which one it follows, so that none can be left out.
"""

import json
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.bank_tables import Names, Tables, bank_tables, held_serials, load_banks
from shortlist.engine.bulk import BulkHalves
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.items import item_document, registry_document
from shortlist.engine.ordering import Ordering
from shortlist.engine.saved import Saved, UnusableState
from shortlist.intake.lines import ItemReader
from shortlist.matching.blocks import Longs
from shortlist.model.command import Command, Heartbeat, Item, Retract
from shortlist.model.publication import Publication

PUBLICATION = pa.schema(
    {
        "serial": pa.int64(),
        "id": pa.string(),
        "source": pa.string(),
        "time": pa.int64(),
        "position": pa.int64(),
        "type": pa.string(),
        "expiry": pa.int64(),
        "audience": pa.int64(),
        "data": pa.string(),
    }
)
ACCEPTED = pa.schema({"time": pa.int64(), "source": pa.string(), "publication": pa.string()})


class Saving:
    """Keeps in mind what has happened since the last save, once there was one."""

    def __init__(
        self, halves: BulkHalves, duplicates: Duplicates, ordering: Ordering[Item]
    ) -> None:
        self._halves = halves
        self._duplicates = duplicates
        self._ordering = ordering
        self._commands: list[Command] | None = None
        self._number = 0

    def carried_out(self, command: Command) -> None:
        """Commands that change no registry are known by what they led to."""
        if self._commands is not None and not isinstance(command, Retract | Heartbeat):
            self._commands.append(command)

    def snapshot(self) -> bytes:
        """Everything that another engine needs to go on."""
        matching = self._halves.matching
        registry = registry_document(matching.roster.registry(matching.values.vocabulary))
        tables = bank_tables(self._halves.selecting, self._names, only_changes=False)
        serials = held_serials(tables)
        accepted = self._duplicates.remembered()
        return self._saved({"registry": registry}, tables, serials, accepted)

    def changes(self) -> bytes:
        """What another engine needs that knows the snapshot and the changes before."""
        if self._commands is None or self._duplicates.news is None:
            raise ValueError("expected a snapshot before the first changes")
        commands = [[command.position, item_document(command)] for command in self._commands]
        publications = self._halves.selecting.publications
        tables = bank_tables(self._halves.selecting, self._names, only_changes=True)
        serials = held_serials(tables)
        is_new = ~publications.facts["is_saved"][publications.numbers(serials)]
        document = {"follows": self._number, "commands": commands}
        return self._saved(document, tables, serials[is_new], [*self._duplicates.news])

    def load(self, saved: Saved) -> None:
        """Takes a state in, or the changes that follow."""
        document, tables = saved.document, saved.tables
        if document.get("follows", self._number) != self._number:
            raise UnusableState(
                f"expected the changes that follow {self._number}, "
                f"found those that follow {document['follows']}"
            )
        vocabulary = self._halves.matching.values.vocabulary
        read = ItemReader(vocabulary, self._halves.matching.limits)
        for position, command in document.get("commands", ()):
            item = read.document(command, position)
            assert not isinstance(item, Publication)
            self._halves.apply(item)
        rows = tables["publications"].to_pylist() if "publications" in tables else []
        self._load_publications(rows, document["serials"])
        load_banks(self._halves.selecting, self._names, tables)
        for row in tables["accepted"].to_pylist() if "accepted" in tables else ():
            self._duplicates.accept(row["source"], row["publication"], row["time"])
        counts = document["counts"]
        self._halves.matching.census.mismatches.clear()
        self._halves.matching.census.mismatches.update(counts.pop("other_type"))
        self._halves.counts.clear()
        self._halves.counts.update(counts)
        waiting = [read.document(held, position) for position, held in document["waiting"]]
        self._ordering.restore(document["latest"], waiting)
        self._begin(document["number"])

    def _saved(
        self,
        document: dict[str, Any],
        tables: Tables,
        serials: Longs,
        accepted: Sequence[tuple[int, str, str]],
    ) -> bytes:
        publications = self._halves.selecting.publications
        waiting = [[item.position, item_document(item)] for item in self._ordering.waiting()]
        document |= {
            "number": self._number + 1,
            "serials": publications.serials,
            "counts": self._halves.work,
            "latest": self._ordering.latest,
            "waiting": waiting,
        }
        if serials.size:
            tables["publications"] = self._publication_table(serials)
        if accepted:
            tables["accepted"] = _rows_table(accepted, ACCEPTED)
        saved = Saved(document, tables).to_bytes()
        self._begin(self._number + 1)
        return saved

    def _begin(self, number: int) -> None:
        self._number, self._commands, self._duplicates.news = number, [], deque()

    def _publication_table(self, serials: Longs) -> pa.RecordBatch:
        publications = self._halves.selecting.publications
        numbers = publications.numbers(serials)
        publications.facts["is_saved"][numbers] = True
        rows = []
        for serial, number in zip(serials.tolist(), numbers.tolist(), strict=True):
            publication = publications[number]
            facts = [getattr(publication, name) for name in PUBLICATION.names[1:-1]]
            rows.append((serial, *facts, json.dumps(publication.data)))
        return _rows_table(rows, PUBLICATION)

    def _load_publications(self, rows: Sequence[dict[str, Any]], following: int) -> None:
        serials = np.array([row.pop("serial") for row in rows], np.int64)
        some = [Publication(**row | {"data": json.loads(row["data"])}) for row in rows]
        self._halves.selecting.publications.restore(some, serials, following)

    @property
    def _names(self) -> Names:
        halves = self._halves
        return Names(
            lambda number: halves.shortlist(number).id,
            lambda number: halves.matching.subscription(number).id,
            halves.matching.shortlists.number,
            halves.matching.number,
        )


def _rows_table(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [[] for _ in schema]
    return pa.record_batch([[*column] for column in columns], schema=schema)
