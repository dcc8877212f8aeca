"""Lines in bulk are read as one by one, and their columns are what matching would have read."""

import json
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.intake import reading
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.reading import LineReader, items_of
from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.command import Heartbeat
from shortlist.model.items import (
    BLANK,
    COMMAND,
    CONTEXT_COLUMNS,
    HEARTBEAT,
    REJECT,
    Wanted,
)
from shortlist.model.paths import CONTEXT, format_path
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.times import parse_time, parse_times
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from tests.intake.test_lines_fuzz import PIECES, TEXTS, TIME, VOCABULARY, mutated, names, values
from tests.strategies import examples, seeded

LIMITS = Limits(payload_bytes=2_000, nesting=5, attributes=20)
PATHS = frozenset([("rent",), ("tags",), ("at",), ("at", "city"), ("b",), ("",), ("x",)])
USUAL = {"id": "p", "source": "ads", "time": TIME}
DATA = {"rent": 900, "tags": ["a", None, 1.5], "at": {"city": "Ås"}, "b": True, "x": "é"}


NO_VALUE = {"number": None, "text": None, "other": None}
NOTHING = {
    **dict.fromkeys(CONTEXT_COLUMNS.names),
    "position": 7,
    "attributes": {format_path(path): NO_VALUE for path in PATHS},
}


BOM = b"\xef\xbb\xbf"


def one_by_one(read, line, wanted):
    """The columns of one line, by the rules."""
    text = line.decode(errors="replace")
    if not line.strip():
        return NOTHING | {"kind": BLANK}
    try:
        item = read.line(line, 7)
    except BadItem as bad:
        return NOTHING | {"kind": REJECT, "line": text, "reason": str(bad)}
    if isinstance(item, Publication):
        items, _ = items_of([item], wanted)
        return items.batch.to_pylist()[0] | {"line": text}
    kind = HEARTBEAT if isinstance(item, Heartbeat) else COMMAND
    return NOTHING | {"kind": kind, "time": item.time, "line": text}


def as_floats(row):
    """A row with lists and objects as values, all of their numbers floats, as they become later."""
    attributes = {
        name: value | {"other": value["other"] and json.loads(value["other"], parse_int=float)}
        for name, value in row["attributes"].items()
    }
    return row | {"attributes": attributes}


def exactly(row):
    """With a sign for 0.0, too."""
    return json.dumps(row, sort_keys=True)


def check(lines, limits=LIMITS, commands=True, data=True):
    wanted = Wanted(PATHS, data)
    read = ItemReader(VOCABULARY, limits, commands)
    bulk = LineReader(VOCABULARY, limits, wanted, commands)
    expected = [as_floats(one_by_one(read, line, wanted)) for line in lines]
    for many in (0, len(lines) + 1):
        with patch.object(reading, "MANY", many):
            found = bulk.lines([7] * len(lines), lines)
        assert found.batch.schema == wanted.schema
        for line, row, wanted_row in zip(lines, found.batch.to_pylist(), expected, strict=True):
            assert exactly(as_floats(row)) == exactly(wanted_row), line
    check_by_arrival(lines, limits, commands, data)


def check_by_arrival(lines, limits, commands, data):
    """Of lines that count by the time at which a log took them, the same is found in bulk."""
    read = LineReader(VOCABULARY, limits, Wanted(PATHS, data), commands, by_arrival=True)
    found = []
    for many in (0, len(lines) + 1):
        with patch.object(reading, "MANY", many):
            found.append(read.lines(range(len(lines)), lines, [5] * len(lines)).batch.to_pylist())
    assert exactly(found[0]) == exactly(found[1])


def usual(data=DATA, **others):
    return json.dumps({**USUAL, "data": data, **others}, ensure_ascii=False).encode()


def raw(value, field="rent"):
    """A usual line with JSON text for a value."""
    return usual({"rent": 1}).replace(b'"rent": 1', b'"%s": %s' % (field.encode(), value))


def extended(value):
    """A line with JSON text for an attribute that says nothing to anybody."""
    return usual()[:-1] + b', "subject": %s}' % value


