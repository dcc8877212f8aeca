"""Items of a timeline as columns: what travels from whoever reads lines to whoever selects.

An attribute is a column of its own, as JSON has it: `number` for a number, `text` for a string, and
`other` for the JSON text of anything else (booleans, lists, fuzzy values). All three are null where
the attribute is absent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.model.paths import Path, format_path, parse_path
from shortlist.model.publication import Publication
from shortlist.model.times import END_OF_TIME

PUBLICATION, COMMAND, HEARTBEAT, REJECT, BLANK = range(5)
"""Kinds of items. A reject is a line that could not be read; a blank line is nothing."""

Longs = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]

CONTEXT_COLUMNS = pa.schema(
    {
        "position": pa.int64(),
        "kind": pa.int8(),
        "time": pa.int64(),
        "event_time": pa.int64(),
        "source": pa.string(),
        "id": pa.string(),
        "type": pa.string(),
        "expiry": pa.int64(),
        "audience": pa.int64(),
        "replaces": pa.string(),
        "line": pa.string(),
        "reason": pa.string(),
        "data": pa.string(),
        "appended": pa.int64(),
    }
)
"""Of commands and rejects `line` is the text they came in; of publications too, as long as somebody
may have to show it. `event_time` is what a publication says itself: `time`, unless that is the
instant at which a log took it; null where it says nothing. `data` is null unless it was asked for,
and `reason` says what a reject lacks. `appended` is when a log took the item, in microseconds."""

FACTS = tuple(each.name for each in fields(Publication) if each.name != "data")
"""The columns that a publication has as an object, too."""

ATTRIBUTES = "attributes"
VALUE = pa.struct({"number": pa.float64(), "text": pa.string(), "other": pa.string()})


class Wanted(NamedTuple):
    """What somebody has to know of publications beside their context."""

    paths: frozenset[Path] = frozenset()
    """Attributes that a condition, a score or an advertisement mentions."""
    data: bool = False
    """Whether all of `data` travels, as text."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of items that have it.

        >>> Wanted(frozenset([("rent",)])).schema.field("attributes").type.field(0).name
        'rent'
        """
        values = [(name, VALUE) for name in sorted(map(format_path, self.paths))]
        return CONTEXT_COLUMNS.append(pa.field(ATTRIBUTES, pa.struct(values)))

    def joined(self, other: "Wanted") -> "Wanted":
        """What both want."""
        return Wanted(self.paths | other.paths, self.data or other.data)


class Items:
    """Some items, in an order that somebody else decides.

    >>> blank = Items.empty()
    >>> len(blank), blank.times.dtype
    (0, dtype('int64'))
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    @classmethod
    def empty(cls, wanted: Wanted | None = None) -> "Items":
        return cls.of_table((wanted or Wanted()).schema.empty_table())

    @classmethod
    def of_columns(cls, size: int, columns: Mapping[str, Any], wanted: Wanted) -> "Items":
        """So many with some columns; what is not given, or is None, is null."""
        schema = wanted.schema
        known = [(field.type, columns.get(field.name)) for field in schema]
        arrays = [pa.nulls(size, kind) if column is None else column for kind, column in known]
        return cls(pa.record_batch(arrays, schema=schema))

    @classmethod
    def of_table(cls, table: pa.Table) -> "Items":
        batches = table.combine_chunks().to_batches()
        return cls(batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema))

    @classmethod
    def joined(cls, some: Sequence["Items"]) -> "Items":
        """All of several that have the same columns."""
        first = some[0].batch.schema
        alike = [
            each.batch if each.batch.schema == first else each.batch.cast(first) for each in some
        ]
        return some[0] if len(some) == 1 else cls(pa.concat_batches(alike))

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def taken(self, places: npt.NDArray[Any]) -> "Items":
        """Some of them, in this order."""
        return Items(self.batch.take(pa.array(places)))

    def kept(self, which: Bools) -> "Items":
        if which.all():
            return self
        # none is the usual answer to "which are commands?", and a filter visits every column
        return Items(self.batch.filter(pa.array(which)) if which.any() else self.batch.slice(0, 0))

    def between(self, first: int, end: int) -> "Items":
        """Neighbours; nothing is copied."""
        return self if end - first == len(self) else Items(self.batch.slice(first, end - first))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The attributes that there are columns of."""
        return tuple(field.name for field in self.batch.schema.field(ATTRIBUTES).type)

    def has_attribute(self, name: str) -> bool:
        """Say whether there is a column of an attribute, as quickly for many columns as for few."""
        return bool(self.batch.schema.field(ATTRIBUTES).type.get_field_index(name) >= 0)

    @property
    def told(self) -> Wanted:
        """What is known of publications beside their context."""
        data = self.batch.column("data")
        return Wanted(frozenset(map(parse_path, self.paths)), data.null_count < len(self))

    def with_columns(self, **columns: pa.Array) -> "Items":
        """The same with other columns, or more."""
        batch = self.batch
        for name, column in columns.items():
            at = batch.schema.get_field_index(name)
            if at < 0:
                batch = batch.append_column(name, column)
            else:
                batch = batch.set_column(at, name, column)
        return Items(batch)

    def without(self, names: Iterable[str]) -> "Items":
        """The same without what nobody needs any more; those columns are null."""
        nulls = {name: pa.nulls(len(self), self.batch.schema.field(name).type) for name in names}
        return self.with_columns(**nulls)

    @cached_property
    def kinds(self) -> Kinds:
        return self.numbers("kind", missing=0)

    @cached_property
    def times(self) -> Longs:
        return self.numbers("time", missing=0)

    @cached_property
    def positions(self) -> Longs:
        return self.numbers("position", missing=0)

    @cached_property
    def is_dead(self) -> Bools:
        """Of each publication whether it is dead on arrival, as it says itself, too."""
        return self.numbers("expiry", END_OF_TIME) <= self.times

    def values(self, column: str) -> list[Any]:
        """A column as Python has it."""
        values: list[Any] = self.batch.column(column).to_pylist()
        return values

    def publication(self, place: int) -> Publication:
        """One publication as an object; without its data, where that did not travel."""
        row = {name: self.batch.column(name)[place].as_py() for name in ("data", *FACTS)}
        return Publication(**{**row, "data": json.loads(row["data"] or "{}")})

    def numbers(self, column: str, missing: int) -> npt.NDArray[Any]:
        """A column of whole numbers, with a number for those that are null."""
        found = self.batch.column(column)
        if len(found) and found.null_count == len(found):
            return np.full(len(found), missing, found.type.to_pandas_dtype())
        return np.asarray(found.fill_null(missing) if found.null_count else found)
