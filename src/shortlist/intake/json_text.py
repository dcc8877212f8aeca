"""JSON as RFC 8259 has it: what Python's reader lets through beside it is refused here."""

import json
import re
from typing import Any

import orjson

from shortlist.model.wording import MOST_DIGITS, TOO_LONG, shown

MOST_HOLDERS = 256
"""Objects and lists in a text, up to which no reader takes it for nested too deep."""
LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""Of more digits than what reads quickly is sure to keep."""


class NotJson(ValueError):
    """Why a text is not one JSON value."""


def parse_bytes(encoded: bytes) -> object:
    """The value that UTF-8 text holds, with or without a byte order mark.

    >>> parse_bytes(b'\\xff')
    Traceback (most recent call last):
    shortlist.intake.json_text.NotJson: byte 1 is not UTF-8
    """
    holders = encoded.count(b"{") + encoded.count(b"[")
    if holders <= MOST_HOLDERS and not LONG_NUMBER.search(encoded):
        try:
            return orjson.loads(encoded)
        except orjson.JSONDecodeError:
            pass  # most often it is none, and below are the words for why
    return parse_text(_text(encoded))


def parse_registry(text: str | bytes) -> object:
    """The value that a part of a registry holds: no object may name a key twice, and the reader of
    a field says what is wrong with a whole number of too many digits.

    >>> parse_registry('{"k": 2, "k": 3}')
    Traceback (most recent call last):
    shortlist.intake.json_text.NotJson: the key 'k' stands twice in one object
    """
    return _parsed(_text(text) if isinstance(text, bytes) else text, REGISTRY)


def parse_text(text: str, distinct: bool = False) -> object:
    """The value that a text holds; with `distinct` no object may name a key twice.

    >>> parse_text('{"rent": NaN}')
    Traceback (most recent call last):
    shortlist.intake.json_text.NotJson: NaN is not a number
    """
    return _parsed(text, DISTINCT if distinct else ANY)


def _text(encoded: bytes) -> str:
    try:
        return encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.start + 1} is not UTF-8") from None


def _parsed(text: str, decoder: json.JSONDecoder) -> object:
    if text.startswith("\ufeff"):
        raise NotJson("column 1: Unexpected UTF-8 BOM (decode using utf-8-sig)")
    try:
        value = decoder.decode(text.rstrip(" \t\r\n"))  # no message points beyond the last line
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except NotJson:
        raise
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise NotJson(f"{line}column {error.colno}: {error.msg}") from None
    except UnicodeEncodeError:
        raise NotJson("half of a surrogate pair is not a character") from None
    except RecursionError:
        raise NotJson("nested too deep") from None
    except ValueError:  # only the conversion of very long integers is left
        raise NotJson(f"a whole number has over {MOST_DIGITS} digits") from None
    return value


def distinct_keys(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The object of these pairs, unless a key stands in it twice.

    >>> distinct_keys([("id", 1), ("id", 2)])
    Traceback (most recent call last):
    shortlist.intake.json_text.NotJson: the key 'id' stands twice in one object
    """
    value: dict[Any, Any] = {}
    for key, part in pairs:
        if key in value:
            raise NotJson(f"the key {shown(key)} stands twice in one object")
        value[key] = part
    return value


def _refuse_constant(name: str) -> object:
    raise NotJson(f"{name} is not a number")


ANY = json.JSONDecoder(parse_constant=_refuse_constant)


def _whole(digits: str) -> int:
    return int(digits) if len(digits.lstrip("-")) <= MOST_DIGITS else TOO_LONG


DISTINCT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=distinct_keys)
REGISTRY = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=distinct_keys, parse_int=_whole
)