ODD_VALUES = [
    b"NaN", b"-Infinity", b"1e999", b"-1e999", b"1e308", b"-0", b"-0.0", b"01", b"1.", b".5", b"+1",
    b"0x1", b"1_0", b"1e", b"18446744073709551615", b"18446744073709551616", b"9" * 40, b"9" * 400,
    b"9" * 1_500, b"-9223372036854775808", b"-9223372036854775809", b"-" + b"9" * 30, b"1e-400",
    b"0." + b"3" * 100, b"123456789012345678901234567890.5", b'"e+"', b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\\ud83d\\ude00"', b'"\xed\xa0\x80"', b'"\xff"', b'"\t"', b'"\0"', b'"\x7f"', b'"\\u0000"',
    b'"\\x41"', b'"\\/"', b'"\\', b"'a'", b"tru", b"True", b"null", b"[1,]", b"[,]", b"{}", b"[]",
    b'{"a": 1, "a": 2}', b'{"a": 1,}', b"[" * 5 + b"]" * 5, b"[" * 6 + b"]" * 6,
    b"[9%s]" % (b"9" * 30),
    b"[" * 500 + b"]" * 500, b'{"a":' * 5 + b"1" + b"}" * 5, b"[1e999]", b"[NaN]", b"/**/1",
    b"1 // x",
    b'"\xc2\x85"', b'"\xe2\x80\xa8"', b'"\xef\xbf\xbf"', b'"\xf4\x90\x80\x80"', b"\xc2\xa01",
    b'{"": 1}',
]  # fmt: skip
SIMPLE_VALUES = [
    b"0", b"-0", b"-0.0", b"0.0", b"0.1", b"-7.25", b"00", b"00.5", b"-", b"-.5", b"1.5.5", b"--1",
    b"123456789012345", b"1234567890123456", b"12345678901234.5", b"0.000000000000001",
    b"0.0000000000000001", b"-999999999999999", b"999999999999.999", b"5 ", b"5,", b'""', b'"a"',
    b'"a', b"5}", b"1-2", b"1e5", b"1E5", b"0e0", b"\xc3\xa9", b'"\xc3\xa9"', b'"\xc3"', b"7\t",
    b'9, "rent": "a"', b'"a", "rent": 9', b'9, "rent": null',
]  # fmt: skip
ODD_ENDS = [b"", *(bytes([each]) for each in b" \n\r\t\x0b\x0c\0,}x\xa0"), b"\r\n", b"{}"]
ODD_STARTS = [b"", *(bytes([each]) for each in b" \n\0\x0c\xa0"), BOM, BOM * 2, b"\xff\xfe"]
ODD_LINES = [
    b"", b" ", b"\t\r\n", b"\x0c", b"\xef\xbb\xbf", b"\xc2\xa0", b"null", b"1", b'"id"', b"[]",
    b"{}", b"[" * 5_000, b"{", b"\0", usual({"x": "a" * 2_000}),
    usual({str(n): n for n in range(20)}),
    usual({str(n): n for n in range(21)}), usual({"a": {str(n): n for n in range(20)}}),
    usual().replace(b'"id"', b'"id": "a", "id"'), usual().replace(b'"time"', b'"time": 7, "time"'),
    usual().replace(b'"data"', b'"data": 1, "data"'),
    usual().replace(b'"rent"', b'"rent": 1, "rent"'),
    usual(subscribe={"id": "x"}), usual().replace(b'"id"', b'"\\u0069d"'),
]  # fmt: skip
TIMES = [
    TIME, "2026-03-01T09:30:00Z", "2026-03-01T09:30:00.123Z", "2026-03-01t09:30:00z",
    "2026-02-29T00:00:00Z", "2028-02-29T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T23:59:60Z",
    "2026-12-31T23:59:60.5Z", "2026-03-01T09:30:00+01:00", "2026-03-01T09:30:00.1234567Z",
    "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:60Z", "2026-03-01 09:30:00Z", "2026-03-01T09:30:00", "2026-3-01T09:30:00Z",
    "２026-03-01T09:30:00Z", "2026-03-01T09:30:0٣Z", "+026-03-01T09:30:00Z",
    "2026-03-01T09:30:00,123Z", "2026-03-01T093000.12Z", "2026-03-01T09:30Z", "tonight", "",
    " " + TIME, TIME + " ", "1000-01-01T00:00:00Z", "1677-09-21T00:12:43.145Z",
    "2026-03-01T09:30:00.12 Z", "2026-03-01T09:60:00Z", "2026-13-01T09:30:00Z",
    "2026-00-01T09:30:00Z", "2026-01-00T09:30:00Z", "2026-03-01T09:30:-1Z",
]  # fmt: skip


@pytest.mark.parametrize("data", [True, False])
@pytest.mark.parametrize("commands", [True, False])
def test_odd_lines(data, commands):
    lines = [start + usual() + end for start in ODD_STARTS for end in ODD_ENDS]
    lines += [*map(raw, ODD_VALUES), *map(extended, ODD_VALUES), *ODD_LINES, *TEXTS]
    lines += [*map(raw, SIMPLE_VALUES), *FLAT]
    lines += [raw(value, "\\u0072ent") for value in ODD_VALUES]
    for line in lines:
        check([line], data=data, commands=commands)
    check(lines, data=data, commands=commands)


