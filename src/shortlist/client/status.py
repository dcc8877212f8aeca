"""How a deployment is doing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shortlist.client.deployment import Deployment, read_up_to
from shortlist.engine.shard import OTHER_TYPE
from shortlist.live.manifest import Manifest
from shortlist.live.metrics import REJECTED, Lag, labelled, lag
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.model.times import format_time

RECENT = 1000
"""Entries that a rate is taken over."""
STANDSTILL_SECONDS = 30.0
"""For so long nothing may be committed while something waits."""

Document = dict[str, Any]


def live_status(deployment: Deployment, now: float) -> Document | None:
    """The state of a deployment at a moment in seconds since 1970; None if there is none."""
    log, manifest = deployment.log, deployment.manifest
    if manifest is None:
        return None
    behind = lag(log, read_up_to(manifest), now)
    age = max(now - manifest.committed / 1e6, 0.0)
    counts = manifest.counts
    roster = deployment.roster()
    return {
        "lag": {"entries": behind.entries, "seconds": round(behind.seconds, 3)},
        "read": read_up_to(manifest),
        "time": None if manifest.latest is None else format_time(manifest.latest),
        "commits": manifest.number,
        "committed": format_time(manifest.committed),
        "seconds since commit": round(age, 3),
        "rates": {stream: rate(log, stream, now) for stream in (INPUT, DELIVERIES)},
        "shards": len(manifest.shards),
        "plan": manifest.settings.get("plan", "replicate"),
        "state bytes": manifest.state_bytes,
        "shortlists": None if roster is None else len(roster.shortlists),
        "subscriptions": None if roster is None else len(roster.subscriptions),
        "published": counts.get("published", 0),
        "matched": counts.get("matched", 0),
        "deliveries": manifest.deliveries.end,
        "promotions": counts.get("promotion", 0),
        "dead on arrival": counts.get("dead on arrival", 0),
        "commands": counts.get("commands", 0),
        "rejects": dict(labelled(counts, REJECTED)),
        "warnings": [*_warnings(log, manifest, behind, age)],
    }


def rate(log: Log, stream: str, now: float) -> float:
    """Entries a second, over the last ones up to now."""
    end = log.end(stream)
    first = next(log.read(stream, max(end - RECENT, 0), end), None)
    if first is None:
        return 0.0
    seconds = max(now - first.appended / 1e6, 0.001)
    return round((end - first.offset + 1) / seconds, 3)


def _warnings(log: Log, manifest: Manifest, behind: Lag, age: float) -> Iterator[str]:
    if manifest.is_finished:
        yield "its input has ended: nothing more is read"
    elif behind.entries and age > STANDSTILL_SECONDS:
        yield f"{behind.entries:,} entries wait, and nothing was committed for {age:,.0f} s"
    missing = manifest.deliveries.end - log.end(DELIVERIES)
    if missing > 0:
        yield f"{missing:,} deliveries are committed, and not in the log yet"
    for attribute, count in labelled(manifest.counts, OTHER_TYPE):
        yield f"{attribute}: {count:,} times of another type than a predicate asks for"
