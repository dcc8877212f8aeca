"""What is live, one line each."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from shortlist.client.nouns import nouns_of, owner_of, policy_kinds
from shortlist.intake.documents import Kind
from shortlist.intake.files import KINDS
from shortlist.intake.roster import Roster
from shortlist.log.base import DELIVERIES, Log
from shortlist.model.shortlist import Shortlist

NEVER = (0, None)


def listed(
    roster: Roster,
    what: Literal["shortlists", "subscriptions", "advertisements"],
    subscriber: str | None = None,
    policy: str | None = None,
    counted: Log | None = None,
) -> Iterator[dict[str, Any]]:
    """What is told of those that `nouns_of` gives; with a log, the deliveries in it are counted.
    About a shortlist are its policies, about others is their condition."""
    kind = KINDS[what]
    delivered = None if counted is None else _delivered(counted, kind)
    for noun in nouns_of(roster, kind, subscriber, policy):
        told: dict[str, Any] = {"id": noun.id, "owner": owner_of(roster, noun)}
        if isinstance(noun, Shortlist):
            told["about"] = " then ".join(policy_kinds(roster, noun))
            told["subscriptions"] = len(roster.members(noun.id))
        else:
            told["about"] = noun.where or "everything"
        if delivered is not None:
            told["delivered"], told["last"] = delivered.get(noun.id, NEVER)
        yield {name: value for name, value in told.items() if value is not None}


def _delivered(log: Log, kind: Kind) -> dict[str, tuple[int, str | None]]:
    """How often, and when last, by shortlist or by the subscription that deliveries name; nobody
    delivers for an advertisement."""
    found: dict[str, tuple[int, str | None]] = {}
    if kind != "advertisement":
        for entry in log.read(DELIVERIES, 0):
            delivery = json.loads(entry.content)
            times, _ = found.get(delivery[kind], NEVER)
            found[delivery[kind]] = times + 1, delivery["time"]
    return found
