"""What reads JSON quickly says what the reader says that has the words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.intake.json_text import (
    MOST_HOLDERS,
    NotJson,
    parse_bytes,
    parse_registry,
    parse_text,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
ODD = [
    b"-0",
    b"1e400",
    b"-1E-400",
    b"NaN",
    b"[-Infinity]",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"0.12345678901234567890123",
    b"1" * 5000,
    b"01",
    b"",
    b" \t\r\n",
    b" 1 \n",
    b"\x0b1",
    b"[1,]",
    b'{"a":1,"b":2,"a":3}',
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\xed\xa0\x80"',
    b'"\xff"',
    b'"\x00"',
    b"\xef\xbb\xbf{}",
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
    *(b"[" * depth + b"]" * depth for depth in (MOST_HOLDERS, MOST_HOLDERS + 1, 1010, 100_000)),
]


def told(parse, text):
    try:
        return repr(parse(text))
    except NotJson as error:
        return f"not JSON: {error}"


def told_slowly(encoded):
    try:
        text = encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"not JSON: byte {error.start + 1} is not UTF-8"
    return told(parse_text, text)


@pytest.mark.parametrize("encoded", ODD, ids=lambda encoded: repr(encoded[:20]))
def test_odd_texts(encoded):
    assert told(parse_bytes, encoded) == told_slowly(encoded)


@given(values, st.booleans(), st.integers(0, 40), st.sampled_from(["", "}", ",", "9", '"', "\\"]))
def test_any_text(value, is_ascii, place, piece):
    text = json.dumps(value, ensure_ascii=is_ascii)
    encoded = (text[:place] + piece + text[place:]).encode(errors="replace")
    assert told(parse_bytes, encoded) == told_slowly(encoded)


def test_keys_that_stand_twice_are_told_where_somebody_asks():
    with pytest.raises(NotJson, match="the key 'a' stands twice"):
        parse_registry(b'{"a": 1, "a": 2}')
