"""Saved states cut by shortlist and joined again: to rescale, to move, to look at one shortlist."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.engine.bank_tables import Tables, column_of, held_numbers
from shortlist.engine.saved import Saved, packed, registry_part
from shortlist.matching.blocks import Bools, Longs
from shortlist.selection.bank.arena import translated
from shortlist.selection.kernels.arena import Records

Document = dict[str, Any]
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


def part(saved: Saved, keep: Callable[[str], bool], registry: bytes | None = None) -> Saved:
    """Of a shard's state only some shortlists, with all that these hold; somebody may have packed
    the registry.

    The counts start over: they belong to no shortlist in particular, so whoever cuts a state in
    pieces has to keep them.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> registry = registry_from_documents({"subscriptions": [{"id": "a"}, {"id": "b"}]})
    >>> second = part(Saved.of_bytes(Engine(registry).snapshot()), lambda name: name == "b")
    >>> [made["id"] for made in second.registry["subscriptions"]]
    ['b']
    """
    if registry is None:
        registry = packed(registry_part(saved.registry, keep))
    document = saved.document | {"counts": {"other_type": {}}, "changes": []}
    return Saved(registry, document, cut_tables(saved.tables, keep))


def joined(parts: Sequence[Saved], registry: bytes | None = None) -> Saved:
    """Those of shards with different shortlists as one; at least one, and all under one vocabulary.
    Somebody may have packed their registry.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> both = [Saved.of_bytes(Engine(registry_from_documents(document)).snapshot())
    ...         for document in ({"subscriptions": [{"id": name}]} for name in "ab")]
    >>> [made["id"] for made in joined(both).registry["subscriptions"]]
    ['a', 'b']
    """
    tables = joined_tables([part.tables for part in parts])
    document = {
        "serials": tables[PUBLICATIONS.name].num_rows if PUBLICATIONS.name in tables else 0,
        "counts": total_counts(part.document["counts"] for part in parts),
    }
    if registry is None:
        registry = packed(_joined_registries([part.registry for part in parts]))
    return Saved(registry, document, tables)


def _joined_registries(registries: Sequence[Document]) -> Document:
    """Shortlists and subscriptions are in one of them each, advertisements in all."""
    advertisements = {made["id"]: made for each in registries for made in each["advertisements"]}
    return {
        "vocabulary": registries[0]["vocabulary"],
        "shortlists": [made for each in registries for made in each["shortlists"]],
        "subscriptions": [made for each in registries for made in each["subscriptions"]],
        "advertisements": [*advertisements.values()],
    }


def total_counts(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Of all shards together.

    >>> total_counts([{"matched": 1, "other_type": {"x": 1}}, {"matched": 2, "other_type": {}}])
    {'matched': 3, 'other_type': {'x': 1}}
    """
    total: Counter[str] = Counter()
    other_type: Counter[str] = Counter()
    for each in counts:
        other_type.update(each["other_type"])
        total.update({name: count for name, count in each.items() if name != "other_type"})
    return {**total, "other_type": dict(other_type)}


def stages(tables: Mapping[str, pa.RecordBatch]) -> Iterator[tuple[str, str]]:
    """The names of the tables of heads and of rows of each kind of policy.

    >>> [*stages({"0 counted window 0 heads": None, "0 counted window 0 rows": None, "sets": None})]
    [('0 counted window 0 heads', '0 counted window 0 rows')]
    """
    for heads in tables:
        if heads.endswith(" heads"):
            yield heads, f"{heads.removesuffix(' heads')} rows"


def cut_tables(tables: Mapping[str, pa.RecordBatch], keep: Callable[[str], bool]) -> Tables:
    """What tables say of some shortlists, and the publications and sets that these hold."""
    kept = {}
    for heads, rows in stages(tables):
        is_kept = np.array([*map(keep, tables[heads].column("shortlist").to_pylist())], np.bool_)
        if is_kept.any():
            lengths = column_of(tables[heads], "length")
            kept[heads] = _filtered(tables[heads], is_kept)
            kept[rows] = _encoded(_filtered(_decoded(tables[rows]), np.repeat(is_kept, lengths)))
    for shared in (PUBLICATIONS, SETS):
        numbers = held_numbers(kept, shared.reference)
        if numbers.size:
            known = tables[shared.name]
            kept[shared.name] = _filtered(known, np.isin(column_of(known, shared.number), numbers))
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
    for heads, rows in {stage: None for part in parts for stage in stages(part)}:
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
        known = column_of(part[shared.name], shared.number) if shared.name in part else numbers[:0]
        renumbered.append(_renumbered(part, shared, known, numbers[first : first + known.size]))
        first += known.size
    return _replaced(table, shared.number, np.arange(table.num_rows)), renumbered


def _renumbered(
    part: Mapping[str, pa.RecordBatch], shared: Shared, known: Longs, numbers: Longs
) -> Tables:
    renumbered = dict(part)
    for _, rows in stages(part):
        if shared.reference in part[rows].schema.names:
            old = column_of(part[rows], shared.reference)
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


def _numpy(column: pa.Array) -> Records:
    values: Records = column.to_numpy(zero_copy_only=False)
    return values
