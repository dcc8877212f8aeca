"""How the links of a site are doing, by what its process has last said."""

from typing import Any

from shortlist.log.base import Log
from shortlist.log.json_register import read_json
from shortlist.model.problem import ShortlistError
from shortlist.sites.identity import identity

STATUS = "links"
"""The register that tells it."""
SILENT_SECONDS = 10.0
"""A process that has said nothing for so long does not run, and so a link that has exchanged
nothing is out."""


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
    if is_running and link["error"] is None and silence is not None and silence < SILENT_SECONDS:
        found["state"] = "up" if link["sites"] else "not heard of"
    return found
