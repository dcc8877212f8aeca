"""What is live, one line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from shortlist.client.nouns import Noun, live_nouns, policy_kinds, subscriber_of
from shortlist.intake.documents import Kind
from shortlist.intake.files import KINDS
from shortlist.intake.roster import Roster
from shortlist.log.base import DELIVERIES, Log
from shortlist.model.advertisement import Advertisement
from shortlist.model.shortlist import Shortlist


class Listed(NamedTuple):
    """A live noun."""

    id: str
    owner: str | None
    """Its subscriber; of an advertisement its source."""
    about: str
    """Of a shortlist its policies, of the others their condition."""
    subscriptions: int | None = None
    delivered: int | None = None
    last: str | None = None
    """When something was delivered last."""

    def document(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class _Delivered(NamedTuple):
    times: int = 0
    last: str | None = None


def listed(
    roster: Roster,
    what: Literal["shortlists", "subscriptions", "advertisements"],
    subscriber: str | None = None,
    policy: str | None = None,
    counted: Log | None = None,
) -> Iterator[Listed]:
    """Those of a subscriber, with a kind of policy, or all, in order of their ids; with a log, the
    deliveries in it are counted."""
    kind = KINDS[what]
    delivered = None if counted is None else _delivered(counted, kind)
    nouns = live_nouns(roster, kind)
    for name in sorted(nouns):
        noun = nouns[name]
        owner = noun.source if isinstance(noun, Advertisement) else subscriber_of(roster, noun)
        is_asked = policy is None or policy in policy_kinds(roster, noun)
        if subscriber in (None, owner) and is_asked:
            yield _listed(roster, noun, owner, delivered)


def _listed(
    roster: Roster, noun: Noun, owner: str | None, delivered: dict[str, _Delivered] | None
) -> Listed:
    times, last = (None, None) if delivered is None else delivered.get(noun.id, _Delivered())
    if isinstance(noun, Shortlist):
        about = " then ".join(policy_kinds(roster, noun))
        return Listed(noun.id, owner, about, len(roster.members(noun.id)), times, last)
    return Listed(noun.id, owner, noun.where or "everything", None, times, last)


def _delivered(log: Log, kind: Kind) -> dict[str, _Delivered]:
    """By shortlist, or by the subscription that deliveries name; nobody delivers for an
    advertisement."""
    found: dict[str, _Delivered] = {}
    if kind != "advertisement":
        for entry in log.read(DELIVERIES, 0):
            delivery = json.loads(entry.content)
            name = delivery[kind]
            found[name] = _Delivered(found.get(name, _Delivered()).times + 1, delivery["time"])
    return found
