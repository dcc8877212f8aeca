"""How a deployment is doing, and what its deliveries are spent on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.client.deployment import Deployment, read_up_to
from shortlist.client.recent import read_backwards
from shortlist.live.lag import Lag, lag
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Log
from shortlist.model.counts import OTHER_TYPE, REJECTED, SUPPRESSED, labelled
from shortlist.model.settings import UNLIMITED
from shortlist.model.times import format_time

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster

RECENT = 1000
"""Entries that a rate is taken over."""
MOST_SUBSCRIPTIONS = 2_000
"""Of more it is not asked which of them match nothing: that would take long."""
RECENT_SECONDS = 60.0
"""Rejects that are younger are worth a warning."""
STANDSTILL_SECONDS = 30.0
"""For so long nothing may be committed while something waits."""

# The last deliveries, of which `usage` tells what they were spent on.
MOST_DELIVERIES = 2_000
MOST_SHOWN = 10

Document = dict[str, Any]


def live_status(deployment: Deployment, now: float, mistakes: bool = False) -> Document | None:
    """The state of a deployment at a moment in seconds since 1970; None if there is none."""
    log, manifest = deployment.log, deployment.manifest
    if manifest is None:
        return None
    behind = lag(log, read_up_to(manifest), now)
    age = max(now - manifest.committed / 1e6, 0.0)
    counts = manifest.counts
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
        "shortlists": manifest.shortlists,
        "subscriptions": manifest.subscriptions,
        "published": counts.get("published", 0),
        "matched": counts.get("matched", 0),
        "deliveries": manifest.deliveries.end,
        "promotions": counts.get("promotion", 0),
        "dead on arrival": counts.get("dead on arrival", 0),
        "commands": counts.get("commands", 0),
        "suppressed": dict(labelled(counts, SUPPRESSED)),
        "rejects": dict(labelled(counts, REJECTED)),
        "quarantined": manifest.quarantined,
        "warnings": [
            *_warnings(log, manifest, behind, age),
            *recent_rejects(log, now),
            *(_mistakes(deployment, read_up_to(manifest)) if mistakes else ()),
        ],
    }


def rate(log: Log, stream: str, now: float) -> float:
    """Entries a second, over the last ones up to now."""
    end = log.end(stream)
    after = max(end - RECENT, 0)
    first = next(log.read(stream, after, end), None)
    if first is None:
        return 0.0
    seconds = max(now - first.appended / 1e6, 0.001)
    return round((end - after) / seconds, 3)


def _warnings(log: Log, manifest: Manifest, behind: Lag, age: float) -> Iterator[str]:
    if manifest.is_finished:
        yield "its input has ended: nothing more is read"
    elif behind.entries and age > STANDSTILL_SECONDS:
        yield f"{behind.entries:,} entries wait, and nothing was committed for {age:,.0f} s"
    missing = manifest.deliveries.end - log.end(DELIVERIES)
    if missing > 0:
        yield f"{missing:,} deliveries are committed, and not in the log yet"
    if manifest.quarantined:
        yield f"{manifest.quarantined:,} in quarantine (shortlist quarantine)"
    for attribute, count in labelled(manifest.counts, OTHER_TYPE):
        yield f"{attribute}: {count:,} times of another type than a predicate asks for"


def _mistakes(deployment: Deployment, read: int) -> list[str]:
    """What looks like a mistake in the live registry, beside what was published last."""
    from shortlist.engine.mistakes import likely_mistakes

    roster = deployment.roster()
    if roster is None:
        return []
    lines = [entry.content for entry in deployment.log.read(INPUT, max(read - RECENT, 0), read)]
    return likely_mistakes(
        roster.registry(),
        lines,
        UNLIMITED,
        commands=False,
        of="the last ",
        most_subscriptions=MOST_SUBSCRIPTIONS,
    )


def recent_rejects(log: Log, now: float) -> Iterator[str]:
    """Yield a warning if something was rejected within the last minute."""
    last, number = None, 0
    for entry in read_backwards(log, REJECTS, RECENT):
        if now - entry.appended / 1e6 >= RECENT_SECONDS:
            break
        number += 1
        last = last or json.loads(entry.content)
    if last is not None:
        count = f"{number:,}" if number < RECENT else f"{RECENT:,} or more"
        where = f"entry {last['position']}" if last["position"] else "without a position"
        yield f"{count} rejected in the last minute, the last: {last['reason']} ({where})"


def in_quarantine(deployment: Deployment) -> list[dict[str, Any]]:
    """What is there at present, in the order in which it was put there: its position, time and
    line, and why."""
    from shortlist.engine.arrow import rows
    from shortlist.engine.quarantine import Quarantined
    from shortlist.live.segments import Segments
    from shortlist.live.tables import QUARANTINE

    manifest, files = deployment.state
    found = Segments(files, "quarantine", QUARANTINE).rows(manifest.quarantine)
    items = (Quarantined(*row) for row in rows(found.to_batches()))
    return [item._asdict() | {"time": format_time(item.time)} for item in items]


class Spent(NamedTuple):
    """What the last deliveries were spent on."""

    deliveries: int
    # When the log took the first of them.
    since: int | None
    # How many deliveries name each subscription.
    named: Counter[str]


def last_spent(log: Log) -> Spent:
    """Count the last deliveries by subscription; one at a time, since each may hold 256 kB."""
    named, since = Counter[str](), None
    for entry in read_backwards(log, DELIVERIES, MOST_DELIVERIES):
        named[json.loads(entry.content)["subscription"]] += 1
        since = entry.appended
    return Spent(named.total(), since, named)


def usage(roster: Roster, spent: Spent) -> dict[str, Any]:
    """Return the subscriptions that some deliveries name, the most frequent first.

    Beside them stand the entropy in bits over all live subscriptions, also those without a
    delivery, the most that it could be, and the fairness.

    >>> from shortlist.intake.roster import Roster
    >>> usage(Roster(), Spent(0, None, Counter()))["fairness"]
    1.0
    """
    from shortlist.measures.spread import entropy, fairness

    named, live = spent.named, roster.subscriptions
    counts = [named.get(name, 0) for name in live]
    top = sorted(
        ((name, count) for name, count in named.items() if name in live),
        key=lambda pair: (-pair[1], pair[0]),
    )
    return {
        "deliveries": spent.deliveries,
        "since": None if spent.since is None else format_time(spent.since),
        "entropy": round(entropy(counts), 6),
        "most entropy": round(entropy([1] * len(counts)), 6),
        "fairness": round(fairness(counts), 6),
        "subscriptions": [
            {
                "id": name,
                "shortlist": live[name].shortlist_id,
                "where": live[name].where,
                "deliveries": count,
            }
            for name, count in top[:MOST_SHOWN]
        ],
    }
