"""Tables of saved states, cut by shortlist and put together; how: `bank_tables`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.engine.bank_tables import Tables, held_numbers
from shortlist.matching.blocks import Bools, Longs
from shortlist.selection.bank.arena import translated
from shortlist.selection.kernels.arena import Records

Parts = Sequence[Mapping[str, pa.RecordBatch]]


class Shared(NamedTuple):
    """A table whose rows the rows of shortlists refer to."""

    name: str
    number: str
    """Its field that tells its rows apart, in ascending order."""
    reference: str
    """The field that has this number, or -1, wherever there is one."""
    keys: tuple[str, ...]
    """What several states have in common; without keys they have nothing."""


PUBLICATIONS = Shared("publications", "serial", "publication", ("time", "position", "source", "id"))
SETS = Shared("sets", "number", "matched", ())
ACCEPTED_KEYS = ("time", "source", "publication")


def stages(tables: Mapping[str, pa.RecordBatch]) -> Iterator[tuple[str, str, str]]:
    """The kind of policy, and the names of the tables of heads and of rows.

    >>> [*stages({"0 counted window 0 heads": None, "0 counted window 0 rows": None, "sets": None})]
    [('counted window', '0 counted window 0 heads', '0 counted window 0 rows')]
    """
    for heads in tables:
        if heads.endswith(" heads"):
            _, *kind, _, _ = heads.split(" ")
            yield " ".join(kind), heads, f"{heads.removesuffix(' heads')} rows"


def cut_tables(tables: Mapping[str, pa.RecordBatch], keep: Callable[[str], bool]) -> Tables:
    """What tables say of some shortlists, and the publications and sets that these hold."""
    kept = {}
    for _, heads, rows in stages(tables):
        is_kept = np.array([*map(keep, tables[heads].column("shortlist").to_pylist())], np.bool_)
        if is_kept.any():
            lengths = _column(tables[heads], "length")
            kept[heads] = _filtered(tables[heads], is_kept)
            kept[rows] = _encoded(_filtered(_decoded(tables[rows]), np.repeat(is_kept, lengths)))
    for shared in (PUBLICATIONS, SETS):
        numbers = held_numbers(kept, shared.reference)
        if numbers.size:
            known = tables[shared.name]
            kept[shared.name] = _filtered(known, np.isin(_column(known, shared.number), numbers))
    if "accepted" in tables:
        kept["accepted"] = tables["accepted"]
    return kept


def joined_tables(parts: Parts) -> Tables:
    """The tables of states over different shortlists as those of one.

    What several refer to is there once; publications are numbered in the order in which they
    appeared.
    """
    joined = {}
    for shared in (PUBLICATIONS, SETS):
        if any(shared.name in part for part in parts):
            joined[shared.name], parts = _shared(parts, shared)
    if any("accepted" in part for part in parts):
        joined["accepted"], _ = _distinct(_stacked(parts, "accepted"), ACCEPTED_KEYS)
    for _, heads, rows in {stage: None for part in parts for stage in stages(part)}:
        joined[heads] = _stacked(parts, heads)
        joined[rows] = _encoded(_stacked(parts, rows))
    return joined


def _shared(parts: Parts, shared: Shared) -> tuple[pa.RecordBatch, Parts]:
    """A shared table with new numbers, and the parts with these where they refer to it."""
    stacked = _stacked(parts, shared.name)
    table, numbers = stacked, np.arange(stacked.num_rows)
    if shared.keys:
        table, numbers = _distinct(stacked, shared.keys)
    renumbered, first = [], 0
    for part in parts:
        known = _column(part[shared.name], shared.number) if shared.name in part else numbers[:0]
        renumbered.append(_renumbered(part, shared, known, numbers[first : first + known.size]))
        first += known.size
    return _replaced(table, shared.number, np.arange(table.num_rows)), renumbered


def _renumbered(
    part: Mapping[str, pa.RecordBatch], shared: Shared, known: Longs, numbers: Longs
) -> Tables:
    renumbered = dict(part)
    for _, _, rows in stages(part):
        if shared.reference in part[rows].schema.names:
            old = _column(part[rows], shared.reference)
            places = np.where(old < 0, -1, np.searchsorted(known, old))
            new = translated(places, numbers).astype(old.dtype)
            renumbered[rows] = _replaced(part[rows], shared.reference, new)
    return renumbered


def _distinct(table: pa.RecordBatch, keys: Sequence[str]) -> tuple[pa.RecordBatch, Longs]:
    """Each row once, in order of the keys that tell rows apart, and where each is among these."""
    order = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys])
    ordered = table.take(order)
    is_first = np.zeros(table.num_rows, np.bool_)
    is_first[:1] = True
    for key in keys:
        column = ordered.column(key)
        is_first[1:] |= _numpy(pc.not_equal(column[1:], column[:-1]))
    places = np.empty(table.num_rows, np.int64)
    places[_numpy(order)] = np.cumsum(is_first) - 1
    return _filtered(ordered, is_first), places


def _stacked(parts: Parts, name: str) -> pa.RecordBatch:
    return pa.concat_batches([_decoded(part[name]) for part in parts if name in part])


def _decoded(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with names of subscriptions in place of dictionaries, which cannot be put together."""
    if "subscription" not in rows.schema.names:
        return rows
    return _replaced(rows, "subscription", rows.column("subscription").cast(pa.string()))


def _encoded(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Decoded rows with each name once; no name is one, too."""
    if "subscription" not in rows.schema.names:
        return rows
    names = rows.column("subscription").dictionary_encode(null_encoding="encode")
    return _replaced(rows, "subscription", names)


def _replaced(table: pa.RecordBatch, name: str, column: pa.Array | Records) -> pa.RecordBatch:
    return table.set_column(table.schema.get_field_index(name), name, pa.array(column))


def _filtered(table: pa.RecordBatch, is_kept: Bools) -> pa.RecordBatch:
    return table.filter(pa.array(is_kept))


def _column(table: pa.RecordBatch, name: str) -> Records:
    return _numpy(table.column(name))


def _numpy(column: pa.Array) -> Records:
    values: Records = column.to_numpy(zero_copy_only=False)
    return values
