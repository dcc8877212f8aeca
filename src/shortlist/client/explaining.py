"""What a shortlist shows, why a publication is on it, or is not, or would be, from the state of a
deployment; and subscriptions tried on what was published lately, in an engine of their own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shortlist.client.deployment import Deployment, object_of
from shortlist.client.openings import Opening, Openings
from shortlist.client.recent import (
    MAX_PUBLICATIONS,
    Name,
    read_backwards,
    recent_publications,
)
from shortlist.engine.engine import Result
from shortlist.engine.explanation import Check, Question, unchecked
from shortlist.engine.replay import replay
from shortlist.intake.lines import ItemReader
from shortlist.live.asking import Asked, NoSuchShortlist, data_at
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.base import DELIVERIES, REJECTS, Entry, Log
from shortlist.model.policy import policies_of
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED, Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time, parse_time
from shortlist.model.vocabulary import Vocabulary


def tried(
    deployment: Deployment,
    vocabulary: Vocabulary,
    subscription: Subscription,
    on: tuple[Shortlist, ...],
    *,
    now: int,
    check: Check = unchecked,
) -> dict[str, Any]:
    """What a subscription would have delivered up to now of what was published lately, had it been
    alone on its shortlist: on the one that is given, or on its own. `check` is called between the
    steps of the work."""
    registry = Registry(vocabulary=vocabulary, shortlists=on, subscriptions=(subscription,))
    entries = recent_publications(deployment, now).entries
    result = _replayed(deployment, registry, entries, check=check)
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
    result = _replayed(deployment, registry, entries, question, question.check)
    return [each for each in result.explanations if parse_time(each["time"]) <= now]


def _replayed(
    deployment: Deployment,
    registry: Registry,
    entries: Sequence[Entry],
    question: Question | None = None,
    check: Check = unchecked,
) -> Result:
    """Replay entries, and let time run on to its end."""
    lines, appended = [each.content for each in entries], [each.appended for each in entries]
    basis = Settings(time=deployment.basis)
    return replay(registry, lines, basis, question, commands=False, appended=appended, check=check)


def reasons(
    registry: Registry,
    publication: Mapping[str, Any],
    shortlist: str,
    check: Check = unchecked,
) -> list[dict[str, Any]]:
    """How far each subscription of a shortlist matches a publication, predicate by predicate;
    `BadItem` if that is none."""
    ItemReader(registry.vocabulary, commands=False).document(dict(publication), position=0)
    line = json.dumps(publication, ensure_ascii=False)
    question = Question(shortlist=shortlist, check=check)
    explained = replay(registry, [line], question=question).explanations
    return next((each["subscriptions"] for each in explained if "subscriptions" in each), [])


Document = dict[str, Any]
MOST_HELD_BACK = 100
HELD_BACK = ("time", "publication", "source", "score", "subscription", "reason", "above")
"""What is told of each."""


def origin(replayed: int | None) -> str:
    """What explanations are taken from, in words.

    >>> origin(1000)
    'replayed from the last 1,000 publications, with the subscriptions of now'
    """
    if replayed is None:
        return "from the state of the deployment"
    return f"replayed from the last {replayed:,} publications, with the subscriptions of now"


def told(
    deployment: Deployment, question: Question, shortlist: str, *, now: int
) -> tuple[list[Document], int | None]:
    """Explain why a publication is on a shortlist, or is not.

    The state tells that of what came since its last snapshot, and how what it holds stands now; of
    all else the last publications are replayed, as if nothing had come before. Returns how many
    were replayed; None if the answer is not from a replay.
    """
    asked, manifest, opening = _asked(deployment, shortlist, question.check)
    recent = recent_publications(deployment, now)
    recent.also(asked.taken_back())
    withdrawn = recent.withdrawn_for(question)
    documents = _told(deployment, asked, question)
    if withdrawn:
        documents = [_without_content(each) for each in documents]
    documents += [
        _withdrawn(name, reason, shortlist, now)
        for name, reason in withdrawn
        if name in recent.taken_back or not documents
    ]
    if documents:
        return documents, None
    entries = recent.behind(opening.position - manifest.base)
    return explained(deployment, asked.registry, question, entries, now=now), len(entries)


# What is told of a publication that was withdrawn: that it was, and what became of it, but nothing
# from which its content could be concluded.
HEADING = ("time", "publication", "source", "shortlist", "delivered", "reason")


def _without_content(document: Document) -> Document:
    return {field: document[field] for field in HEADING if field in document}


def _withdrawn(name: Name, reason: str, shortlist: str, now: int) -> Document:
    """Say why a publication can no longer be explained."""
    source, publication = name
    values = (format_time(now), publication, source, shortlist, False, reason)
    return dict(zip(HEADING, values, strict=True))


def told_by_state(deployment: Deployment, question: Question, shortlist: str) -> list[Document]:
    """What the state alone tells; nothing where that is not about the publication."""
    try:
        asked, *_ = _asked(deployment, shortlist)
    except NoSuchShortlist:  # it may have been one
        return []
    return _told(deployment, asked, question)


def _told(deployment: Deployment, asked: Asked, question: Question) -> list[Document]:
    """What became of a publication, and how it stands now; nothing if nobody knows it any more."""
    known = *asked.happened(question), *asked.stands(question)
    return [*_turned_away(deployment.log, question), *known]


def _turned_away(log: Log, question: Question) -> Iterator[Document]:
    """Yield publications that did not come to any shortlist, as far as the last rejects tell."""
    for entry in reversed([*read_backwards(log, REJECTS)]):
        reject = json.loads(entry.content)
        line = object_of((reject["line"] or "").encode(errors="replace"))
        if line is None or line.get("id") != question.publication:
            continue
        if question.source in (None, line.get("source")):
            yield {
                "time": format_time(entry.appended),
                "publication": line["id"],
                "source": line.get("source"),
                "shortlist": question.shortlist,
                "delivered": False,
                "reason": reject["reason"],
            }


def outcome(
    deployment: Deployment,
    document: Mapping[str, Any],
    shortlist: str,
    *,
    now: int,
    check: Check = unchecked,
) -> tuple[list[Document], Document]:
    """How far each subscription of a shortlist matches a publication, and what would become of it
    there if it appeared now; `BadItem` if it is none."""
    asked, manifest, _ = _asked(deployment, shortlist, check)
    # reasons do not depend on what publishers have advertised
    found = reasons(replace(asked.registry, advertisements=()), document, shortlist, check)
    reader = ItemReader(asked.registry.vocabulary, UNLIMITED, commands=False)
    says_time = manifest.basis == "event" and document.get("time") is not None
    time = None if says_time else max(now, manifest.reached or now)
    publication = reader.document(dict(document), manifest.position + 1, time)
    assert isinstance(publication, Publication)
    advertised = manifest.settings.get("advertised", "optional")
    settings = Settings(time=manifest.basis, advertised=advertised)
    return found, asked.would(publication, settings)


def held_back(
    deployment: Deployment, shortlist: str, *, now: int, check: Check = unchecked
) -> Document:
    """What was published lately, matches a shortlist, and was not delivered, the latest first, with
    the reason. The state tells it as far as it reaches; what came before is replayed, as if nothing
    had come earlier, with the subscriptions of now."""
    asked, manifest, opening = _asked(deployment, shortlist, check)
    known, after = asked.lately(MAX_PUBLICATIONS)
    recent = recent_publications(deployment, now)
    recent.also(asked.taken_back())
    entries = recent.behind(opening.position - manifest.base)
    before = [entry for entry in entries if entry.offset <= after]
    question = Question(shortlist=shortlist, check=check)
    older = explained(deployment, asked.registry, question, before, now=now) if before else []
    delivered = set[Name]()
    for entry in read_backwards(deployment.log, DELIVERIES, key=shortlist):
        check()
        delivery = json.loads(entry.content)
        delivered.add((delivery["source"], delivery["publication"]))
    found: dict[tuple[str, str], Document] = {}
    for each in (*older, *known):
        name = each["source"], each["publication"]
        if each["delivered"] or name in recent.taken_back:
            delivered.add(name)
        elif each.get("score") is not None:
            found[name] = {field: each[field] for field in HELD_BACK if field in each}
    items = [each for name, each in found.items() if name not in delivered]
    latest = items[::-1][:MOST_HELD_BACK]
    counts = {"publications": len(entries), "replayed": len(before)}
    return {"shortlist": shortlist, **counts, "items": latest}


def _state(deployment: Deployment) -> tuple[Manifest, Files]:
    manifest, files = deployment.manifest, deployment.files
    if manifest is None or files is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    return manifest, files


def _asked(
    deployment: Deployment, shortlist: str, check: Check = unchecked
) -> tuple[Asked, Manifest, Opening]:
    """Return a shortlist as the last commit has it, and its opening."""
    manifest, files = _state(deployment)
    opening = Openings(deployment.log).last(shortlist)
    asked = Asked(manifest, files, deployment.log, shortlist, check, opening.position)
    return asked, manifest, opening


def content_of(
    deployment: Deployment, shortlist: str, *, with_data: bool = False
) -> tuple[dict[str, Any], Manifest]:
    """A shortlist and what it shows now, the best first, as a JSON object, and the commit that this
    is of; `NoDeployment` or `NoSuchShortlist` where there is none."""
    asked, manifest, _ = _asked(deployment, shortlist)
    live, entries = asked.shown()
    shown = [entry.document() for entry in entries]
    for document, entry in zip(shown, entries, strict=True) if with_data else ():
        document["data"] = data_at(entry.publication.position, manifest, deployment.log)
    content = {
        "shortlist": live.id,
        "subscriber": live.subscriber,
        "time": None if manifest.reached is None else format_time(manifest.reached),
        "policy": [policy.kind for policy in policies_of(live.policy)],
        "shows": shown,
    }
    return content, manifest
