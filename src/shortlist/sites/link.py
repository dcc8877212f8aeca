"""A link to a neighbour: how far it was written and read, and the exchange itself."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist.log.base import Entry, Log, LogUnavailable
from shortlist.log.streams import within_bytes

AT_MOST = 2_000
"""Entries that are read in one exchange."""
# Bytes that are read in one exchange: a neighbour may fill its stream with entries of any size.
MAX_BYTES = 16 * 2**20


COUNTED = {
    "sent": "Publications that were sent over a link.",
    "sent_bytes": "Bytes of these.",
    "withheld": "Publications that nobody behind a link wants.",
    "saved_bytes": "Bytes of these, which did not cross the link.",
    "received": "Publications that came over a link.",
    "too_long": "Publications that the log of a link could never take.",
}
"""What crossed a link and what did not, since the site joined."""


@dataclass(slots=True)
class Link:
    """One side of a link. All but `considered`, `read` and `look` could be found again in the
    streams and in the site's log."""

    name: str
    joined: int
    """The offset of the own log behind which it begins."""
    considered: int = 0
    """The offset of the own log up to which everything wanted was sent."""
    read: int = 0
    """The last entry of the neighbour's stream that was taken in."""
    taken: int = 0
    """The last of those that stand in the own log."""
    written: int = 0
    """Where the own stream ends."""
    look: int | None = None
    """From this time on, what was considered has to be looked at again."""
    sent: set[int] = field(default_factory=set)
    """Offsets that were sent, of those that may be looked at again."""
    sites: tuple[str, ...] = ()
    """All sites behind the link."""
    told_sites: tuple[str, ...] = ()
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    is_certain: bool = False
    """Whether it is known where the own stream ends."""
    has_greeted: bool = False
    disagreement: str | None = None
    """Why nothing can be exchanged, by what the neighbour says of itself."""
    error: str | None = None
    aside: int | None = None
    """The entry for which the link was set aside: nothing is exchanged until the site is started
    again. It is not kept, since the next process reads that entry again and may judge otherwise."""
    heard: int | None = None
    """When the last exchange ended well, in microseconds."""

    def state(self) -> dict[str, Any]:
        kept = (
            *("considered", "read", "taken", "written", "look"),
            *("sites", "told_sites", "disagreement"),
        )
        return {
            **{name: getattr(self, name) for name in kept},
            "sent": sorted(self.sent),
            "counts": dict(self.counts),
        }

    @classmethod
    def of_state(cls, name: str, joined: int, state: dict[str, Any]) -> "Link":
        return cls(
            name,
            joined,
            **{
                **state,
                "sent": {*state["sent"]},
                "counts": Counter(state["counts"]),
                "sites": tuple(state["sites"]),
                "told_sites": tuple(state["told_sites"]),
            },
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources that a link may speak for.

    >>> sources = Sources({"bergen": ("ads", "wire/*")})
    >>> [sources.may_bring("bergen", source, {"bank"}) for source in ("ads", "wire/7", "news")]
    [True, True, False]
    >>> [sources.may_bring("tromso", source, {"bank"}) for source in ("ads", "bank")]
    [True, False]
    """

    # By neighbour, the only sources that it may bring; one that ends in `*` stands for all that
    # begin like this. A neighbour that is not here may bring all but the site's own ones.
    listed: Mapping[str, Collection[str]] = field(default_factory=dict)
    # Finds the sources that this site's publishers speak for now.
    find_own: Callable[[], Collection[str]] = frozenset

    def may_bring(self, neighbour: str, source: str, own: Collection[str]) -> bool:
        listed = self.listed.get(neighbour)
        if listed is None:
            return source not in own
        return any(
            source.startswith(each[:-1]) if each.endswith("*") else source == each
            for each in listed
        )


class Exchange(NamedTuple):
    """What is to be exchanged."""

    # To be written; nothing while it is not certain where the stream ends.
    outgoing: Sequence[bytes]
    written: int
    read: int
    # Whether the end of the own stream has to be found first.
    recovers: bool


class Exchanged(NamedTuple):
    """What an exchange led to."""

    found: Sequence[Entry]
    """What stands in the own stream behind what was known."""
    written: int
    came: Sequence[Entry]
    more: bool
    """Whether there is more to read."""
    too_long: int
    """What the log of the link could never take."""
    is_whole: bool = True
    """True once all of the own stream was found, where it was looked for: it is read in parts."""


def exchange(log: Log, out: str, into: str, work: Exchange) -> Exchanged:
    """Writes behind what was written, and reads on; raises where the log cannot be reached, or
    (`Moved`) ends elsewhere than was thought."""
    found: list[Entry] = []
    written = work.written
    longest = log.longest
    outgoing = [one for one in work.outgoing if longest is None or len(one) <= longest]
    if work.recovers:
        _check(log, out, work.written)
        _check(log, into, work.read)
        found = [*within_bytes(log.read(out, work.written), MAX_BYTES)]
        written = found[-1].offset if found else work.written
    elif outgoing:
        written = log.append(out, outgoing, expected_end=work.written)
    end = log.end(into)
    until = min(end, work.read + AT_MOST)
    came = [*within_bytes(log.read(into, work.read, until), MAX_BYTES)] if until > work.read else []
    too_long = len(work.outgoing) - len(outgoing)
    more = bool(came) and end > came[-1].offset
    is_whole = not work.recovers or log.end(out) == written
    return Exchanged(found, written, came, more, too_long, is_whole)


def _check(log: Log, stream: str, known: int) -> None:
    end = log.end(stream)
    if end < known:
        raise LogUnavailable(
            f"the link lost entries: {stream} was known up to {known}, and it ends at {end}"
        )
