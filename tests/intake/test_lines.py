"""Publications and commands, line by line: what is one, and why another is not."""

import json

import pytest

from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.written import item_document
from shortlist.model.command import (
    Advertise,
    Close,
    Heartbeat,
    Open,
    Retract,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    Update,
)
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

TIME = "2026-03-01T09:30:00Z"
MICROS = 1_772_357_400_000_000
RFC_3339 = "is not an RFC 3339 time such as 2026-03-01T09:30:00Z"
READER = ItemReader(Vocabulary())
TIGHT = ItemReader(Vocabulary(), Limits(attributes=3, nesting=2, payload_bytes=120))
NOT_EMPTY = "expected text that is not empty"
SURROGATE = "not JSON: half of a surrogate pair is not a character"


def read(**document):
    return READER.line(json.dumps(document), position=1)


def publication(**fields):
    return read(**{"id": "p", "source": "ads", "time": TIME, **fields})


def reason(line, reader=READER):
    with pytest.raises(BadItem) as bad:
        reader.line(line, position=1)
    assert str(bad.value).isprintable()
    return str(bad.value)


def reason_of(**fields):
    return reason(json.dumps({"id": "p", "source": "ads", "time": TIME, **fields}))


def without(name):
    fields = {"id": "p", "source": "ads", "time": TIME}
    del fields[name]
    return json.dumps(fields)


def test_a_whole_publication():
    found = publication(
        specversion="1.0",
        type="flat",
        expirytime="2026-03-01T10:30:00.5+01:00",
        audience=0,
        data={"rent": 900, "address": {"city": None}, "tags": ["a"]},
    )
    assert found == Publication(
        id="p",
        source="ads",
        time=MICROS,
        position=1,
        type="flat",
        expiry=MICROS + 500_000,
        audience=0,
        data={"rent": 900, "address": {"city": None}, "tags": ["a"]},
    )


def test_null_is_absent():
    fields = ("type", "expirytime", "audience", "data", "specversion", "subscribe")
    assert publication(**dict.fromkeys(fields)) == publication()
    nothing = dict.fromkeys(["id", "source", "data", "open"])
    assert read(time=TIME, unsubscribe="s", **nothing) == Unsubscribe(
        time=MICROS, position=1, subscription="s"
    )


def test_extension_attributes_are_ignored():
    extensions = {
        "subject": "x",
        "datacontenttype": "application/json",
        "traceparent": 5,
        "subscribe": {"id": 5},
        "time2": [None],
    }
    assert publication(**extensions) == publication()


@pytest.mark.parametrize("end", ["", "\n", "\r\n", " \t\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_marks_of_byte_order(mark, end):
    line = mark + json.dumps({"id": "é", "source": "ads", "time": TIME}, ensure_ascii=False) + end
    assert READER.line(line, 1) == READER.line(line.encode(), 1)
    assert READER.line(line, 1).id == "é"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "not JSON: column 1: Expecting value"),
        ("rent", "not JSON: column 1: Expecting value"),
        ('{"id": "p"', "not JSON: column 11: Expecting ',' delimiter"),
        ('{"id": "p"\n', "not JSON: column 11: Expecting ',' delimiter"),
        ('{"id": "p",}', "not JSON: column 12: Illegal trailing comma before end of object"),
        ("{'id': 'p'}", "not JSON: column 2: Expecting property name enclosed in double quotes"),
        ('{"id": "a\tb"}', "not JSON: column 10: Invalid control character at"),
        ("{} {}", "not JSON: column 4: Extra data"),
        ('{"data": {"rent": NaN}}', "not JSON: NaN is not a number"),
        ('{"data": {"rent": -Infinity}}', "not JSON: -Infinity is not a number"),
        (b'{"id": "\xff"}', "not JSON: byte 9 is not UTF-8"),
        (b"\xff\xfe{\0}\0", "not JSON: byte 1 is not UTF-8"),
        ("\ud800", SURROGATE),
        (r'{"id": "\ud800"}', SURROGATE),
        (r'{"data": {"a": {"\udfff": 1}}}', SURROGATE),
        (r'{"data": {"a": ["x\ud83d"]}}', SURROGATE),
        ("[" * 100_000, "not JSON: nested too deep"),
        ('{"a":' * 50_000, "not JSON: nested too deep"),
        ("9" * 5000, "not JSON: a whole number has over 4300 digits"),
        ("[]", "expected a JSON object, found []"),
        ('"p"', "expected a JSON object, found 'p'"),
        ("5", "expected a JSON object, found 5"),
        ("null", "expected a JSON object, found null"),
    ],
)
def test_what_is_not_an_object(line, why):
    assert reason(line).startswith(why.split(": Illegal trailing")[0])


def test_a_whole_surrogate_pair_is_a_character():
    assert json.dumps("😀") == r'"\ud83d\ude00"'
    assert publication(id="😀").id == "😀"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (without("id"), "id: is missing"),
        (without("source"), "source: is missing"),
        (without("time"), "time: is missing"),
        (json.dumps({"data": {}}), "id: is missing"),
    ],
)
def test_a_field_is_missing(line, why):
    assert reason(line) == why


