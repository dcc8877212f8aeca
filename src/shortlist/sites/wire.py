"""What sites write to each other: one JSON object an entry, in a stream for each direction."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from shortlist.intake.json_text import parse_bytes
from shortlist.intake.lines import LINK_MARK
from shortlist.model.settings import Limits
from shortlist.model.wording import one_line, shown
from shortlist.overlay.messages import Proxy
from shortlist.overlay.site_broker import News, NotReadable, SiteBroker, proxy_of, written

FORMAT = 1
SITE = re.compile(r"[a-z][a-z0-9]*")
AT_ONCE = 200
"""Subscriptions in one entry."""
MARKED = re.compile(
    rb',"' + LINK_MARK.encode() + rb'":"([a-z][a-z0-9]*):([0-9]{1,18}):([0-9a-f]{32})"\}$'
)
"""The extension attribute that says from which link a line came, and as which entry of it."""

# Characters of a reason, at most: one entry can have thousands of problems.
LONGEST_REASON = 300
# Levels of a condition or score, at most: twice what a site accepts by default.
MAX_DEPTH = 2 * Limits().expression_depth
# What a value of an entry is called in messages, by its type.
KINDS: dict[type, str] = {str: "text", list: "a list", dict: "an object"}

T = TypeVar("T")


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
    """Return what a site has written, or raise `NotReadable` for anything else.

    A neighbour's stream is written by strangers: every field is checked for its type, and no
    exception of another kind leaves this function.
    """
    try:
        return _told(parse_bytes(content), broker)
    except NotReadable as error:
        reason = str(error)
    except Exception as error:  # whatever a stranger's entry does to a reader, only its link ends
        reason = f"{type(error).__name__}: {error}"
    found = f"{shown(content.decode(errors='replace'))}: {one_line(reason)[:LONGEST_REASON]}"
    raise NotReadable(f"expected an entry of a link, found {found}")


def _told(document: object, broker: SiteBroker) -> Told:
    match document:
        case {"hello": {"format": found}} if type(found) is not int or found != FORMAT:
            raise NotReadable(f"expected links of format {FORMAT}, found {shown(found)}")
        case {"hello": dict(said), **rest} if not rest:
            fields = _fields(said, ("format", *Hello._fields))
            texts = (_checked(name, fields[name], str) for name in Hello._fields)
            return Hello(*texts)
        case {"sites": list(names), **rest} if not rest:
            found = tuple(_site(name) for name in names)
            if len({*found}) < len(found):
                raise NotReadable("sites: expected each once, found one twice")
            return Sites(found)
        case {"news": dict(said), **rest} if not rest:
            fields = _fields(said, ("put", "dropped", "since"))
            put = [_checked("put", one, dict) for one in _checked("put", fields["put"], list)]
            gone = _checked("dropped", fields["dropped"], list)
            dropped = tuple(_checked("dropped", one, str) for one in gone)
            since = None if fields["since"] is None else _whole("since", fields["since"])
            return News(_proxies(put, broker), dropped, since)
        case {"line": text, "at": offset, **rest} if not rest:
            return Line(_whole("at", offset, least=1), _checked("line", text, str))
    raise NotReadable("expected a hello, sites, news or a line")


def _proxies(documents: Iterable[Mapping[str, Any]], broker: SiteBroker) -> tuple[Proxy, ...]:
    """The subscriptions behind a link, each under the id that follows from what it asks for: under
    another site's id it would take that one's place where others are told of both."""
    proxies = broker.read(documents, MAX_DEPTH)
    for proxy in proxies:
        site = proxy.id.partition("/")[0]
        if SITE.fullmatch(site) is None or proxy_of(site, proxy.subscription, 0).id != proxy.id:
            expected = "the id that follows from its condition"
            raise NotReadable(f"put: expected {expected}, found {shown(proxy.id)}")
    return proxies


def _fields(document: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The document, if it has exactly these fields."""
    if document.keys() != {*names}:
        expected, found = ", ".join(sorted(names)), ", ".join(map(shown, sorted(document)))
        raise NotReadable(f"expected the fields {expected}, found {found or 'none'}")
    return document


def _checked(name: str, value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise NotReadable(f"{name}: expected {KINDS[kind]}, found {shown(value)}")
    return value


def _whole(name: str, value: object, least: int = -(2**63)) -> int:
    """A whole number of 64 bits; true and false are none."""
    if type(value) is not int or not least <= value < 2**63:
        raise NotReadable(f"{name}: expected a whole number of 64 bits, found {shown(value)}")
    return value


def _site(name: object) -> str:
    if not isinstance(name, str) or SITE.fullmatch(name) is None:
        raise NotReadable(f"sites: expected the name of a site, found {shown(name)}")
    return name


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