def test_limits_at_their_edges():
    lines = [raw(value) for value in ODD_VALUES] + [usual(), usual({}), usual({"a": 1, "b": {}})]
    for nesting in range(4):
        check(lines, Limits(nesting=nesting, attributes=nesting))
    for size in range(len(usual()) - 2, len(usual()) + 2):
        check([usual()], Limits(payload_bytes=size))


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600"])
@pytest.mark.parametrize("field", ["id", "source", "replaces"])
def test_ids_at_the_edge_of_their_length(field, letter):
    limits = Limits(id_length=6)
    lines = [usual({"rent": 1}, **{field: letter * length}) for length in range(8)]
    # ids in a line without any other character beyond ASCII are read in place
    check(lines, limits)
    check(lines, limits, data=False)
    read = LineReader(VOCABULARY, limits, Wanted(PATHS))
    kinds = read.lines(range(len(lines)), lines).kinds.tolist()
    assert [kind == REJECT for kind in kinds] == [not 1 <= length <= 6 for length in range(8)]


def test_elements_of_lists_at_their_edge():
    limits = Limits(elements=5)
    some = [[0] * 5, [0] * 6, [[0] * 2] * 2, [[], [], [[0]]], [[], [], [[0, 0]]]]
    lines = [usual({"a": value}) for value in some]
    lines += [usual({"a": [1, 2, 3], "b": [1, 2]}), usual({"a": [1, 2, 3], "b": {"c": [1, 2, 3]}})]
    check(lines, limits)
    read = LineReader(VOCABULARY, limits, Wanted(PATHS))
    reasons = read.lines(range(len(lines)), lines).values("reason")
    said = "data: expected at most 5 elements of lists, found more"
    assert reasons == [None, said, said, None, said, None, said]


def test_generated_lines_at_the_edges_of_limits():
    for seed in range(150):
        pick = seeded(seed)
        limits = Limits(
            id_length=pick([1, 3, 4]),
            elements=pick([0, 2, 5]),
            attributes=pick([1, 3, 20]),
            nesting=pick([1, 2, 5]),
            payload_bytes=pick([90, 2_000]),
        )
        lines = []
        for _ in range(6):
            data = {
                key: pick([1, "é", [], [1], [1, [2]], [[], []], {"c": [1, 2]}, [0] * 5, [{}] * 3])
                for key in "abcd"[: pick(range(5))]
            }
            ids = {
                name: pick(["p", "abc", "éøå", "abcd", "éøåæ", "abcde"])
                for name in ("id", "source")
            }
            lines.append(usual(data, **ids))
        check(lines, limits, data=pick([True, False]))


def test_what_is_nested_too_deep_where_nobody_looks():
    for depth in (2, 500, 1_010, 2_000, 100_000):
        check([extended(b"[" * depth + b"]" * depth)], Limits())
        check([extended(b'{"a":' * depth + b"1" + b"}" * depth)], Limits())
        check([raw(b"[" * depth + b"]" * depth)], Limits())


def test_values_of_any_type_in_every_field():
    for field in (
        "id",
        "source",
        "time",
        "data",
        "type",
        "expirytime",
        "audience",
        "replaces",
        "specversion",
        "subject",
    ):
        some = [None, True, 0, -1, 2**70, 1.5, "", "a", TIME, [], ["a"], {}, {"a": 1}]
        lines = [json.dumps({**USUAL, "data": DATA, field: value}).encode() for value in some]
        lines += [
            json.dumps({"time": TIME, "heartbeat": True, field: each}).encode() for each in some
        ]
        check(lines)
    missing = [{name: USUAL[name] for name in USUAL if name != gone} for gone in USUAL]
    check([json.dumps(each).encode() for each in missing])


@pytest.mark.parametrize("time", TIMES)
def test_times(time):
    check([usual(time=time)])
    check([usual(time=TIME), usual(time=time)])


def mutations(pick, texts):
    """A line with a few bytes changed."""
    line = bytearray(pick(texts))
    for _ in range(pick([0, 1, 1, 2, 3])):
        start = pick(range(len(line) + 1))
        end = min(len(line), start + pick(range(7)))
        line[start:end] = pick([pick(PIECES), bytes([pick(range(256))]), pick(ODD_VALUES)])
    return bytes(line)


