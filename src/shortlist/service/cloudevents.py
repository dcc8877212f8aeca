"""CloudEvents over HTTP: structured, batched and binary, to the documents that they are."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from shortlist.client.sending import MOST_LINES
from shortlist.intake.lines import BadItem, parse_json
from shortlist.model.settings import Limits
from shortlist.service.problems import Refused

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
PLAIN = "application/json"
PREFIX = "ce-"
NUMBERS = ("audience",)
"""Extensions that are numbers, which headers cannot tell from text."""


def documents_of(headers: Mapping[str, str], body: bytes, limits: Limits) -> list[Any]:
    """The events of a request, in order.

    >>> documents_of({"content-type": SINGLE}, b'{"id": "f1", "source": "ads"}', Limits())
    [{'id': 'f1', 'source': 'ads'}]
    >>> binary = {"content-type": "application/json", "ce-id": "f%C3%A9", "ce-source": "ads"}
    >>> documents_of(binary, b'{"rent": 900}', Limits())
    [{'id': 'fé', 'source': 'ads', 'data': {'rent': 900}}]
    """
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if f"{PREFIX}id" in headers:
        if media not in (PLAIN, "") and not media.endswith("+json"):
            raise Refused(415, f"expected data that is {PLAIN}, found {media}")
        return [_binary(headers, body, limits)]
    if media not in (SINGLE, BATCH, PLAIN):
        expected = f"expected {SINGLE}, {BATCH}, {PLAIN} or headers such as {PREFIX}id"
        raise Refused(415, f"{expected}, found {media or 'no content type'}")
    found = _parsed(body, limits)
    if media == SINGLE or (media == PLAIN and not isinstance(found, list)):
        return [found]
    if not isinstance(found, list):
        raise Refused(400, "expected a list of events, found another value")
    if len(found) > MOST_LINES:
        raise Refused(413, f"expected at most {MOST_LINES} events, found {len(found)}")
    if not found:
        raise Refused(400, "expected at least one event, found none")
    return found


def _binary(headers: Mapping[str, str], body: bytes, limits: Limits) -> dict[str, Any]:
    document: dict[str, Any] = {
        name.removeprefix(PREFIX): unquote(value)
        for name, value in headers.items()
        if name.startswith(PREFIX)
    }
    for name in NUMBERS:
        if document.get(name, "").isdecimal():
            document[name] = int(document[name])
    if body.strip():
        document["data"] = _parsed(body, limits)
    return document


def _parsed(body: bytes, limits: Limits) -> object:
    try:
        return parse_json(body, limits)
    except BadItem as error:
        raise Refused(400, str(error)) from None
