"""The live nouns of a service, and what makes them as somebody wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from shortlist.client.applying import Difference
from shortlist.client.commands import Verdict
from shortlist.client.deployment import UNLIMITED
from shortlist.client.remote import Refusal, Remote, Resource
from shortlist.client.remote_orders import MOST_AT_ONCE, RESOURCES, verdict_on
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster, registry_commands

PAGE = 1000
FORBIDDEN = 403


def remote_registry(remote: Remote, needed: Resource | None = None) -> Roster:
    """What is live and may be seen with this key, which has to see the kind that is needed."""
    documents: dict[str, Any] = {
        resource: _all(remote, resource, is_needed=resource == needed) for resource in RESOURCES
    }
    own = {made["id"] for made in documents["subscriptions"] if made["shortlist"] is None}
    documents["shortlists"] = [made for made in documents["shortlists"] if made["id"] not in own]
    registry = registry_from_documents({**documents, "vocabulary": remote.vocabulary()}, UNLIMITED)
    roster = Roster(registry.vocabulary, UNLIMITED)
    for command in registry_commands(registry):
        roster.apply(command)
    return roster


def _all(remote: Remote, resource: Resource, *, is_needed: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        try:
            page = remote.list(resource, after=after, limit=PAGE)
        except Refusal as refusal:
            if is_needed or refusal.status != FORBIDDEN:
                raise
            return []
        found += page["items"]
        after = page["next"]
    return found


def apply_remotely(remote: Remote, differences: Sequence[Difference]) -> Iterator[Verdict]:
    """Makes it so, and says what became of each; what does not depend on each other at once."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        for _, some in groupby(sorted(differences, key=_stage), key=_stage):
            yield from threads.map(lambda each: verdict_on(remote, each.orders[-1]), some)


def _stage(difference: Difference) -> tuple[int, bool, bool]:
    """Terms come first, and those that end last; of nouns what ends comes first, shortlists before
    what is on them, and subscriptions before those that join their own."""
    ends = difference.change == "ended"
    if difference.kind == "term":
        return (3 if ends else 0), False, False
    content = difference.orders[-1].content
    joins = isinstance(content, dict) and content.get("shortlist") is not None
    return (1 if ends else 2), difference.kind != "shortlist", joins
