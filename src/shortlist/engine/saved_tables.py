"""Check the tables of a state that a stranger may have written, before any kernel uses them.

Arrow says that a table is well-formed. Here each number is checked against the tables, policies
and subscriptions that it refers to, and against the rules of its bank (`selection/bank/checks.py`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.bank_tables import OWN, Tables, column_of
from shortlist.engine.live_registry import opened_by
from shortlist.engine.saved import Saved, UnusableState, registry_part
from shortlist.intake.files import registry_read_again
from shortlist.intake.roster import registry_commands
from shortlist.matching.blocks import Ints
from shortlist.model.times import END_OF_TIME
from shortlist.scoring.match_sets import ALONE
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.banks import policy_kind
from shortlist.selection.bank.checks import FIRST_TIME, SETTINGS, SavedArena, wrong_field
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.bank.publications import PUBLICATION
from shortlist.selection.bank.selecting import BankSelecting, Level
from shortlist.selection.bank.world import Subscriptions
from shortlist.selection.kernels.arena import Records

SETS = pa.schema(
    {
        "number": pa.int64(),
        "subscriptions": pa.list_(pa.string()),
        "possibilities": pa.list_(pa.float64()),
        "necessities": pa.list_(pa.float64()),
    }
)
NAMES = pa.dictionary(pa.int32(), pa.string())
# The columns of rows that refer to something by another type than in memory.
REFERENCES = {"publication": pa.int64(), "subscription": NAMES}
# Columns of publications that not every publication has a value for.
OPTIONAL = frozenset(("expiry", "audience", "type", "data"))
# The table of `novelty` whose rows may name a subscription that has gone.
PAIRS = 5


def check_tables(saved: Saved, now: int) -> None:
    """Raise `UnusableState` for the first field of a shard's tables that kernels cannot use.

    `now` is the instant that time had reached. No shard is opened: to compile what it matches by
    would take many times longer than to check its tables, and needs kernels that a machine may
    not have yet.
    """
    try:
        _check_document(saved.document)
        _check(saved, now)
    except UnusableState:
        raise
    except Exception as error:  # of any kind, by what is wrong with the registry's policies
        found = f"{type(error).__name__}: {error}"
        raise UnusableState(f"expected tables of a shard, found {found}") from None


def _check_document(document: Mapping[str, Any]) -> None:
    counts = dict(document["counts"])
    other = counts.pop("other_type")
    numbers = [document["serials"], *counts.values(), *other.values()]
    if any(type(number) is not int or not 0 <= number < NEVER for number in numbers):
        raise UnusableState("expected counts in a document, found something else")


def _check(saved: Saved, now: int) -> None:
    tables = {**saved.tables}
    heads = {name: table for name, table in tables.items() if name.endswith(" heads")}
    names = {name for table in heads.values() for name in table.column("shortlist").to_pylist()}
    registry = registry_read_again(registry_part(saved.registry, names.__contains__))
    known = {subscription.id for subscription in registry.subscriptions}
    shared = _Shared(tables, known, saved.document["serials"])
    opened = dict(enumerate(opened_by(registry_commands(registry))))
    numbers = {shortlist.id: number for number, shortlist in opened.items()}
    subscriptions = [*known]
    selecting = BankSelecting(
        Subscriptions(lambda: np.empty(0, np.int64), subscriptions.__getitem__, subscriptions.index)
    )
    selecting.open_all(opened)
    for depth, level in enumerate(selecting.levels):
        for kind in level.banks:
            _check_bank(
                f"{depth} {kind}", level, kind, _taken(tables, depth, kind), numbers, shared, now
            )
    for name in tables.keys() - {"publications", "sets"}:
        raise UnusableState(f"expected tables of a shard, found {name!r}")


def _taken(tables: Tables, depth: int, kind: str) -> Tables:
    """The tables of one bank, which are taken out."""
    prefix = f"{depth} {kind} "
    found = [name for name in tables if name.startswith(prefix)]
    return {name.removeprefix(prefix): tables.pop(name) for name in found}


class _Shared:
    """The publications, subscriptions and sets of matches that the rows of banks refer to."""

    def __init__(self, tables: Tables, known: set[str], serials: int) -> None:
        self.known = {name: number for number, name in enumerate(sorted(known))}
        """Numbers for all subscriptions that rows may name."""
        self.serials, self.times = np.empty(0, np.int64), np.empty(0, np.int64)
        self.sets = np.empty(0, np.int64)
        if "publications" in tables:
            self._take_publications(tables["publications"], serials)
        if "sets" in tables:
            self._take_sets(tables["sets"])

    def _take_publications(self, table: pa.RecordBatch, following: int) -> None:
        if table.schema != PUBLICATION:
            _refuse("publications", "its columns")
        for name in PUBLICATION.names:
            if name not in OPTIONAL and table.column(name).null_count:
                _refuse("publications", name)
        self.serials, self.times = column_of(table, "serial"), column_of(table, "time")
        _demand((np.diff(self.serials) > 0).all(), "publications", "serial")
        _demand(_lie_within(self.serials, 0, following - 1), "publications", "serial")
        _demand(_lie_within(self.times, FIRST_TIME, END_OF_TIME), "publications", "time")
        expiries = table.column("expiry").drop_null().to_numpy()
        _demand(_lie_within(expiries, FIRST_TIME, NEVER), "publications", "expiry")
        for text in table.column("data").drop_null().to_pylist():
            try:
                is_object = isinstance(json.loads(text), dict)
            except ValueError:
                is_object = False
            _demand(is_object, "publications", "data")

    def _take_sets(self, table: pa.RecordBatch) -> None:
        if table.schema.types != SETS.types or table.schema.names != SETS.names:
            _refuse("sets", "its columns")
        self.sets = column_of(table, "number")
        _demand((np.diff(self.sets) > 0).all(), "sets", "number")
        _demand(_lie_within(self.sets, 0, 2**31 - 1), "sets", "number")
        _, members, *degrees = table.columns
        for name, column in zip(SETS.names[1:], (members, *degrees), strict=True):
            _demand(not column.null_count and not column.flatten().null_count, "sets", name)
            _demand(column.offsets.equals(members.offsets), "sets", name)
            _demand(column.offsets[0].as_py() == 0, "sets", name)
        _demand(self.known.keys() >= {*members.flatten().to_pylist()}, "sets", "subscriptions")
        for name, column in zip(SETS.names[2:], degrees, strict=True):
            _demand(_lie_within(column.flatten().to_numpy(), 0.0, 1.0), "sets", name)


def _check_bank(
    title: str,
    level: Level,
    kind: str,
    tables: Tables,
    numbers: Mapping[str, int],
    shared: _Shared,
    now: int,
) -> None:
    """Check the tables of one bank, by the name of each behind the title."""
    if not tables:
        return
    arenas = level.banks[kind].arenas
    expected = {f"{number} {part}" for number in range(len(arenas)) for part in ("heads", "rows")}
    if tables.keys() != expected:
        raise UnusableState(f"expected the tables of {title!r}, found {sorted(tables)}")
    shortlists = tables["0 heads"].column("shortlist").to_pylist()
    here = np.flatnonzero(arenas[0].heads["is_open"])
    at = dict(zip(level.owners(kind, here).tolist(), here.tolist(), strict=True))
    places = np.array([at.get(numbers.get(name, -1), -1) for name in shortlists], np.int64)
    if np.unique(places).size < places.size or (places < 0).any():
        _refuse(f"{title} 0 heads", "shortlist")
    saved = []
    for number, arena in enumerate(arenas):
        heads, rows = f"{title} {number} heads", f"{title} {number} rows"
        head_columns = _heads(heads, tables[f"{number} heads"], arena, shortlists, places)
        row_table = tables[f"{number} rows"]
        lengths = head_columns["length"].astype(np.int64)
        if (lengths < 0).any() or lengths.sum() != row_table.num_rows:
            _refuse(heads, "length")
        has_gone = number == PAIRS
        saved.append(SavedArena(head_columns, _rows(rows, row_table, arena, shared, has_gone), now))
    field = wrong_field(policy_kind(kind), saved)
    if field is not None:
        _refuse(title, field)


def _heads(
    title: str, table: pa.RecordBatch, arena: Arena, shortlists: Sequence[str], places: Records
) -> dict[str, Records]:
    names = [name for name in arena.heads.dtype.names or () if name not in OWN]
    types = {"shortlist": pa.string()} | {name: _type(arena.heads, name) for name in names}
    _check_columns(title, table, types)
    if table.column("shortlist").to_pylist() != shortlists:
        _refuse(title, "shortlist")
    columns = {name: column_of(table, name) for name in names}
    for name in SETTINGS.intersection(names):
        if (columns[name] != arena.heads[name][places]).any():
            _refuse(title, name)
    return columns


def _rows(
    title: str, table: pa.RecordBatch, arena: Arena, shared: _Shared, has_gone: bool
) -> dict[str, Records]:
    names = arena.rows.dtype.names or ()
    types = {name: _type(arena.rows, name) for name in names}
    types |= {name: kind for name, kind in REFERENCES.items() if name in types}
    _check_columns(title, table, types)
    columns = {name: column_of(table, name) for name in names if name != "subscription"}
    if "subscription" in types:
        columns["subscription"] = _named(title, table.column("subscription"), shared, has_gone)
    if "publication" in types:
        serials = columns["publication"]
        at = np.searchsorted(shared.serials, serials)
        if (at == shared.serials.size).any() or (shared.serials[at] != serials).any():
            _refuse(title, "publication")
        columns["time"] = shared.times[at]
    if "matched" in types:
        is_held = np.isin(columns["matched"], shared.sets)
        if not (is_held | (columns["matched"] == ALONE)).all():
            _refuse(title, "matched")
    return columns


def _named(title: str, column: pa.DictionaryArray, shared: _Shared, has_gone: bool) -> Ints:
    """The numbers of subscriptions, -1 for those that have gone."""
    names = column.dictionary.to_pylist()
    if not shared.known.keys() >= {*names} - {None}:
        _refuse(title, "subscription")
    numbers = np.array([shared.known.get(name, -1) for name in names], np.int32)
    found: Ints = numbers[column.indices.to_numpy()]
    if not has_gone and (found < 0).any():
        _refuse(title, "subscription")
    return found


def _type(records: Records, name: str) -> pa.DataType:
    return pa.from_numpy_dtype(records.dtype[name])


def _check_columns(title: str, table: pa.RecordBatch, types: Mapping[str, pa.DataType]) -> None:
    if [*zip(table.schema.names, table.schema.types, strict=True)] != [*types.items()]:
        _refuse(title, "its columns")
    for name in types:
        if table.column(name).null_count:
            _refuse(title, name)


def _lie_within(column: Records, first: float, last: float) -> bool:
    return bool(((column >= first) & (column <= last)).all())


def _demand(holds: object, table: str, field: str) -> None:
    if not holds:
        _refuse(table, field)


def _refuse(table: str, field: str) -> None:
    raise UnusableState(f"expected a value that can be used, found another: {table!r}, {field}")
