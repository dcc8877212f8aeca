"""Whatever a line holds, it is an item or a `BadItem` with a short reason, and nothing else."""

import json
from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.written import item_document
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from tests.strategies import examples

TIME = "2026-03-01T09:30:00.123456Z"
VOCABULARY = Vocabulary(
    {("rent",): Attribute(type="number", terms={"cheap": Term(trapezoid=(0, 1, 2, 3))})}
)
READER = ItemReader(VOCABULARY, Limits(payload_bytes=2_000, nesting=5, attributes=20))

LINES = [
    {
        "id": "p",
        "source": "ads",
        "time": TIME,
        "expirytime": TIME,
        "audience": 3,
        "type": "t",
        "specversion": "1.0",
        "data": {"rent": 900, "tags": ["a", None, 1.5], "at": {"city": "Ås"}, "b": True},
    },
    {
        "time": TIME,
        "subscribe": {
            "id": "s",
            "where": "rent is cheap and not (a = 'x')",
            "score": "-distance(rent: 900 weight 2)",
            "weight": 2,
            "norm": {"weights": [1, 2]},
            "at_least": {"possibility": 0.5},
            "refresh": "1h",
            "profile": {"age": 4},
            "policy": {"kind": "window", "k": 1, "window": "40m"},
        },
    },
    {
        "time": TIME,
        "open": {
            "id": "l",
            "subscriber": "x",
            "policy": {"kind": "novelty", "rate": 0.5, "period": 3},
            "prefers": [["a", "b"]],
        },
    },
    {
        "time": TIME,
        "advertise": {"id": "a", "source": "ads", "k": 1, "score": "subscription.volume"},
    },
    {"time": TIME, "unsubscribe": "s"},
    {"time": TIME, "heartbeat": True},
]
TEXTS = [json.dumps(line, ensure_ascii=False).encode() for line in LINES]
PIECES = [
    b"null", b"1e999", b"-0", b"9" * 500, b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\0",
    b"[[[[[[", b'{"":', b"NaN", b'""', b"{}", b"\xef\xbb\xbf", b"'", b"\\", b"\r\n", b'"id":',
]  # fmt: skip


def read(line):
    try:
        return READER.line(line, position=7)
    except BadItem as bad:
        reason = str(bad)
    assert reason.isprintable()
    assert len(reason) < 3_000
    return None


@st.composite
def mutated(draw):
    line = bytearray(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(line)))
        end = min(len(line), start + draw(st.integers(0, 6)))
        line[start:end] = draw(st.sampled_from(PIECES) | st.binary(max_size=3))
    return bytes(line)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=8)
    | st.sampled_from([TIME, "rent is cheap", "1h", "window", "top-k", 10**400])
)
names = st.sampled_from(
    sorted(
        {
            key
            for line in LINES
            for part in (line, *line.values())
            if isinstance(part, dict)
            for key in part
        }
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.text(max_size=3), inner),
    max_leaves=12,
)


@examples(50)
@given(st.binary(max_size=200) | st.text(st.characters(codec=None), max_size=80))
def test_random_lines(line):
    assert read(line) is None


@examples(250)
@given(mutated())
@example(TEXTS[0])
@example(TEXTS[1])
def test_mutated_lines(line):
    read(line)


@examples(116)
@given(st.sampled_from(LINES), st.lists(st.tuples(names, values), max_size=3), st.booleans())
def test_values_of_any_type_in_any_field(line, changes, inside):
    document = json.loads(json.dumps(line))
    for name, value in changes:
        places = [part for part in document.values() if isinstance(part, dict)] if inside else []
        (places or [document])[0][name] = value
    read(json.dumps(document))
    with suppress(BadItem):
        READER.document(document, position=7)


def test_the_lines_themselves_are_items_and_survive_being_written():
    for text in TEXTS:
        item = read(text)
        assert item is not None
        assert READER.document(item_document(item), 7) == item
