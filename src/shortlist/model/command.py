"""Commands: how the registry changes while publications flow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import Path
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What all commands share: when, and where in the input."""

    time: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Open(Command):
    shortlist: Shortlist


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(Command):
    shortlist: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(Command):
    subscription: Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsubscribe(Command):
    subscription: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertise(Command):
    advertisement: Advertisement


@dataclass(frozen=True, slots=True, kw_only=True)
class Unadvertise(Command):
    advertisement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Command):
    """A live subscription or shortlist gets other settings."""

    kind: Literal["subscription", "shortlist"]
    id: str
    changes: Mapping[str, Any]
    """Fields as documents have them; null for the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Define(Command):
    """Terms of an attribute are new, mean something else from now on, or are no more."""

    attribute: Path
    terms: Mapping[str, Term | None]
    """None for a term that is no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retract(Command):
    """A publisher takes a publication back."""

    source: str
    publication: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Command):
    """What was put into quarantine arrives anew."""

    quarantined: int
    """Its position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Command):
    """What was put into quarantine is forgotten."""

    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Command):
    """Nothing but the time: what is due before it happens, though nothing else arrives."""


Item = Publication | Command
"""One entry of a timeline."""
