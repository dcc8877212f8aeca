"""Who a site is, and how its links are doing, kept in its own log."""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from shortlist.log.base import INPUT, Log
from shortlist.log.json_register import change_json, read_json
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown
from shortlist.sites.wire import SITE

REGISTER = "site"
STATUS = "links"
"""The register that tells it."""
SILENT_SECONDS = 10.0
"""A process that has said nothing for so long does not run, and so a link that has exchanged
nothing is out."""


class NotThisSite(ShortlistError, ValueError):
    """A name that a site cannot have, or not here."""


class Identity(NamedTuple):
    """What a site has once it joined, for ever."""

    name: str
    # Marks what came over links, so that no publisher can pretend it.
    token: str
    # By neighbour, where the own log ended when the neighbour was named first.
    joined: Mapping[str, int]
    # That of the process that joined last.
    session: str


def checked_name(name: str) -> str:
    """A name that sites may have.

    >>> checked_name("oslo"), checked_name("São Paulo")
    Traceback (most recent call last):
    shortlist.sites.identity.NotThisSite: expected a site's name of small letters and digits that \
begins with a letter, found 'São Paulo'
    """
    if SITE.fullmatch(name) is None:
        raise NotThisSite(
            "expected a site's name of small letters and digits that begins with a letter,"
            f" found {shown(name)}"
        )
    return name


def join(log: Log, name: str, neighbours: Iterable[str]) -> Identity:
    """Notes who works on a log and with whom; what was noted before stays."""
    named = [checked_name(neighbour) for neighbour in neighbours]
    if name in named:
        raise NotThisSite(f"expected neighbours of {name!r}, found itself")
    if len(set(named)) < len(named) or not named:
        found = ", ".join(named) or "none"
        raise NotThisSite(f"expected neighbours, each once, found {found}")
    end, session = log.end(INPUT), secrets.token_hex(8)

    def noted(known: Mapping[str, Any]) -> Mapping[str, Any]:
        before = known.get("name", checked_name(name))
        if before != name:
            raise NotThisSite(f"expected site {before!r}, which this log is of, found {name!r}")
        return {
            "name": name,
            "token": known.get("token", secrets.token_hex(16)),
            "joined": {**dict.fromkeys(named, end), **known.get("joined", {})},
            "session": session,
        }

    change_json(log, REGISTER, noted)
    made = read_json(log, REGISTER)
    joined = {each: made["joined"][each] for each in named}
    return Identity(name, made["token"], joined, session)


def identity(log: Log) -> Identity | None:
    """Who works on a log, with all neighbours that it has had; None if no site does."""
    known = read_json(log, REGISTER)
    if not known:
        return None
    return Identity(known["name"], known["token"], known["joined"], known.get("session", ""))


class NoSite(ShortlistError, LookupError):
    """A log that no site works on."""


def site_status(log: Log, now: float) -> dict[str, Any]:
    """Who works on a log and how each of its links is, at a moment in seconds since 1970."""
    known = identity(log)
    if known is None:
        raise NoSite("expected the log of a site, found none: `shortlist site join` makes it one")
    said = read_json(log, STATUS)
    age = now - said.get("told", 0) / 1e6
    is_running = age < SILENT_SECONDS
    links = {
        name: {
            "state": "out" if is_running else "not running",
            **_link(link, now, is_running=is_running),
        }
        for name, link in said.get("links", {}).items()
    }
    return {"site": known.name, "running": is_running, "links": links}


def _link(link: dict[str, Any], now: float, *, is_running: bool) -> dict[str, Any]:
    heard = link["heard"]
    silence = None if heard is None else round(max(now - heard / 1e6, 0.0), 3)
    found = {**link, "seconds since exchange": silence}
    del found["heard"]
    if is_running and link.get("aside") is not None:
        found["state"] = "set aside"
    elif is_running and link["error"] is None and silence is not None and silence < SILENT_SECONDS:
        found["state"] = "up" if link["sites"] else "not heard of"
    return found
