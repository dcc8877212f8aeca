"""The publications that shortlists hold, by number."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Longs
from shortlist.model.items import Items
from shortlist.model.publication import Publication
from shortlist.selection.bank.arena import Arena, sweep
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.bank.pieces import Pieces
from shortlist.selection.kernels.arena import Records

FACTS = np.dtype([("time", "i8"), ("expiry", "i8"), ("position", "i8"), ("serial", "i8")])
ROW = pa.schema(
    {
        "audience": pa.int64(),
        "id": pa.string(),
        "source": pa.string(),
        "type": pa.string(),
        "data": pa.string(),
    }
)
"""What is told of publications, and never asked by policies."""
LEAST = 8192
"""So many may be held by nobody before that is looked into."""
PUBLICATION = pa.schema(
    {
        "serial": pa.int64(),
        "time": pa.int64(),
        "expiry": pa.int64(),
        "position": pa.int64(),
        **{field.name: field.type for field in ROW},
    }
)
"""Publications as they are saved."""


class Publications:
    """What appears later has a larger number. Numbers change when others are forgotten; serial
    numbers do not.

    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> known = Publications()
    >>> flats = [Publication(id=name, source="ads", time=0, position=n)
    ...          for n, name in enumerate("ab")]
    >>> known.add(items_of(flats, Wanted())[0])
    0
    >>> known[1].id
    'b'
    """

    def __init__(self) -> None:
        self._facts: Records = np.zeros(64, FACTS)
        self._rows = Pieces(ROW)
        self.serials = 0
        """How many were ever taken in."""
        self._most = LEAST
        self.generation = 0
        """Another one whenever numbers change, or something is restored."""
        self._names: defaultdict[tuple[str, str], list[int]] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Publication:
        """As an object; without its data, where that did not travel."""
        facts = self._facts[number]
        row = {name: self._rows.value(name, number) for name in ROW.names}
        return Publication(
            id=row["id"],
            source=row["source"],
            time=int(facts["time"]),
            position=int(facts["position"]),
            type=row["type"],
            expiry=None if facts["expiry"] == NEVER else int(facts["expiry"]),
            audience=row["audience"],
            data={} if row["data"] is None else json.loads(row["data"]),
        )

    @property
    def facts(self) -> Records:
        """What policies ask of publications, by number: a view."""
        return self._facts[: len(self)]

    def texts(self, names: Sequence[str], numbers: Longs) -> list[pa.StringArray]:
        """Texts of some publications, by name and in order of their numbers."""
        return self._rows.taken(names, numbers)

    def add(self, items: Items) -> int:
        """Takes publications in that appear after all others; the number of the first."""
        facts = {
            "time": items.times,
            "expiry": items.numbers("expiry", NEVER),
            "position": items.positions,
            "serial": np.arange(self.serials, self.serials + len(items)),
        }
        self.serials += len(items)
        return self._add(items.batch, facts)

    def named(self, source: str, name: str) -> list[int]:
        """The numbers of all that have an id; nothing is kept of ids before this is asked for."""
        if self._names is None:
            self._names = defaultdict(list)
            self._name(0)
        return self._names.get((source, name), [])

    def numbers(self, serials: Longs) -> Longs:
        """The numbers that publications have now."""
        return np.searchsorted(self.facts["serial"], serials)

    def saved(self, serials: Longs) -> pa.RecordBatch:
        """Some of them as rows of PUBLICATION; the serial numbers ascend."""
        numbers = self.numbers(serials)
        times, expiries, positions = (
            self._facts[name][numbers] for name in ("time", "expiry", "position")
        )
        columns = [
            serials,
            times,
            pa.array(expiries, mask=expiries == NEVER),
            positions,
            *self._rows.taken(ROW.names, numbers),
        ]
        return pa.record_batch([*columns], schema=PUBLICATION)

    def restore(self, saved: pa.RecordBatch, following: int) -> None:
        """Takes publications back in that were saved, later than all that are known."""
        facts = {
            name: np.asarray(saved.column(name).fill_null(NEVER)) for name in FACTS.names or ()
        }
        self._add(saved, facts)
        self.serials = following
        self.generation += 1

    def _add(self, batch: pa.RecordBatch, facts: dict[str, Any]) -> int:
        first, end = len(self), len(self) + batch.num_rows
        self._rows.add(batch)
        if self._names is not None:
            self._name(first)
        self._facts = with_length(self._facts, end)
        for fact, values in facts.items():
            self._facts[fact][first:end] = values
        return first

    def _name(self, first: int) -> None:
        """Writes down who publications are, from one on."""
        assert self._names is not None
        numbers = np.arange(first, len(self))
        sources, ids = (texts.to_pylist() for texts in self.texts(["source", "id"], numbers))
        for number, source, name in zip(numbers.tolist(), sources, ids, strict=True):
            self._names[source, name].append(number)

    @property
    def is_worth_sweeping(self) -> bool:
        return len(self) >= self._most

    def sweep(self, arenas: Iterable[Arena]) -> None:
        """Forgets those that no arena holds, and renumbers the rest in all of them."""
        kept = sweep(arenas, "publication", len(self))
        self._rows.keep(kept)
        self._facts[: kept.size] = self._facts[kept]
        self._names = None
        self.generation += 1
        self._most = max(LEAST, 2 * kept.size)
