"""Lines of a timeline: one JSON object each, a publication (it has an `id`) or a command."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from shortlist.intake.documents import Documents
from shortlist.model.command import (
    Advertise,
    Close,
    Command,
    Heartbeat,
    Item,
    Open,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.times import parse_time
from shortlist.model.vocabulary import Vocabulary

VERBS = ("subscribe", "unsubscribe", "open", "close", "advertise", "unadvertise")


class BadItem(ValueError):
    """Why a line is not an item."""


class ItemReader:
    """Reads lines under one vocabulary.

    >>> read = ItemReader(Vocabulary())
    >>> read.line('{"id": "p1", "source": "s", "time": "1970-01-01T00:00:01Z"}', position=4).time
    1000000
    >>> read.line('{"id": "p1"', position=5)
    Traceback (most recent call last):
        ...
    shortlist.intake.lines.BadItem: not JSON: column 12: Expecting ',' delimiter
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()

    def line(self, line: str | bytes, position: int) -> Item:
        """The item that a line holds, or `BadItem`."""
        return self.document(parse_json(line, self._limits), position)

    def document(self, document: object, position: int) -> Item:
        if not isinstance(document, dict):
            raise BadItem("expected a JSON object")
        if "id" not in document:
            verbs = [verb for verb in VERBS if verb in document]
            if verbs:
                return self._command(verbs, document, position)
            if document.keys() == {"time"}:
                return Heartbeat(time=_time(document, "time"), position=position)
        return self._publication(document, position)

    def _publication(self, document: Mapping[str, Any], position: int) -> Publication:
        data = document.get("data")
        if data is None:
            data = {}
        if not isinstance(data, dict):
            raise BadItem(f"data: expected an object, found {_shown(data)}")
        _check_size(data, self._limits)
        audience = document.get("audience")
        if audience is not None and (type(audience) is not int or audience < 0):
            raise BadItem(
                f"audience: expected a whole number of at least 0, found {_shown(audience)}"
            )
        version = document.get("specversion")
        if version is not None and not str(version).startswith("1."):
            raise BadItem(f"specversion: expected 1.0, found {_shown(version)}")
        return Publication(
            id=_text(document, "id"),
            source=_text(document, "source"),
            time=_time(document, "time"),
            position=position,
            type=None if document.get("type") is None else _text(document, "type"),
            expiry=None if document.get("expirytime") is None else _time(document, "expirytime"),
            audience=audience,
            data=data,
        )

    def _command(self, verbs: list[str], document: Mapping[str, Any], position: int) -> Command:
        if len(verbs) > 1:
            raise BadItem(f"expected one command, found {' and '.join(verbs)}")
        verb = verbs[0]
        others = document.keys() - {"time", verb}
        if others:
            raise BadItem(f"{min(others)}: is not a field that is known in a command")
        place = {"time": _time(document, "time"), "position": position}
        content = document[verb]
        match verb:
            case "subscribe":
                return Subscribe(subscription=self._noun(Documents.subscription, content), **place)
            case "open":
                return Open(shortlist=self._noun(Documents.shortlist, content), **place)
            case "advertise":
                return Advertise(
                    advertisement=self._noun(Documents.advertisement, content), **place
                )
        name = _text(document, verb)
        match verb:
            case "unsubscribe":
                return Unsubscribe(subscription=name, **place)
            case "close":
                return Close(shortlist=name, **place)
        return Unadvertise(advertisement=name, **place)

    def _noun(self, read: Callable[[Documents, object], Any], content: object) -> Any:
        documents = Documents(self._vocabulary, self._limits)
        noun = read(documents, content)
        if noun is None:
            raise BadItem("; ".join(str(problem) for problem in documents.problems))
        return noun


def parse_json(line: str | bytes, limits: Limits) -> object:
    """The JSON value of a line, as RFC 8259 has it: no NaN, no half characters."""
    try:
        encoded = line if isinstance(line, bytes) else line.encode()
        if len(encoded) > limits.payload_bytes:
            raise BadItem(
                f"over the size limit: {len(encoded)} of at most {limits.payload_bytes} bytes"
            )
        text = encoded.decode("utf-8-sig")
        document = json.loads(text, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(document, ensure_ascii=False).encode()
    except BadItem:
        raise
    except json.JSONDecodeError as error:
        raise BadItem(f"not JSON: column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise BadItem(f"not UTF-8: byte {error.start + 1}") from None
    except UnicodeEncodeError:
        raise BadItem("not Unicode: half of a surrogate pair") from None
    except RecursionError:
        raise BadItem("over the nesting limit") from None
    except ValueError as error:
        raise BadItem(f"not JSON: {error}") from None
    return document


def _no_constant(name: str) -> object:
    raise BadItem(f"not JSON: {name}")


def _text(document: Mapping[str, Any], field: str) -> str:
    value = document.get(field)
    if value is None:
        raise BadItem(f"{field}: is missing")
    if not isinstance(value, str) or not value:
        raise BadItem(f"{field}: expected a text that is not empty, found {_shown(value)}")
    return value


def _time(document: Mapping[str, Any], field: str) -> int:
    try:
        return parse_time(_text(document, field))
    except BadItem:
        raise
    except ValueError as error:
        raise BadItem(f"{field}: {error}") from None


def _check_size(data: Mapping[str, Any], limits: Limits) -> None:
    attributes = 0
    level: list[Any] = [data]
    for _ in range(limits.nesting + 1):
        attributes += sum(len(value) for value in level if isinstance(value, dict))
        if attributes > limits.attributes:
            raise BadItem(f"data: over the limit of {limits.attributes} attributes")
        level = [child for value in level for child in _children(value)]
        if not level:
            return
    raise BadItem(f"data: over the nesting limit of {limits.nesting}")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _shown(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=True)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