FLAT = [
    usual({"rent": 1.5, "b": 90, "x": "é"}),
    usual({"x": "", "rent": -0.25, "other": 12345678901234, "tags": "a"}),
    b'{"data":{"rent":7},"id":"p","source":"ads","time":"2026-03-01T09:30:00.123456Z"}',
    b'{ "source" : "ads" , "id" : "p" , "time" : "2026-03-01T09:30:00Z" , "data" : { } }',
    usual({"rent": 2}, specversion="1.0", type="flat.offered", expirytime=TIME),
    usual({"x": "a"}, specversion="1.0", type="é", subject="", datacontenttype="a/b", n=-1.5),
]
"""Simple lines: those that are read in bulk."""
BASES = [usual(), usual(), usual({}), usual(subject="a"), *FLAT, *TEXTS]


CONTEXT_VALUES = [
    b"null", b'"1.0"', b'"1.1"', b'"1."', b'"2.0"', b'"1.0 "', b'" 1.0"', b'"1\\u002e0"', b"1.0",
    b"1.5", b"1", b'"\\u0061"', b'"a"', b'""', b'"%s"' % TIME.encode(), b'"tonight"', b"true",
    b"[]", b"{}", b"01", b"7", b'"\xc3\xa9"', b'"\xc3"',
]  # fmt: skip
CONTEXT_NAMES = [
    *("specversion", "type", "expirytime", "subject", "datacontenttype", "dataschema"),
    *("audience", "replaces", "id", "subscribe", "", "shortlistlink"),
]


def with_context(members):
    """A simple line with JSON texts for further members, which may be there twice."""
    further = b"".join(b', "%s": %s' % (name.encode(), value) for name, value in members)
    return usual({"rent": 1})[:-1] + further + b"}"


@pytest.mark.parametrize("data", [True, False])
def test_what_a_line_says_of_itself(data):
    check(
        [with_context([(name, value)]) for name in CONTEXT_NAMES for value in CONTEXT_VALUES],
        data=data,
    )
    pick = seeded(1)
    drawn = [
        [(pick(CONTEXT_NAMES), pick(CONTEXT_VALUES)) for _ in range(pick([2, 3, 4]))]
        for _ in range(2_000)
    ]
    check([*map(with_context, drawn)], data=data)


def test_simple_lines_are_read_without_an_object_for_each():
    read = LineReader(VOCABULARY, LIMITS, Wanted(PATHS))
    with (
        patch.object(reading, "MANY", 0),
        patch.object(LineReader, "_one_by_one", side_effect=AssertionError),
    ):
        items = read.lines(range(len(FLAT)), FLAT)
    assert items.values("type") == [None] * 4 + ["flat.offered", "é"]
    assert items.values("expiry") == [None] * 4 + [parse_time(TIME), None]


def test_only_what_is_unusual_is_read_by_all_rules():
    read = LineReader(VOCABULARY, LIMITS, Wanted(PATHS, data=True))
    with patch.object(LineReader, "_slowly", side_effect=AssertionError):
        items = read.lines([1], [usual(specversion="1.0", type="offer", subject="a")])
    assert items.values("type") == ["offer"]


def check_mutations(seeds):
    for seed in seeds:
        pick = seeded(seed)
        lines = [mutations(pick, BASES) for _ in range(pick([1, 4, 12]))]
        check(lines, commands=pick([True, False]), data=pick([True, False]))


