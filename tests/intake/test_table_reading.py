"""Rows of a table are the items that their lines would have been."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from shortlist.intake.reading import LineReader
from shortlist.intake.table_reading import POSITION, TableReader, row_lines
from shortlist.intake.tables import row_publication
from shortlist.model.items import CONTEXT_COLUMNS, PUBLICATION, REJECT, Wanted
from shortlist.model.settings import Limits
from shortlist.model.times import END_OF_TIME, parse_time
from shortlist.model.vocabulary import Vocabulary
from tests.strategies import seeded

FIRST = parse_time("0001-01-01T00:00:00Z")
NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000)
TIMES = [
    (pa.string(), ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.25+01:00", "soon", "", None]),
    (pa.timestamp("us"), [NOON, datetime(1969, 12, 31, 23, 59, 59, 999_999), None]),
    (pa.timestamp("us", "UTC"), [NOON.replace(tzinfo=UTC), None]),
    (pa.timestamp("us", "Europe/Oslo"), [NOON.replace(tzinfo=UTC), datetime(2026, 7, 1)]),
    (pa.timestamp("ms"), [NOON, datetime(1905, 1, 1)]),
    (pa.timestamp("s", "America/New_York"), [NOON.replace(microsecond=0, tzinfo=UTC), None]),
    (pa.timestamp("us"), [FIRST, END_OF_TIME - 1, END_OF_TIME, FIRST - 1, 2**62, -(2**62)]),
    (pa.timestamp("us", "UTC"), [FIRST, END_OF_TIME - 1, END_OF_TIME, FIRST - 1, 2**62]),
    (pa.timestamp("us", "Europe/Oslo"), [FIRST, END_OF_TIME - 1, END_OF_TIME, 5]),
    (pa.timestamp("s"), [2**62, 2**61, 5, -(2**62)]),
    (pa.timestamp("ns"), [2**62 // 10**9 * 10**9, 5_000, None]),
    (pa.int64(), [5, None]),
    (pa.date32(), [NOON.date(), None]),
]
NAMES = [
    (pa.string(), ["p", "q", "é"]),
    (pa.string(), ["p", "q", "", None, "\0", '"', "a\nb", "😀"]),
    (pa.large_string(), ["p", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["p", "q"]),
    (pa.int64(), [1, None]),
]
INTEGERS = [0, 1, -1, 7, None, 127]
CELLS = [
    *((kind, INTEGERS) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    (pa.int64(), [2**63 - 1, -(2**63), 2**53 + 1, None]),
    (pa.uint64(), [2**64 - 1, 2**63, 3, None]),
    (pa.float64(), [0.0, -0.0, 1.5, 1e308, 5e-324, 0.1, None]),
    (pa.float64(), [float("nan"), float("inf"), -float("inf"), 2.0, None]),
    (pa.float32(), [0.1, 3.5, float("nan"), float("inf"), None]),
    (pa.float16(), [0.5, None]),
    (pa.bool_(), [True, False, None]),
    (pa.string(), ["", "a", "é\n", '"', "NaN", "true", "1", "{}", '{"a": 1}', "\\", "\x7f", None]),
    (pa.large_string(), ["a", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b", None]),
    (pa.null(), [None]),
    (pa.binary(), [b"\xff\0", None]),
    (pa.decimal128(9, 2), [1, None]),
    (pa.timestamp("us"), [NOON, None, 2**62, END_OF_TIME]),
    (pa.timestamp("us", "Europe/Oslo"), [NOON.replace(tzinfo=UTC), None]),
    (pa.date32(), [NOON.date(), None]),
    (pa.list_(pa.float64()), [[1, 2], [], [None, float("nan")], None]),
    (pa.list_(pa.string()), [["a", None], ["b"], None]),
    (pa.struct({"a": pa.int64(), "b.c": pa.string()}), [{"a": 1}, {"b.c": "x"}, {}, None]),
    (pa.struct({"a": pa.struct({"b": pa.bool_()})}), [{"a": {"b": True}}, {"a": None}, None]),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("a", None), ("b", 2)], [], None]),
]
DATA = [
    (pa.string(), ['{"x": 1, "y": {"a": 2}}', "[1]", "", "no", '{"x": NaN}', "null", "{}", None]),
    (pa.struct({"x": pa.float64(), "y": pa.string()}), [{"x": 1}, {"y": "é"}, None]),
    (pa.map_(pa.string(), pa.float64()), [[("x", 1.0)], [("x", float("nan"))], [], None]),
    (pa.int64(), [1, None]),
]
CONTEXT = {
    "type": (pa.string(), ["offer", "", None, None, None]),
    "expirytime": (pa.string(), ["2026-03-01T13:00:00Z", "never", None, None]),
    "audience": (pa.int64(), [0, 3, -1, None, None, None]),
    "replaces": (pa.string(), ["p", "", None, None]),
    "specversion": (pa.string(), ["1.0", "2.0", None, None]),
}
ATTRIBUTES = ["x", "y", "a.b", 'odd "name"', "", "position", "kind", "event", "line", "attributes"]
PATHS = frozenset([*((name,) for name in ATTRIBUTES), ("y", "a"), ("x", "a", "b"), ("gone",)])


def column(pick, choices, size):
    kind, values = pick(choices)
    return pa.array([pick(values) for _ in range(size)], kind)


def drawn_table(pick):
    """A table with most of what publications need, and columns of all types."""
    size = pick([1, 2, 5, 12, 0])
    most = pick([True, True, False])
    columns = {POSITION: pa.array(range(size), pa.int64())}
    if pick([False] * 8 + [True]):
        columns[POSITION] = pa.array([pick([at, None]) for at in range(size)], pa.int64())
    for name, choices in (("id", NAMES), ("source", NAMES), ("time", TIMES)):
        if pick([True] * 19 + [False]):
            columns[name] = column(pick, choices[: 2 if most and name != "time" else None], size)
    for name in ATTRIBUTES:
        if pick([True, False]):
            columns[name] = column(pick, CELLS[: 12 if most else None], size)
    for name, choice in CONTEXT.items():
        if pick([False] * 6 + [True]):
            columns[name] = column(pick, [choice], size)
    if pick([False] * 5 + [True]):
        columns["data"] = column(pick, DATA, size)
    order = sorted(columns, key=lambda name: pick(range(100)))
    return pa.record_batch([columns[name] for name in order], names=order)


def in_order(items, with_rejected_lines):
    """Rows by position, texts of other values as values."""
    rows = []
    for row in items.batch.to_pylist():
        attributes = {
            name: value | {"other": value["other"] and json.loads(value["other"])}
            for name, value in row["attributes"].items()
        }
        line = row["line"] if with_rejected_lines and row["kind"] == REJECT else None
        rows.append(row | {"attributes": attributes, "line": line})
    return sorted(rows, key=lambda row: (row["position"] is None, row["position"] or 0, str(row)))


def check(batch, limits, wanted, seed):
    found = TableReader(Vocabulary(), limits, wanted).items(batch)
    assert found.batch.schema == wanted.schema
    positions, rows = batch.column(POSITION).to_pylist(), row_lines(batch)
    one_by_one = LineReader(Vocabulary(), limits, wanted, commands=False, tabular=True)
    expected = one_by_one.lines(positions, rows)
    assert in_order(found, True) == in_order(expected, True), seed
    if limits == Limits():  # a publication as text is a little longer than its row
        documents = [row_publication(json.loads(row)) for row in rows]
        lines = [json.dumps(each, ensure_ascii=False).encode() for each in documents]
        read = LineReader(Vocabulary(), limits, wanted, commands=False)
        expected = read.lines(positions, lines)
        assert in_order(found, False) == in_order(expected, False), seed


def check_seeds(seeds):
    for seed in seeds:
        pick = seeded(seed)
        small = [Limits(payload_bytes=150), Limits(attributes=3), Limits(id_length=1)]
        limits = pick([Limits(), Limits(), *small, Limits(id_length=2, elements=1)])
        check(drawn_table(pick), limits, Wanted(PATHS, pick([False, False, True])), seed)


@pytest.mark.parametrize("part", range(4))
def test_a_row_is_what_its_line_would_have_been(part):
    check_seeds(range(200 * part, 200 * (part + 1)))


def test_ids_at_the_edge_of_their_length():
    names = [None, "", *(letter * length for letter in "aé" for length in (1, 3, 4, 5))]
    size = len(names)
    for field in ("id", "source", "replaces"):
        named = {"id": ["p"] * size, "source": ["s"] * size, field: names}
        times = {"time": ["2026-03-01T12:00:00Z"] * size}
        batch = pa.record_batch({POSITION: range(size), **named, **times, "x": [1] * size})
        limits = Limits(id_length=4)
        check(batch, limits, Wanted(PATHS), field)
        items = TableReader(Vocabulary(), limits, Wanted(PATHS)).items(batch)
        is_publication = dict(zip(items.positions.tolist(), items.kinds.tolist(), strict=True))
        assert [at for at in range(2, size) if is_publication[at] != PUBLICATION] == [5, 9]


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_rows(part):
    check_seeds(range(10_000 * (part + 1), 10_000 * (part + 2)))


@pytest.mark.parametrize("cells", CELLS, ids=lambda cells: str(cells[0]))
def test_every_type_of_column(cells):
    kind, values = cells
    size = len(values)
    named = {"id": ["p"] * size, "source": ["s"] * size, "time": ["2026-03-01T12:00:00Z"] * size}
    batch = pa.record_batch({POSITION: range(size), **named, "x": pa.array(values, kind)})
    check(batch, Limits(), Wanted(PATHS), kind)
    items = TableReader(Vocabulary(), Limits(), Wanted(PATHS)).items(batch)
    assert (items.kinds == PUBLICATION).all()
    assert items.batch.schema.names[: len(CONTEXT_COLUMNS)] == CONTEXT_COLUMNS.names
