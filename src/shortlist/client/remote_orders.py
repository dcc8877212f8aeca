"""Commands carried out by a service, each once its deployment has come to it; and its live nouns,
made as somebody wants them."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from shortlist.client.applying import Difference
from shortlist.client.commands import Order, Verdict, checked
from shortlist.client.nouns import ENDS, MAKES
from shortlist.client.remote import Refusal, Remote, Resource
from shortlist.intake.documents import Kind
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster
from shortlist.model.settings import UNLIMITED

RESOURCES: tuple[Resource, ...] = ("shortlists", "subscriptions", "advertisements")
MOST_AT_ONCE = 16
"""Requests: each waits until the deployment has come to it."""


RESOURCE = {kind: resource for resource in RESOURCES for kind in MAKES if resource == f"{kind}s"}
MADE = {verb: RESOURCE[kind] for kind, verb in MAKES.items()}
"""What is made by each command."""
ENDED = {verb: RESOURCE[kind] for kind, verb in ENDS.items()}


def carried_out(remote: Remote, orders: Sequence[Order]) -> Iterator[Verdict]:
    """What became of each, in order; `BadOrders` before the first if one of them is bad.

    What is made is as it is put: one that is live becomes so. Orders of one kind about different
    nouns go at the same time.
    """
    checked(orders, registry_from_documents({"vocabulary": remote.vocabulary()}).vocabulary)
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        # a subscription that joins a shortlist waits for those that may own it
        stages = groupby(orders, key=lambda it: (it.verb, it.verb == "subscribe" and _joins(it)))
        for _, alike in stages:
            some = [*alike]
            is_free = len({*map(_name, some)}) == len(some)
            run = threads.map if is_free else map
            yield from run(lambda order: verdict_on(remote, order), some)


def _name(order: Order) -> str:
    """What an order is about."""
    if not isinstance(order.content, dict):
        return str(order.content)
    names = ("id", "subscription", "shortlist", "attribute")
    return next(str(order.content[name]) for name in names if name in order.content)


def verdict_on(remote: Remote, order: Order) -> Verdict:
    """Has an order carried out; what became of it."""
    try:
        answer = _asked(remote, order)
    except Refusal as refusal:
        return Verdict(order.place, refusal.offset, str(refusal), None)
    return Verdict(order.place, answer.get("offset"), None, answer.get("effect"))


def _asked(remote: Remote, order: Order) -> dict[str, Any]:
    content = order.content
    if order.verb in ENDED:
        return remote.delete(ENDED[order.verb], str(content))
    assert isinstance(content, dict)
    if order.verb in MADE:
        return remote.put(MADE[order.verb], content["id"], content)
    if order.verb == "retract":
        return remote.retract(content["source"], content["id"])
    if order.verb == "define":
        return remote.define(content["attribute"], content["terms"])
    kind: Kind = "subscription" if "subscription" in content else "shortlist"
    changes = dict(content)
    return remote.patch(RESOURCE[kind], changes.pop(kind), changes)


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
    return Roster.of(registry, limits=UNLIMITED)


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
        for _, some in groupby(sorted(differences, key=_turn), key=_turn):
            yield from threads.map(lambda each: verdict_on(remote, each.orders[-1]), some)


def _turn(difference: Difference) -> tuple[int, bool, bool]:
    """Terms come first, and those that end last; of nouns what ends comes first, shortlists before
    what is on them, and subscriptions before those that join their own."""
    ends = difference.change == "ended"
    if difference.kind == "term":
        return (3 if ends else 0), False, False
    return (1 if ends else 2), difference.kind != "shortlist", _joins(difference.orders[-1])


def _joins(order: Order) -> bool:
    return isinstance(order.content, dict) and order.content.get("shortlist") is not None
