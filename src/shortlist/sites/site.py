"""A site: what it reads in its own log goes to neighbours who want it, and what they send goes into
its own log.

Nothing here waits or talks to a network. Whoever runs it asks for the `work` of each link, does it,
and says what came of it. All that counts stands in the site's own log and in the streams of its
links; the state that is saved now and then only says from where to read them again:

- What came over a link is appended to the own log with a mark that names its entry. It is appended
  only behind an end that was read, so whoever begins again finds all marks, and repeats none.
- What is sent over a link names its offset in the own log. It is written only behind an end that
  was read, so whoever begins again finds what was sent, and repeats none.
- What neighbours should be told is compared with what stands in the streams.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from shortlist.intake.lines import BadItem, ItemReader
from shortlist.intake.written import registry_document
from shortlist.log.base import INPUT, Log, Moved
from shortlist.matching.blocks import Bools
from shortlist.model.command import Retract
from shortlist.model.problem import ShortlistError
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED
from shortlist.model.wording import shown
from shortlist.overlay.site_broker import NOTHING, News, NotReadable, SiteBroker
from shortlist.sites.entries import Chunk, Entries, Span
from shortlist.sites.identity import Identity, identity
from shortlist.sites.link import Exchange, Exchanged, Link, Sources
from shortlist.sites.own_registry import OwnRegistry
from shortlist.sites.wire import (
    Hello,
    Line,
    Mark,
    Sites,
    decoded,
    encoded,
    encoded_news,
    marked,
    stream_of,
)

AT_ONCE = 500
"""Lines that are appended to the own log in one step."""


class Superseded(ShortlistError):
    """Another process writes the links of this site."""


class Disagreement(ShortlistError):
    """Sites that cannot exchange publications."""


@dataclass(slots=True)
class _Composed:
    """What an exchange is about to write, and what is so once it is written."""

    contents: list[bytes] = field(default_factory=list)
    greets: bool = False
    sites: tuple[str, ...] | None = None
    news: News = NOTHING
    offsets: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    considered: int = 0
    look: int | None = None


class Site:
    """One site; it goes on where its state says."""

    def __init__(
        self,
        log: Log,
        own: OwnRegistry,
        identity: Identity,
        state: Mapping[str, Any] | None,
        *,
        keep: int,
        sources: Sources | None = None,
        skips: Mapping[str, int] | None = None,
    ) -> None:
        """Serve the links of a site; what came is looked at again for `keep` microseconds.

        `sources` says what neighbours may speak for; `skips` names an entry by neighbour that is
        passed over.
        """
        self.name = identity.name
        self._sources = sources or Sources()
        self._own_sources = self._sources.find_own()
        self._skips = skips or {}
        self._log = log
        self._own = own
        self._identity = identity
        by_arrival = own.basis == "arrival"
        self._entries = Entries(
            log, own.vocabulary, identity.token, by_arrival=by_arrival, keep=keep
        )
        self._broker = SiteBroker(identity.name, [*identity.joined], own.vocabulary, UNLIMITED)
        self._position = min(own.passed, *identity.joined.values())
        """The last entry of the own log that was read."""
        self.links = {name: Link(name, at, considered=at) for name, at in identity.joined.items()}
        self._former: Mapping[str, Any] = {}
        """Of neighbours that it has no more, how far their links were."""
        self._offered = -1
        self._composed: dict[str, _Composed] = {}
        self._received: list[tuple[Mark, bytes]] = []
        """Lines that came, as they will stand in the own log."""
        self._reader = ItemReader(own.vocabulary, UNLIMITED)
        self._hello = Hello(self.name, identity.session, own.basis, _vocabulary_digest(own))
        if state is not None:
            self._restore(state)

    def advance(self) -> bool:
        """Reads a chunk of the own log; whether there was anything to read."""
        chunk = self._entries.after(self._position, self._broker.mentioned)
        if chunk is not None:
            for offset, command in chunk.commands:
                self._own.note(offset, command)
            for name, offset in chunk.taken.items():
                if name in self.links:
                    self.links[name].taken = max(self.links[name].taken, offset)
            self._keep(chunk)
            self._position = chunk.last
        return chunk is not None

    def refresh(self) -> None:
        """Looks at what the deployment has carried out, and at whom it lets publish."""
        self._own.refresh()
        self._own_sources = self._sources.find_own()
        if self._own.version != self._offered:
            self._offered = self._own.version
            self._broker.offer(self._own.proxies())

    def work(self, name: str) -> Exchange:
        """What is to be exchanged with a neighbour now."""
        link = self.links[name]
        composed = self._composed[name] = _Composed(considered=link.considered)
        if link.is_certain:
            self._compose(link, composed)
        return Exchange(composed.contents, link.written, link.read, not link.is_certain)

    def took(self, name: str, done: Exchanged) -> bool:
        """An exchange came to its end; whether there is more to do at once.

        What the neighbour wrote can set its link aside, and nothing else: the entry and the reason
        are in `aside` and `error` of the link.
        """
        link, composed = self.links[name], self._composed.pop(name)
        link.error = None
        if not link.is_certain:
            for entry in done.found:
                try:
                    self._recall(link, decoded(entry.content, self._broker))
                except NotReadable as error:
                    return _set_aside(link, stream_of(self.name, name), entry.offset, error)
            link.is_certain = done.is_whole
        else:
            self._note_written(link, composed, done.too_long)
        link.written = done.written
        into, since = stream_of(name, self.name), link.read + 1
        for entry in done.came:
            agreed = link.disagreement is None
            try:
                if entry.offset != self._skips.get(name):
                    self._hear(link, entry.offset, entry.content)
            except (NotReadable, Disagreement) as error:
                return _set_aside(link, into, entry.offset, error)
            link.read = entry.offset
            if agreed and link.disagreement is not None:
                since = entry.offset
        if link.disagreement is not None and not done.more:
            # what came under another agreement is read again, in case that a later hello agrees
            self._received = [
                (mark, content)
                for mark, content in self._received
                if mark.neighbour != name or mark.offset < since
            ]
            reason = Disagreement(link.disagreement)
            link.read, link.disagreement = since - 1, None
            return _set_aside(link, into, since, reason)
        is_behind = link.considered < self._position or link.look is not None or not done.is_whole
        return bool(done.more or done.came or composed.contents or is_behind)

    def failed(self, name: str, error: str) -> None:
        """Nobody knows whether anything was written."""
        link = self.links[name]
        del self._composed[name]
        link.is_certain, link.error = False, error

    def admit(self) -> None:
        """Appends to the own log what came, each entry of a link once."""
        while self._received:
            while self.advance():
                pass
            self._received = [
                (mark, content)
                for mark, content in self._received
                if mark.offset > self.links[mark.neighbour].taken
            ]
            some = self._received[:AT_ONCE]
            contents = [content for _, content in some]
            longest = self._log.longest
            fitting = [one for one in contents if longest is None or len(one) <= longest]
            try:
                self._log.append(INPUT, fitting, expected_end=self._position)
            except Moved:  # a publisher was faster
                continue
            for (mark, _), content in zip(some, contents, strict=True):
                is_too_long = longest is not None and len(content) > longest
                self.links[mark.neighbour].counts.update(received=1, too_long=is_too_long)
            self._received = self._received[AT_ONCE:]

    def state(self) -> dict[str, Any]:
        """From where to go on; only when nothing waits to be admitted."""
        assert not self._received
        return {
            "position": self._position,
            "passed": self._own.passed,
            "spans": self._entries.spans,
            "links": {
                **self._former.get("links", {}),
                **{name: link.state() for name, link in self.links.items()},
            },
            "broker": self._broker.state(self._former.get("broker")),
        }

    def status(self) -> dict[str, Any]:
        """By neighbour, how its link is doing."""
        end = self._position
        return {
            name: {
                "error": link.error,
                "aside": link.aside,
                "heard": link.heard,
                "sites": [*link.sites],
                "waiting": end - link.considered,
                **self._broker.counts(name),
                **link.counts,
            }
            for name, link in self.links.items()
        }

    def _compose(self, link: Link, composed: _Composed) -> None:
        """Greeting, sites, news, then what was looked at again, then what is new."""
        if not link.has_greeted:
            composed.greets = True
            composed.contents.append(encoded(self._hello))
        sites = self._sites_here(link.name)
        if sites != link.told_sites:
            composed.sites = sites
            composed.contents.append(encoded(Sites(sites)))
        composed.news = self._broker.news(link.name)
        if composed.news != NOTHING:
            composed.contents += encoded_news(composed.news)
        if link.look is not None:
            composed.look = link.look
            for chunk in self._entries.since(link.look, link.considered, self._broker.mentioned):
                self._compose_lines(link, chunk, composed, since=link.look)
        if link.considered < self._position:
            new = self._entries.after(link.considered, self._broker.mentioned)
            assert new is not None
            self._compose_lines(link, new, composed)
            composed.considered = new.last

    def _compose_lines(
        self, link: Link, chunk: Chunk, composed: _Composed, since: int | None = None
    ) -> None:
        """Those that somebody behind the link wants; since a time, if they were considered before
        (then they count as withheld already)."""
        nobody = ~chunk.goes_everywhere & False
        wanted: Bools = self._broker.wanted(chunk.items).get(link.name, nobody)
        columns = zip(
            chunk.items.positions.tolist(),
            chunk.items.times.tolist(),
            (wanted | chunk.goes_everywhere).tolist(),
            chunk.marks,
            chunk.lines,
            strict=True,
        )
        for offset, time, is_wanted, mark, line in columns:
            came_from_there = mark is not None and mark.neighbour == link.name
            is_past = offset <= link.joined or (since is not None and time < since)
            if came_from_there or is_past or offset in link.sent:
                continue
            if is_wanted:
                content = encoded(Line(offset, line.decode(errors="replace")))
                composed.contents.append(content)
                composed.offsets.append(offset)
                composed.counts.update(sent=1, sent_bytes=len(line))
            if is_wanted == (since is not None):
                sign = 1 if since is None else -1
                composed.counts.update(withheld=sign, saved_bytes=sign * len(line))

    def _note_written(self, link: Link, composed: _Composed, too_long: int) -> None:
        link.has_greeted |= composed.greets
        if composed.sites is not None:
            link.told_sites = composed.sites
        if composed.news != NOTHING:
            self._broker.tell(link.name, composed.news)
        link.sent.update(composed.offsets)
        link.considered = composed.considered
        if link.look == composed.look:
            link.look = None
        link.counts.update(composed.counts)
        link.counts.update(sent=-too_long, too_long=too_long)

    def _recall(self, link: Link, told: Hello | Sites | News | Line) -> None:
        """Something that this site has written, perhaps in another process."""
        match told:
            case Hello(session=session):
                if link.has_greeted and session != self._hello.session:
                    joined = identity(self._log)
                    if joined is not None and joined.session != self._hello.session:
                        raise Superseded(f"another process is site {self.name!r}")
                    raise NotReadable("expected what this site wrote, found another's hello")
                link.has_greeted |= session == self._hello.session
            case Sites(names):
                link.told_sites = names
            case News():
                self._broker.recall(link.name, told)
            case Line(offset, text):
                link.sent.add(offset)
                link.counts.update(sent=1, sent_bytes=len(text.encode()))

    def _hear(self, link: Link, offset: int, content: bytes) -> None:
        """Something that the neighbour has written."""
        told = decoded(content, self._broker)
        match told:
            case Hello():
                link.disagreement = self._disagreement(link, told)
            case Sites(names):
                self._check_tree(link, names)
                link.sites = names
            case News(since=since):
                self._broker.hear(link.name, told)
                if since is not None:
                    link.look = since if link.look is None else min(since, link.look)
            case Line(text=text):
                mark = Mark(link.name, offset)
                content = marked(text, mark, self._identity.token)
                self._check_line(link.name, content)
                self._received.append((mark, content))

    def _check_line(self, neighbour: str, content: bytes) -> None:
        """Raise `NotReadable` unless a neighbour may bring this line into the own log.

        The line is read as it will be appended: what was checked is what the deployment reads.
        """
        if b"\n" in content or b"\r" in content:  # where logs are written as lines it would be two
            raise NotReadable("expected one line, found several")
        try:
            item = self._reader.line(content, 0, 0 if self._own.basis == "arrival" else None)
        except BadItem as error:
            raise NotReadable(f"expected a publication or a retract: {error}") from None
        if not isinstance(item, Publication | Retract):
            found = type(item).__name__.lower()
            raise NotReadable(f"expected a publication or a retract, found the command {found}")
        if not self._sources.may_bring(neighbour, item.source, self._own_sources):
            found = shown(item.source)
            raise NotReadable(f"expected a source that {neighbour} may speak for, found {found}")

    def _disagreement(self, link: Link, hello: Hello) -> str | None:
        """Why nothing can be exchanged with a neighbour that says this; None if all is well."""
        mine = self._hello
        for what, expected, found in (
            ("name", link.name, hello.site),
            ("time basis", mine.basis, hello.basis),
            ("vocabulary", mine.vocabulary, hello.vocabulary),
        ):
            if expected != found:
                return f"site {link.name!r}: {what}: expected {expected}, found {found}"
        return None

    def _check_tree(self, link: Link, names: Iterable[str]) -> None:
        """Raise `Disagreement` where a link says that a site is behind it which is elsewhere.

        What goes round a ring of links would not come to an end. A neighbour is behind its own
        link, whether it was heard of or not: no other one can take its place.
        """
        seen = {self.name: "here"}
        for other in self.links.values():
            if other is not link:
                seen |= dict.fromkeys((other.name, *other.sites), f"behind {other.name!r}")
        for name in names:
            if name in seen:
                raise Disagreement(
                    f"expected links that form a tree, found site {name!r} behind"
                    f" {link.name!r} and {seen[name]}"
                )

    def _sites_here(self, but: str) -> tuple[str, ...]:
        """The sites on this side of a link."""
        others = [name for link in self.links.values() if link.name != but for name in link.sites]
        return tuple(sorted([self.name, *others]))

    def _keep(self, chunk: Chunk) -> None:
        """A chunk may be looked at again, until it is too old; and so may what was sent of it."""
        spans = self._entries.spans
        before = spans[0].first if spans else 0
        self._entries.keep(self._position + 1, chunk)
        first = spans[0].first
        for link in self.links.values() if first > before else ():
            oldest = min(first, link.considered)
            link.sent = {offset for offset in link.sent if offset >= oldest}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._position = state["position"]
        self._entries.spans = [Span(*span) for span in state["spans"]]
        for name, joined in self._identity.joined.items():
            if name in state["links"]:
                self.links[name] = Link.of_state(name, joined, state["links"][name])
        self._former = state
        self._broker.restore(state["broker"])
        # commands that were read and are not carried out yet have to be read again
        after: int = state["passed"]
        while after < self._position:
            chunk = self._entries.after(after, self._broker.mentioned)
            if chunk is None:
                return
            for offset, command in chunk.commands:
                self._own.note(offset, command)
            after = chunk.last


def _set_aside(link: Link, stream: str, offset: int, reason: Exception) -> bool:
    """Exchange nothing more over a link; there is nothing more to do at once."""
    link.aside = offset
    link.error = f"set aside for entry {offset} of {stream}: {reason}"
    return False


def _vocabulary_digest(own: OwnRegistry) -> str:
    document = registry_document(Registry(vocabulary=own.vocabulary))["vocabulary"]
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