@pytest.mark.parametrize("document", [{}, {"time": TIME}, {"time": TIME, "pause": "s"}])
def test_neither_publication_nor_command(document):
    assert reason(json.dumps(document)) == (
        "expected an id, or one of the commands "
        "subscribe, unsubscribe, open, close, update, advertise, unadvertise, define, retract"
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"id": None}, "id: is missing"),
        ({"id": ""}, f"id: {NOT_EMPTY}, found ''"),
        ({"id": 5}, f"id: {NOT_EMPTY}, found 5"),
        ({"id": ["p"]}, f"id: {NOT_EMPTY}, found ['p']"),
        ({"source": None}, "source: is missing"),
        ({"source": ""}, f"source: {NOT_EMPTY}, found ''"),
        ({"source": False}, f"source: {NOT_EMPTY}, found false"),
        ({"time": None}, "time: is missing"),
        ({"time": ""}, f"time: {NOT_EMPTY}, found ''"),
        ({"time": MICROS}, f"time: {NOT_EMPTY}, found {MICROS}"),
        ({"time": "tonight"}, f"time: 'tonight' {RFC_3339}"),
        ({"time": "2026-03-01"}, f"time: '2026-03-01' {RFC_3339}"),
        ({"time": "2026-03-01T09:30:00"}, f"time: '2026-03-01T09:30:00' {RFC_3339}"),
        ({"time": "2026-03-01 09:30:00Z"}, f"time: '2026-03-01 09:30:00Z' {RFC_3339}"),
        ({"time": "٢026-03-01T09:30:00Z"}, f"time: '٢026-03-01T09:30:00Z' {RFC_3339}"),
        ({"time": TIME + "\n"}, f"time: '{TIME}\\n' {RFC_3339}"),
        (
            {"time": "2026-02-30T09:30:00Z"},
            "time: '2026-02-30T09:30:00Z' is not a time that exists: day is out of range for month",
        ),
        (
            {"time": "2026-03-01T24:00:00Z"},
            "time: '2026-03-01T24:00:00Z' is not a time that exists: hour must be in 0..23",
        ),
        (
            {"time": "2026-03-01T09:30:00+24:00"},
            "time: '2026-03-01T09:30:00+24:00' has an offset over 23:59",
        ),
        ({"expirytime": "never"}, f"expirytime: 'never' {RFC_3339}"),
        ({"expirytime": 5}, f"expirytime: {NOT_EMPTY}, found 5"),
        ({"type": ""}, f"type: {NOT_EMPTY}, found ''"),
        ({"type": 5}, f"type: {NOT_EMPTY}, found 5"),
        ({"specversion": "0.3"}, "specversion: expected '1.0', found '0.3'"),
        ({"specversion": []}, "specversion: expected '1.0', found []"),
        ({"audience": True}, "audience: expected a whole number of at least 0, found true"),
        ({"audience": -1}, "audience: expected a whole number of at least 0, found -1"),
        ({"audience": 2.0}, "audience: expected a whole number of at least 0, found 2.0"),
        ({"audience": "2"}, "audience: expected a whole number of at least 0, found '2'"),
        ({"data": []}, "data: expected an object, found []"),
        ({"data": "x"}, "data: expected an object, found 'x'"),
        ({"data": 5}, "data: expected an object, found 5"),
        ({"data": False}, "data: expected an object, found false"),
        ({"data": {"a": [10**400]}}, "data: expected numbers up to 1.8e308, found a larger one"),
    ],
)
def test_a_field_is_wrong(fields, why):
    assert reason_of(**fields) == why


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 400])
def test_a_number_that_no_double_holds(number):
    line = '{"id": "p", "source": "ads", "time": "%s", "data": {"a": {"b": [%s]}}}'
    assert (
        reason(line % (TIME, number)) == "data: expected numbers up to 1.8e308, found a larger one"
    )


def test_a_reason_is_short_however_long_the_value():
    for field in ("id", "time", "audience", "data"):
        for value in ([["x" * 10**5]], -(10**4000), ["\n" * 10**5]):
            assert len(reason_of(**{field: value})) < 160
    assert len(reason_of(time="x" * 10**5)) < 160


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "data: expected at most 3 attributes, found more"),
        ({"a": {"b": 1, "c": 2}, "d": 3}, "data: expected at most 3 attributes, found more"),
        ({"a": [{"b": 1}, {"b": 1}, {"b": 1}]}, "data: expected at most 3 attributes, found more"),
        ({"a": [[[]]]}, "data: expected at most 2 levels of nesting, found more"),
        ({"a": {"b": {"c": 1}}}, "data: expected at most 2 levels of nesting, found more"),
        ({"a": "x" * 100}, "over the size limit: expected at most 120 bytes, found 179"),
    ],
)
def test_limits(data, why):
    line = json.dumps({"id": "p", "source": "ads", "time": TIME, "data": data})
    assert reason(line, TIGHT) == why
    assert isinstance(READER.line(line, 1), Publication)


