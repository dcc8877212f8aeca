"""The network of sites that a deployment is a part of."""

from __future__ import annotations

from typing import Any

from shortlist.log.base import Log
from shortlist.sites.status import NoSite, site_status


def network(log: Log, now: float) -> dict[str, Any]:
    """The site that works on a log and how each of its links is, at a moment in seconds since 1970;
    where there is none, `site` is None."""
    try:
        return site_status(log, now)
    except NoSite:
        return {"site": None, "running": False, "links": {}}
