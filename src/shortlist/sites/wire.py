"""What sites write to each other: one JSON object an entry, in a stream for each direction."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from shortlist.intake.lines import LINK_MARK
from shortlist.model.wording import shown
from shortlist.overlay.site_broker import News, NotReadable, SiteBroker, written

FORMAT = 1
SITE = re.compile(r"[a-z][a-z0-9]*")
AT_ONCE = 200
"""Subscriptions in one entry."""
MARKED = re.compile(
    rb',"' + LINK_MARK.encode() + rb'":"([a-z][a-z0-9]*):([0-9]{1,18}):([0-9a-f]{32})"\}$'
)
"""The extension attribute that says from which link a line came, and as which entry of it."""


class Hello(NamedTuple):
    """Who writes this stream from here on, and under which agreements."""

    site: str
    session: str
    """Of the process that writes."""
    basis: str
    vocabulary: str
    """A digest of it."""


class Sites(NamedTuple):
    """All sites on this side of the link."""

    names: tuple[str, ...]


class Line(NamedTuple):
    """A publication, or what takes one back."""

    offset: int
    """In the log of the site that writes it."""
    text: str


Told = Hello | Sites | News | Line


def stream_of(sender: str, receiver: str) -> str:
    """The stream that one site writes for another.

    >>> stream_of("oslo", "bergen")
    'link_oslo_bergen'
    """
    return f"link_{sender}_{receiver}"


def encoded(told: Hello | Sites | Line) -> bytes:
    match told:
        case Hello():
            document: Mapping[str, Any] = {"hello": {"format": FORMAT, **told._asdict()}}
        case Sites(names):
            document = {"sites": [*names]}
        case Line(offset, text):
            document = {"line": text, "at": offset}
    return json.dumps(document, ensure_ascii=False).encode()


def encoded_news(news: News) -> Iterator[bytes]:
    """In parts, what is put before what is dropped: in between, too much is wanted, never less."""
    puts = [news.put[first : first + AT_ONCE] for first in range(0, len(news.put), AT_ONCE)]
    for put in puts:
        # each of them may have to be looked for
        yield _news(put, (), news.since)
    if news.dropped or not puts:
        yield _news((), news.dropped, None if puts else news.since)


def _news(put: Iterable[Any], dropped: Sequence[str], since: int | None) -> bytes:
    document = {"put": written(put), "dropped": [*dropped], "since": since}
    return json.dumps({"news": document}, ensure_ascii=False).encode()


def decoded(content: bytes, broker: SiteBroker) -> Told:
    """What a site has written.

    Raises `NotReadable` where that means nothing here.
    """
    try:
        document = json.loads(content)
        match document:
            case {"hello": {"format": found}} if found != FORMAT:
                raise NotReadable(f"expected links of format {FORMAT}, found {found}")
            case {"hello": {"site": site, "session": session, "basis": basis, "vocabulary": words}}:
                return Hello(site, session, basis, words)
            case {"sites": names}:
                return Sites(tuple(names))
            case {"news": {"put": put, "dropped": dropped, "since": since}}:
                return News(broker.read(put), tuple(dropped), since)
            case {"line": text, "at": offset}:
                return Line(offset, text)
    except (ValueError, TypeError) as error:
        raise NotReadable(f"expected an entry of a link, found {shown(content)}: {error}") from None
    raise NotReadable(f"expected an entry of a link, found {shown(content)}")


class Mark(NamedTuple):
    """Where a line of a site's own log came from."""

    neighbour: str
    offset: int
    """In the stream of the link."""


def marked(text: str, mark: Mark, token: str) -> bytes:
    """A line with a mark behind all that it says.

    >>> marked('{"id": "n1"}', Mark("bergen", 7), "0" * 32)[:40]
    b'{"id": "n1","shortlistlink":"bergen:7:00'
    """
    body = text.rstrip().removesuffix("}")
    return f'{body},"{LINK_MARK}":"{mark.neighbour}:{mark.offset}:{token}"}}'.encode()


def unmarked(content: bytes, token: str) -> tuple[bytes, Mark | None]:
    """A line as it was, and where it came from; only a mark with the site's own token is one.

    >>> token = "0123456789abcdef" * 2
    >>> unmarked(marked('{"id": "n1"}', Mark("bergen", 7), token), token)
    (b'{"id": "n1"}', Mark(neighbour='bergen', offset=7))
    >>> unmarked(marked('{"id": "n1"}', Mark("bergen", 7), token), "0" * 32)[1]
    """
    found = MARKED.search(content, max(len(content) - 256, 0))
    if found is None or found[3].decode() != token:
        return content, None
    return content[: found.start()] + b"}", Mark(found[1].decode(), int(found[2]))
