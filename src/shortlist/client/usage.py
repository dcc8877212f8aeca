"""What deliveries are spent on: which subscriptions take most, and how evenly they spread."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from shortlist.intake.roster import Roster
from shortlist.log.base import Entry
from shortlist.measures.spread import entropy, fairness
from shortlist.model.times import format_time

MOST_DELIVERIES = 2_000
"""That are looked at: the last ones."""
MOST_SHOWN = 10


def usage(roster: Roster, deliveries: Iterable[Entry]) -> dict[str, Any]:
    """The subscriptions that some deliveries name, the most frequent first; and over all that are
    live, also those that have none: entropy in bits, of as many as there could be, and fairness.

    >>> usage(Roster(), [])["fairness"]
    1.0
    """
    entries = [*deliveries]
    named = Counter(json.loads(entry.content)["subscription"] for entry in entries)
    live = roster.subscriptions
    counts = [named.get(name, 0) for name in live]
    top = sorted(
        ((name, count) for name, count in named.items() if name in live),
        key=lambda pair: (-pair[1], pair[0]),
    )
    return {
        "deliveries": len(entries),
        "since": format_time(entries[0].appended) if entries else None,
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