def test_limits_that_are_just_kept():
    for data in ({"a": 1, "b": 2, "c": 3}, {"a": {"b": 1}}, {"a": [1]}):
        line = json.dumps({"id": "p", "source": "a", "time": TIME, "data": data})
        assert TIGHT.line(line, 1).data == data


COMMANDS = [
    ({"subscribe": {"id": "s", "where": "rent < 5"}}, Subscribe),
    ({"unsubscribe": "s"}, Unsubscribe),
    ({"open": {"id": "l", "subscriber": "anna"}}, Open),
    ({"close": "l"}, Close),
    ({"advertise": {"id": "a", "source": "ads", "k": 1}}, Advertise),
    ({"unadvertise": "a"}, Unadvertise),
    ({"update": {"subscription": "s", "where": None, "weight": 2}}, Update),
    ({"update": {"shortlist": "l", "policy": {"kind": "top-k", "k": 1}}}, Update),
    ({"retract": {"source": "ads", "id": "p"}}, Retract),
    ({"heartbeat": True}, Heartbeat),
]


def test_what_a_publication_replaces():
    assert publication().replaces is None
    assert publication(replaces="old").replaces == "old"
    assert reason_of(replaces=7) == f"replaces: {NOT_EMPTY}, found 7"
    assert item_document(publication(replaces="old"))["replaces"] == "old"


@pytest.mark.parametrize(("verb", "command"), COMMANDS)
def test_commands(verb, command):
    found = read(time=TIME, **verb)
    assert type(found) is command
    assert (found.time, found.position) == (MICROS, 1)
    assert READER.document(item_document(found), 1) == found


@pytest.mark.parametrize(("verb", "command"), COMMANDS)
def test_commands_need_a_time_and_nothing_else(verb, command):
    (name,) = verb
    assert reason(json.dumps(verb)) == "time: is missing"
    assert reason(json.dumps({**verb, "time": "now"})) == f"time: 'now' {RFC_3339}"
    found = reason(json.dumps({**verb, "time": TIME, "why": "x", "by": "anna"}))
    assert found == f"by: expected only time and {name} in this command"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (
            {"subscribe": {"id": "s"}, "close": "l"},
            "expected one command, found subscribe and close",
        ),
        ({"subscribe": "s"}, "subscribe: expected an object, found 's'"),
        ({"open": []}, "open: expected an object, found []"),
        ({"advertise": 5}, "advertise: expected an object, found 5"),
        ({"unsubscribe": {"id": "s"}}, f"unsubscribe: {NOT_EMPTY}, found {{id: 's'}}"),
        ({"close": ""}, f"close: {NOT_EMPTY}, found ''"),
        ({"unadvertise": 5}, f"unadvertise: {NOT_EMPTY}, found 5"),
        ({"heartbeat": 1}, "heartbeat: expected true, found 1"),
        ({"subscribe": {}}, "subscription: id: is missing"),
        ({"update": "s"}, "update: expected an object, found 's'"),
        (
            {"update": {"where": "x > 1"}},
            "update: expected a subscription or a shortlist, found neither",
        ),
        (
            {"update": {"subscription": "s", "shortlist": "l", "weight": 2}},
            "update: expected a subscription or a shortlist, found subscription and shortlist",
        ),
        ({"update": {"shortlist": "l"}}, "update: expected a field to change, found none"),
        ({"update": {"shortlist": "", "combine": "sum"}}, f"shortlist: {NOT_EMPTY}, found ''"),
        (
            {"update": {"subscription": "s", "id": "t"}},
            "update: id: expected none, since ids do not change",
        ),
        ({"retract": {"id": "p"}}, "source: is missing"),
        ({"retract": {"source": "ads", "id": 7}}, f"id: {NOT_EMPTY}, found 7"),
        (
            {"retract": {"source": "ads", "id": "p", "why": "sold"}},
            "retract: why: expected only source and id",
        ),
        (
            {"open": {"id": "l", "policy": {"kind": "top-k", "k": 0}}},
            "shortlist 'l': subscriber: is missing; "
            "shortlist 'l': policy.k: expected a whole number of at least 1, found 0",
        ),
        (
            {"advertise": {"id": "a", "source": "ads", "k": 1, "where": ""}},
            "advertisement 'a': where: column 1: expected a condition, found the end of the text",
        ),
        ({"id": "s", "unsubscribe": "s"}, "source: is missing"),
    ],
)
def test_a_command_is_wrong(command, why):
    assert reason(json.dumps({"time": TIME, **command})) == why


def test_a_command_that_nests_too_deep_is_a_bad_item():
    profile = "{" + '"a": {' * 600 + "}" * 600 + "}"
    line = f'{{"time": "2026-03-01T00:00:00Z", "subscribe": {{"id": "s", "profile": {profile}}}}}'
    with pytest.raises(BadItem, match="expected at most 32 levels of nesting"):
        ItemReader(Vocabulary()).line(line, 1)
