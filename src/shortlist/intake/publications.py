"""Publications as documents, and what is wrong with lines: what commands need is imported by those
who read them (`lines`)."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from shortlist.intake.json_text import NotJson, parse_bytes
from shortlist.model.problem import Problem
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.times import parse_time, said_time
from shortlist.model.wording import one_line, shown

VERBS = (
    "subscribe",
    "unsubscribe",
    "open",
    "close",
    "update",
    "advertise",
    "unadvertise",
    "define",
    "retract",
    "heartbeat",
)

OPERATORS = ("retry", "drop")
"""The commands of an operator, which nobody is told of."""
EVERY_VERB = (*VERBS, *OPERATORS)

LARGEST = sys.float_info.max


class BadItem(ValueError):
    """Why a line is not an item; where that is known, with the problems and their places."""

    def __init__(self, reason: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(one_line(reason))
        self.problems = tuple(problems)


def verbs_in(document: object) -> list[str]:
    """The commands that a JSON value names; none, if it is a publication."""
    if not isinstance(document, dict):
        raise BadItem(f"expected a JSON object, found {shown(document)}")
    if document.get("id") is not None:
        return []
    verbs = _given(document, EVERY_VERB)
    if not verbs and not _given(document, ("source", "data", "specversion")):
        raise BadItem(f"expected an id, or one of the commands {', '.join(VERBS[:-1])}")
    return verbs


def _given(document: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [name for name in names if document.get(name) is not None]


def publication_of(document: Any, position: int, time: int | None, limits: Limits) -> Publication:
    """The publication that a JSON value describes, or `BadItem`; with a `time` it is of that time,
    whatever it says itself."""
    verbs = verbs_in(document)
    if verbs:
        raise BadItem(f"expected a publication, found the command {verbs[0]}")
    publication = Publication(
        id=id_at(document, "id", limits),
        source=id_at(document, "source", limits),
        time=time_at(document, "time") if time is None else time,
        event_time="time" if time is None else said_time(document),
        position=position,
        type=None if document.get("type") is None else text_at(document, "type"),
        expiry=None if document.get("expirytime") is None else time_at(document, "expirytime"),
        audience=_audience(document.get("audience")),
        replaces=None if document.get("replaces") is None else id_at(document, "replaces", limits),
        data=_data(document.get("data"), limits),
    )
    version = document.get("specversion")
    if version is not None and not str(version).startswith("1."):
        raise BadItem(f"specversion: expected '1.0', found {shown(version)}")
    return publication


def parse_json(line: str | bytes, limits: Limits) -> object:
    """The JSON value of a line, as RFC 8259 has it: no NaN, no half characters."""
    try:
        encoded = line if isinstance(line, bytes) else line.encode()
    except UnicodeEncodeError:
        raise BadItem("not JSON: half of a surrogate pair is not a character") from None
    size, most = len(encoded), limits.payload_bytes
    if size > most:
        raise BadItem(f"over the size limit: expected at most {most} bytes, found {size}")
    try:
        return parse_bytes(encoded)
    except NotJson as error:
        raise BadItem(f"not JSON: {error}") from None


def text_at(document: Mapping[str, Any], field: str) -> str:
    value = document.get(field)
    if value is None:
        raise BadItem(f"{field}: is missing")
    if not isinstance(value, str) or not value:
        raise BadItem(f"{field}: expected text that is not empty, found {shown(value)}")
    return value


def id_at(document: Mapping[str, Any], field: str, limits: Limits) -> str:
    """The id or the source in a field."""
    text = text_at(document, field)
    message = limits.length_problem(text)
    if message is not None:
        raise BadItem(f"{field}: {message}")
    return text


def time_at(document: Mapping[str, Any], field: str) -> int:
    text = text_at(document, field)
    try:
        return parse_time(text)
    except ValueError as error:
        raise BadItem(f"{field}: {error}") from None


def _audience(value: object) -> int | None:
    if value is None or (type(value) is int and value >= 0):
        return value
    raise BadItem(f"audience: expected a whole number of at least 0, found {shown(value)}")


def _data(value: object, limits: Limits) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadItem(f"data: expected an object, found {shown(value)}")
    check_size(value, limits)
    return value


def check_size(data: dict[str, Any], limits: Limits) -> None:
    """Raise `BadItem` where data holds too much, at all levels together, or nests too deep."""
    attributes = elements = depth = 0
    level: list[Any] = [data]
    while level:
        if depth > limits.nesting:
            raise BadItem(f"data: expected at most {limits.nesting} levels of nesting, found more")
        attributes += sum([len(value) for value in level if type(value) is dict])
        if attributes > limits.attributes:
            raise BadItem(f"data: expected at most {limits.attributes} attributes, found more")
        elements += sum([len(value) for value in level if type(value) is list])
        if elements > limits.elements:
            raise BadItem(f"data: expected at most {limits.elements} elements of lists, found more")
        level = _children(level)
        depth += 1


def _children(level: list[Any]) -> list[Any]:
    children: list[Any] = []
    for value in level:
        kind = type(value)
        if kind is dict:
            children += value.values()
        elif kind is list:
            children += value
        elif (kind is float or kind is int) and abs(value) > LARGEST:
            raise BadItem("data: expected numbers up to 1.8e308, found a larger one")
    return children