@pytest.mark.parametrize("part", range(3))
def test_mutated_lines(part):
    check_mutations(range(200 * part, 200 * (part + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_many_mutated_lines(part):
    check_mutations(range(10_000 * (part + 1), 10_000 * (part + 2)))


@given(st.lists(mutated() | st.binary(max_size=40), max_size=5))
@example([TEXTS[0]])
def test_drawn_lines(lines):
    check(lines)


@examples(30)
@given(
    st.dictionaries(names | st.sampled_from(["rent", "tags", "at", "x", ""]), values), st.booleans()
)
def test_drawn_documents(document, inside):
    made = {**USUAL, "data": document} if inside else {**USUAL, "data": DATA, **document}
    try:
        line = json.dumps(made, ensure_ascii=False).encode(errors="surrogatepass")
    except ValueError:  # an integer of too many digits
        return
    check([line, json.dumps(made).encode()])


def test_times_in_bulk_are_those_of_one():
    def alone(text):
        try:
            return parse_time(text)
        except ValueError:
            return None

    draw = Random(4)
    for text in TIMES:
        assert parse_times([text]) == [alone(text)], text
    for _ in range(3_000):
        text = list(draw.choice(TIMES[:9]))
        for _ in range(draw.choice([1, 2])):
            text[draw.randrange(len(text))] = draw.choice("0123456789-:.TtZz+ ,")
        text = "".join(text)
        assert parse_times([text]) == [alone(text)], text


KINDS = [
    Attribute(),
    Attribute(type="number"),
    Attribute(type="string"),
    Attribute(type="time"),
    Attribute(type="vector"),
    Attribute(many=True),
    Attribute(type="string", many=True),
    Attribute(type="number", many=True),
    Attribute(type="time", many=True),
    Attribute(type="number", terms={"cheap": Term(trapezoid=(0, 1, 2, 3))}),
    Attribute(type="string", terms={"bright": Term(values={"a": 1, "b": 0.4})}),
]
WORDS = ["a", "b", "", "é", "red car", "2026-01-01", TIME, "2026-01-01T25:00:00Z", "true", "1"]
NUMBERS = [0, 1, -1, 2.5, -0.0, 1e300, 10**30, 2**63, 2**64, 5e-324]
FUZZY = [
    {"term": "cheap"}, {"term": "bright"}, {"term": "none"}, {"between": [1, 2]},
    {"between": [2, 1]},
    {"trapezoid": [0, 1, 2, 4]}, {"trapezoid": [0, 1, 2, 4], "shape": "smooth"},
    {"trapezoid": [None, 1, 2, 4]}, {"trapezoid": [4, 1, 2, 0]}, {"trapezoid": [0, 1, 2, 10**30]},
    {"values": {"a": 1, "c": 0.5}}, {"values": {"a": 2}}, {"values": {}}, {}, {"x": 1},
    {"around": [1, 2]}, {"trapezoid": [0, 1, 2, "x"]}, {"trapezoid": [0, 1, 2, True]},
]  # fmt: skip
LISTS = [
    [], ["a"], ["a", "b", "a"], ["a", 1], [1, 2], [1.5, True], [None], ["a", None], [TIME,
    "a"], [[1]],
    [{"term": "cheap"}], ["2026-01-01"], [10**30, 1], [""],
]  # fmt: skip
FAMILIES = [WORDS, NUMBERS, [*NUMBERS, *FUZZY], FUZZY, LISTS, [*WORDS, *LISTS], [True, False]]
ANY = [value for family in FAMILIES for value in family]
NESTED = [("at", "city"), ("at", "a b", "c")]


def drawn_publications(pick):
    columns = {}
    for name in "abcde":
        family = pick([*FAMILIES, ANY])
        columns[name] = family + [None] * pick([0, len(family)])
    some = []
    for number in range(pick([1, 2, 5, 12, 30])):
        data = {name: pick(family) for name, family in columns.items() if pick([True, True, False])}
        inner = pick([{"city": pick(ANY)}, {"a b": {"c": pick(ANY)}}, {"a b": 1}, "x", None, {}])
        some.append(
            Publication(
                id=pick(["p", f"p{number}"]),
                source=pick(["s", "é"]),
                time=pick([0, number, 10**15]),
                position=number,
                type=pick([None, "offer"]),
                data=pick([data, data, {**data, "at": inner}]),
            )
        )
    return some


def check_column(one, other):
    """The same value at every place, however several of them are kept together."""
    for name in ("present", "numbers", "times", "is_time", "booleans"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert {*one.fuzzy.tolist()} == {*other.fuzzy.tolist()}
    places = range(one.present.size)
    assert [*map(one.value, places)] == [*map(other.value, places)]


def check_columns(seeds):
    for seed in seeds:
        pick = seeded(seed)
        paths = [*((name,) for name in "abcde"), *NESTED]
        vocabulary = Vocabulary({path: pick(KINDS) for path in paths if pick([True, True, False])})
        published, known = drawn_publications(pick), Values(vocabulary)
        wanted = Wanted(frozenset(paths), data=pick([True, False]))
        items, _ = items_of(published, wanted)
        documents = [
            {**USUAL, "id": each.id, "source": each.source, "type": each.type, "data": each.data}
            for each in published
        ]
        lines = [json.dumps(document).encode() for document in documents]
        read = LineReader(vocabulary, Limits(), wanted).lines(range(len(lines)), lines)
        assert read.batch["attributes"] == items.batch["attributes"], seed
        plain = Block.of_readers([known.of(each) for each in published])
        block = Block.of_items(items, known)
        for path in (*paths, *CONTEXT, ("none",)):
            check_column(block.column(path), plain.column(path))
            for place, each in enumerate(published):
                assert block.value(place, path) == known.read(each, path), (seed, path)


@pytest.mark.parametrize("part", range(2))
def test_columns_of_items_are_those_of_publications(part):
    check_columns(range(100 * part, 100 * (part + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_columns_of_items(part):
    check_columns(range(5_000 * (part + 1), 5_000 * (part + 2)))
