"""Subscriptions tried on what was published lately, in an engine of their own."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shortlist.client.deployment import Deployment, object_of
from shortlist.engine.engine import Result
from shortlist.engine.explanation import Question
from shortlist.engine.replay import replay
from shortlist.intake.lines import ItemReader
from shortlist.log.base import INPUT, Entry, Log
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time, parse_time
from shortlist.model.vocabulary import Vocabulary

MOST_PUBLICATIONS = 1000
MOST_ENTRIES = 20_000
"""That are looked at for them: heartbeats and commands stand between."""


def recent_publications(log: Log) -> list[Entry]:
    """The last ones of the input, in its order."""
    start, found = log.end(INPUT), list[Entry]()
    first = max(start - MOST_ENTRIES, 0)
    while start > first and len(found) < MOST_PUBLICATIONS:
        after = max(start - 1000, first)
        entries = [(each, object_of(each.content) or {}) for each in log.read(INPUT, after, start)]
        found[:0] = [entry for entry, document in entries if document.get("id") is not None]
        start = after
    return found[-MOST_PUBLICATIONS:]


def tried(
    deployment: Deployment,
    vocabulary: Vocabulary,
    subscription: Subscription,
    on: tuple[Shortlist, ...],
    *,
    now: int,
) -> dict[str, Any]:
    """What a subscription would have delivered up to now of what was published lately, had it been
    alone on its shortlist: on the one that is given, or on its own."""
    registry = Registry(vocabulary=vocabulary, shortlists=on, subscriptions=(subscription,))
    entries = recent_publications(deployment.log)
    result = _replayed(deployment, registry, entries)
    made = [each.document(with_data=True) for each in result.deliveries if each.time <= now]
    since = format_time(entries[0].appended) if entries else None
    return {"publications": len(entries), "since": since, "deliveries": made}


def explained(
    deployment: Deployment,
    registry: Registry,
    question: Question,
    entries: Sequence[Entry],
    *,
    now: int,
) -> list[dict[str, Any]]:
    """Why some publications are on a shortlist, or are not: as it would be with the subscriptions
    of now, had nothing come before."""
    result = _replayed(deployment, registry, entries, question)
    return [each for each in result.explanations if parse_time(each["time"]) <= now]


def _replayed(
    deployment: Deployment,
    registry: Registry,
    entries: Sequence[Entry],
    question: Question | None = None,
) -> Result:
    """It runs on to the end of time."""
    lines, appended = [each.content for each in entries], [each.appended for each in entries]
    basis = Settings(time=deployment.basis)
    return replay(registry, lines, basis, question, commands=False, appended=appended)


def reasons(
    registry: Registry, publication: Mapping[str, Any], shortlist: str
) -> list[dict[str, Any]]:
    """How far each subscription of a shortlist matches a publication, predicate by predicate;
    `BadItem` if that is none."""
    ItemReader(registry.vocabulary, commands=False).document(dict(publication), position=0)
    line = json.dumps(publication, ensure_ascii=False)
    explained = replay(registry, [line], question=Question(shortlist=shortlist)).explanations
    return next((each["subscriptions"] for each in explained if "subscriptions" in each), [])
