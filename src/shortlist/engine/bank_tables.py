"""The state of banks as tables, and back: numbers become names and serial numbers."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.matching.arrays import distinct
from shortlist.matching.blocks import Ints, Longs
from shortlist.matching.index.names import NameColumn
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena, translated
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.kernels.arena import HEAD, Records

Tables = dict[str, pa.RecordBatch]

OWN = [name for name, _ in HEAD if name != "length"]
"""Fields of heads that each engine has for itself."""


class Names(NamedTuple):
    """Who shortlists and subscriptions are, by number, and back."""

    shortlists: NameColumn
    subscriptions: NameColumn


def bank_tables(selecting: BankSelecting, names: Names) -> Tables:
    """What shortlists hold."""
    tables = {}
    for depth, kind, bank in _banks(selecting):
        places = np.flatnonzero(bank.arenas[0].heads["is_open"])
        if not places.size:
            continue
        shortlists = names.shortlists.taken(selecting.levels[depth].owners(kind, places))
        for number, arena in enumerate(bank.arenas):
            heads = {name: arena.heads[name][places] for name in _fields(arena.heads)}
            tables[f"{depth} {kind} {number} heads"] = _table(heads, shortlist=shortlists)
            tables[f"{depth} {kind} {number} rows"] = _rows_table(arena, places, selecting, names)
    sets = held_numbers(tables, "matched")
    if sets.size:
        tables["sets"] = _sets_table(selecting.sets.subset(sets), sets, names)
    return tables


def load_banks(
    selecting: BankSelecting, names: Names, tables: Mapping[str, pa.RecordBatch]
) -> None:
    """Puts what tables say in the place of what shortlists hold; those are open already."""
    saved, kept = np.empty(0, np.int64), np.empty(0, np.int32)
    if "sets" in tables:
        sets, saved = _sets(tables["sets"], names)
        kept = selecting.sets.keep(np.arange(saved.size, dtype=np.int32), sets)
    for depth, kind, bank in _banks(selecting):
        for number, arena in enumerate(bank.arenas):
            heads = tables.get(f"{depth} {kind} {number} heads")
            if heads is None:
                continue
            owners = names.shortlists.numbers(heads.column("shortlist"))
            places = selecting.levels[depth].places(owners)
            columns = {name: column_of(heads, name) for name in _fields(arena.heads)}
            rows = tables[f"{depth} {kind} {number} rows"]
            arena.load(places, columns, _rows(arena, rows, selecting, names, (saved, kept)))


def held_numbers(tables: Mapping[str, pa.RecordBatch], name: str) -> Longs:
    """The different numbers in a field of all tables that have it, but for -1.

    >>> tables = {"rows": pa.record_batch({"publication": [9, -1, 7, 9]})}
    >>> held_numbers(tables, "publication"), held_numbers(tables, "matched")
    (array([7, 9]), array([], dtype=int64))
    """
    held = [column_of(table, name) for table in tables.values() if name in table.schema.names]
    numbers = np.concatenate([np.empty(0, np.int64), *held])
    found, _ = distinct(numbers[numbers >= 0])
    return found


def _banks(selecting: BankSelecting) -> Iterator[tuple[int, str, Bank]]:
    for depth, level in enumerate(selecting.levels):
        for kind, bank in level.banks.items():
            yield depth, kind, bank


def _fields(heads: Records) -> list[str]:
    return [name for name in heads.dtype.names or () if name not in OWN]


def _table(columns: Mapping[str, Records | pa.Array], **more: pa.Array) -> pa.RecordBatch:
    return pa.record_batch({**more, **{name: pa.array(column) for name, column in columns.items()}})


def column_of(table: pa.RecordBatch, name: str) -> Records:
    """As numpy has it."""
    column: Records = table.column(name).to_numpy(zero_copy_only=False)
    return column


def _rows_table(
    arena: Arena, places: Longs, selecting: BankSelecting, names: Names
) -> pa.RecordBatch:
    where = arena.rows_of_all(places)
    columns = {name: arena.rows[name][where] for name in arena.rows.dtype.names or ()}
    if "publication" in columns:
        columns["publication"] = selecting.publications.facts["serial"][columns["publication"]]
    if "subscription" in columns:
        columns["subscription"] = _named(columns["subscription"], names)
    return _table(columns)


def _rows(
    arena: Arena,
    table: pa.RecordBatch,
    selecting: BankSelecting,
    names: Names,
    sets: tuple[Longs, Ints],
) -> dict[str, Records]:
    """The columns of rows, with numbers of this process for all that they refer to; `sets` are the
    saved numbers of sets of matches, ascending, and those that they have here."""
    columns = {}
    for name in arena.rows.dtype.names or ():
        if name == "subscription":
            columns[name] = _numbered(table.column(name), names)
        else:
            columns[name] = column_of(table, name)
    if "publication" in columns:
        columns["publication"] = selecting.publications.numbers(columns["publication"])
    if "matched" in columns:
        saved, kept = sets
        places = np.searchsorted(saved, columns["matched"])
        columns["matched"] = translated(np.where(columns["matched"] < 0, -1, places), kept)
    return columns


def _named(numbers: Ints, names: Names) -> pa.DictionaryArray:
    """Subscriptions by name, each name once; nobody is null."""
    is_known = np.bincount(numbers + 1, minlength=1) > 0
    places = np.cumsum(is_known, dtype=np.int32) - np.int32(1)
    known = np.flatnonzero(is_known) - 1
    dictionary = names.subscriptions.taken(known[known >= 0])
    if is_known[0]:
        dictionary = pa.concat_arrays([pa.nulls(1, pa.string()), dictionary])
    return pa.DictionaryArray.from_arrays(pa.array(places[numbers + 1]), dictionary)


def _numbered(column: pa.DictionaryArray, names: Names) -> Ints:
    numbers: Ints = names.subscriptions.numbers(column.dictionary)[column.indices.to_numpy()]
    return numbers


def _sets_table(sets: MatchSets, numbers: Longs, names: Names) -> pa.RecordBatch:
    offsets = pa.array(sets.offsets.astype(np.int32))
    columns = {
        "subscriptions": _named(sets.subscriptions, names).cast(pa.string()),
        "possibilities": pa.array(sets.possibilities),
        "necessities": pa.array(sets.necessities),
    }
    lists = {title: pa.ListArray.from_arrays(offsets, column) for title, column in columns.items()}
    return pa.record_batch({"number": pa.array(numbers), **lists})


def _sets(table: pa.RecordBatch, names: Names) -> tuple[MatchSets, Longs]:
    """Sets of matches, and the numbers that rows have for them."""
    numbers, members, possibilities, necessities = table.columns
    sets = MatchSets(
        members.offsets.to_numpy().astype(np.int64),
        names.subscriptions.numbers(members.flatten()),
        possibilities.flatten().to_numpy(),
        necessities.flatten().to_numpy(),
    )
    return sets, numbers.to_numpy()
