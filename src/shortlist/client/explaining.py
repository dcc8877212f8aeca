"""Why a publication is on a shortlist, or is not, or would be: from the state of a deployment."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from shortlist.client.deployment import Deployment, last_entries, object_of
from shortlist.client.trying import (
    MOST_ENTRIES,
    MOST_PUBLICATIONS,
    explained,
    reasons,
    recent_publications,
)
from shortlist.engine.explanation import Question
from shortlist.intake.lines import ItemReader
from shortlist.live.asking import Asked
from shortlist.live.looking import NoSuchShortlist
from shortlist.live.manifest import Manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.base import DELIVERIES, REJECTS, Log
from shortlist.model.publication import Publication
from shortlist.model.settings import UNLIMITED, Settings
from shortlist.model.times import format_time

Document = dict[str, Any]
MOST_HELD_BACK = 100
HELD_BACK = ("time", "publication", "source", "score", "subscription", "reason", "above")
"""What is told of each."""


class Told(NamedTuple):
    """Explanations, and what they are taken from."""

    explanations: list[Document]
    replayed: int | None = None
    """How many publications were looked at once more; None where the state has told it."""

    @property
    def origin(self) -> str:
        """In words.

        >>> Told([], 1000).origin
        'replayed from the last 1,000 publications, with the subscriptions of now'
        """
        if self.replayed is None:
            return "from the state of the deployment"
        last = f"the last {self.replayed:,} publications"
        return f"replayed from {last}, with the subscriptions of now"


def told(deployment: Deployment, question: Question, shortlist: str, *, now: int) -> Told:
    """Why a publication is on a shortlist, or is not. The state tells that of what came since its
    last snapshot, and how what it holds stands now; of all else the last publications are replayed,
    as if nothing had come before."""
    asked, _ = _asked(deployment, shortlist)
    found = _told(deployment, asked, question)
    if found:
        return Told(found)
    entries = recent_publications(deployment.log)
    return Told(explained(deployment, asked.registry, question, entries, now=now), len(entries))


def told_by_state(deployment: Deployment, question: Question, shortlist: str) -> list[Document]:
    """What the state alone tells; nothing where that is not about the publication."""
    try:
        asked, _ = _asked(deployment, shortlist)
    except NoSuchShortlist:  # it may have been one
        return []
    return _told(deployment, asked, question)


def _told(deployment: Deployment, asked: Asked, question: Question) -> list[Document]:
    return [*_turned_away(deployment.log, question), *asked.told(question)]


def _turned_away(log: Log, question: Question) -> Iterator[Document]:
    """Publications that did not come to any shortlist, as far as the last rejects tell."""
    for entry in last_entries(log, REJECTS, MOST_ENTRIES):
        reject = json.loads(entry.content)
        said = object_of((reject["line"] or "").encode(errors="replace"))
        if said is None or said.get("id") != question.publication:
            continue
        if question.source in (None, said.get("source")):
            yield {
                "time": format_time(entry.appended),
                "publication": said["id"],
                "source": said.get("source"),
                "shortlist": question.shortlist,
                "delivered": False,
                "reason": reject["reason"],
            }


def outcome(
    deployment: Deployment, document: Mapping[str, Any], shortlist: str, *, now: int
) -> tuple[list[Document], Document]:
    """How far each subscription of a shortlist matches a publication, and what would become of it
    there if it appeared now; `BadItem` if it is none."""
    asked, manifest = _asked(deployment, shortlist)
    # reasons do not depend on what publishers have advertised
    found = reasons(replace(asked.registry, advertisements=()), document, shortlist)
    reader = ItemReader(asked.registry.vocabulary, UNLIMITED, commands=False)
    says_time = manifest.basis == "event" and document.get("time") is not None
    time = None if says_time else max(now, manifest.reached or now)
    publication = reader.document(dict(document), manifest.position + 1, time)
    assert isinstance(publication, Publication)
    advertised = manifest.settings.get("advertised", "optional")
    settings = Settings(time=manifest.basis, advertised=advertised)
    return found, asked.would(publication, settings)


def held_back(deployment: Deployment, shortlist: str, *, now: int) -> Document:
    """What was published lately, matches a shortlist, and was not delivered, the latest first, with
    the reason. The state tells it as far as it reaches; what came before is replayed, as if nothing
    had come earlier, with the subscriptions of now."""
    asked, _ = _asked(deployment, shortlist)
    known, after = asked.lately(MOST_PUBLICATIONS)
    recent = recent_publications(deployment.log)
    before = [entry for entry in recent if entry.offset <= after]
    question = Question(shortlist=shortlist)
    older = explained(deployment, asked.registry, question, before, now=now) if before else []
    delivered = {*_delivered_lately(deployment.log, shortlist)}
    found: dict[tuple[str, str], Document] = {}
    for each in (*older, *known):
        name = each["source"], each["publication"]
        if each["delivered"]:
            delivered.add(name)
        elif each.get("score") is not None:
            found[name] = {field: each[field] for field in HELD_BACK if field in each}
    items = [each for name, each in found.items() if name not in delivered]
    latest = items[::-1][:MOST_HELD_BACK]
    counts = {"publications": len(recent), "replayed": len(before)}
    return {"shortlist": shortlist, **counts, "items": latest}


def _delivered_lately(log: Log, shortlist: str) -> Iterator[tuple[str, str]]:
    for entry in last_entries(log, DELIVERIES, MOST_ENTRIES, shortlist):
        delivery = json.loads(entry.content)
        yield delivery["source"], delivery["publication"]


def _asked(deployment: Deployment, shortlist: str) -> tuple[Asked, Manifest]:
    manifest, files = deployment.manifest, deployment.files
    if manifest is None or files is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    return Asked(manifest, files, deployment.log, shortlist, UNLIMITED), manifest
