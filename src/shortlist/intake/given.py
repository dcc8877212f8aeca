"""Documents of subscriptions as columns: what is each one's own, and the rest, which many share."""

import marshal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.intake.tables import cell, row_document, rows_of
from shortlist.matching.arrays import Ints, Longs
from shortlist.model.fields import finite

OWN = ("id", "shortlist", "where", "score", "subscriber")
"""Fields that differ from one subscription to the next; of all others there are few kinds."""


@dataclass(slots=True)
class Given:
    """Documents that nobody has checked yet.

    >>> some = [{"id": "a", "weight": 2}, {"id": "b", "weight": 2}, {"id": 3}]
    >>> given = Given.of_documents(some)
    >>> given.own["id"], given.rests, given.rest_of, given.odd
    (['a', 'b', None], [{'weight': 2}, {}], array([0, 0, 1], dtype=int32), {2: {'id': 3}})
    """

    own: dict[str, list[Any]]
    """Texts, or numbers, or nothing."""
    rests: list[dict[str, Any]]
    rest_of: Ints
    odd: dict[int, object] = field(default_factory=dict)
    """Documents with something else in them, which have to be looked at one by one."""

    def __len__(self) -> int:
        return self.rest_of.size

    def document(self, row: int) -> object:
        """What was given."""
        if row in self.odd:
            return self.odd[row]
        own = {name: self.own[name][row] for name in OWN}
        known = {name: value for name, value in own.items() if value is not None}
        return {**known, **self.rests[self.rest_of[row]]}

    @classmethod
    def of_documents(cls, documents: Iterable[object]) -> "Given":
        rows: list[Sequence[Any]] = []
        rests: list[dict[str, Any]] = []
        known: dict[bytes, int] = {}
        rest_of: list[int] = []
        odd: dict[int, object] = {}
        for row, document in enumerate(documents):
            rest = dict(document) if type(document) is dict else {}
            own = [rest.pop(name, None) for name in OWN]
            try:
                key = marshal.dumps(rest, 2)  # tells 1 from true, which are equal
            except ValueError:
                key = b""
            if not key or not _is_regular(*own):
                odd[row], own, rest, key = document, [None] * len(OWN), {}, marshal.dumps({}, 2)
            number = known.setdefault(key, len(rests))
            if number == len(rests):
                rests.append(rest)
            rows.append(own)
            rest_of.append(number)
        columns = [*map(list, zip(*rows, strict=True))] or [[] for _ in OWN]
        own_columns = dict(zip(OWN, columns, strict=True))
        return cls(own_columns, rests, np.array(rest_of, np.int32), odd)

    @classmethod
    def of_table(cls, table: pa.Table) -> "Given":
        """Rows of a table, as `row_document` reads them."""
        names = table.column_names
        if len({*names}) < len(names):
            return cls.of_documents(map(row_document, rows_of(table)))
        own = {name: _cells(name, table) for name in OWN}
        others = table.select([name for name in names if name not in OWN])
        firsts, rest_of = _alike(others)
        rests = [row_document(row) for row in rows_of(others.take(pa.array(firsts)))]
        if not others.num_columns:
            rests = [{}]
        given = cls(own, rests, rest_of)
        is_odd = [not _is_regular(*each) for each in zip(*own.values(), strict=True)]
        for row in np.flatnonzero(is_odd).tolist():
            given.odd[row] = given.document(row)
            for name in OWN:
                own[name][row] = None
        return given


def _is_regular(
    name: object, shortlist: object, where: object, score: object, subscriber: object
) -> bool:
    return (
        _is_text(name)
        and (shortlist is None or _is_text(shortlist))
        and (where is None or where == "" or _is_text(where))
        and (score is None or _is_text(score) or finite(score) is not None)
        and (subscriber is None or _is_text(subscriber))
    )


def _is_text(value: object) -> bool:
    """Whether it is one that is not empty, of whole characters."""
    return type(value) is str and (value.isascii() or _is_whole(value)) and value != ""


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cells(name: str, table: pa.Table) -> list[Any]:
    if name not in table.column_names:
        return [*repeat(None, table.num_rows)]
    column = table.column(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.to_pylist()  # type: ignore[no-any-return]
    rows = rows_of(table.select([name]))
    return [None if row[name] is None else cell(name, row[name]) for row in rows]


def _alike(table: pa.Table) -> tuple[Longs, Ints]:
    """The first row of each kind, and the kind of every row."""
    kinds = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        kinds = _together(kinds, _codes(column.combine_chunks()))
    _, firsts, kinds = np.unique(kinds, return_index=True, return_inverse=True)
    return firsts, kinds.astype(np.int32)


def _together(one: Longs, other: Longs) -> Longs:
    """Numbers that are the same where both are."""
    kinds: Longs
    _, kinds = np.unique(one * (int(other.max(initial=0)) + 1) + other, return_inverse=True)
    return kinds


def _codes(column: pa.Array) -> Longs:
    """Numbers that are the same where the column has the same; others may differ, too."""
    kind = column.type
    codes: Longs
    if pa.types.is_struct(kind):
        codes = np.asarray(column.is_valid()).astype(np.int64)
        for part in column.flatten():
            codes = _together(codes, _codes(part))
        return codes
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pa.types.is_nested(kind) or pa.types.is_floating(kind):
        known: dict[str, int] = {}
        found = [known.setdefault(repr(each), len(known)) for each in column.to_pylist()]
        return np.array(found, np.int64)
    indices = column.dictionary_encode(null_encoding="encode").indices
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes
