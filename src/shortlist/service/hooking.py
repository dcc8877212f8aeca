"""Routes for webhooks: where deliveries are sent, and what could not be."""

import asyncio
import json
from typing import Any

from fastapi import APIRouter, Response

from shortlist.client.keys import Holder
from shortlist.client.webhooks import (
    DEAD_LETTERS,
    NoWebhook,
    Webhook,
    known_webhooks,
    put_webhook,
    remove_webhook,
)
from shortlist.model.wording import shown
from shortlist.service.access import check_role
from shortlist.service.notifying import check_target
from shortlist.service.problems import Refused
from shortlist.service.registering import Name
from shortlist.service.state import After, Body, Caller, Here, Most, Service, body_schema, read_page

router = APIRouter(prefix="/webhooks", tags=["subscribers"])
MOST = 10_000


@router.get("")
def listed(service: Here, caller: Caller) -> dict[str, Any]:
    """Those of shortlists that are yours to see, in order of their ids."""
    check_role(caller, "subscriber")
    known = known_webhooks(service.log)
    seen = [known[name] for name in sorted(known) if _may_see(service, caller, known[name])]
    return {"items": [_document(service, webhook) for webhook in seen]}


@router.get("/{name:path}/dead-letters")
def dead_letters(
    name: Name,
    service: Here,
    caller: Caller,
    after: After = 0,
    limit: Most = 100,
) -> dict[str, Any]:
    """What could not be sent, with the reason; `next` is where the following page begins."""
    webhook = _seen(service, caller, name)
    entries, following = read_page(service.log, DEAD_LETTERS, webhook.serial, after, limit)
    items = [{"number": entry.offset, **json.loads(entry.content)} for entry in entries]
    return {"items": items, "next": following}


@router.post(
    "/{name:path}/dead-letters/replay",
    openapi_extra=body_schema("`numbers` of dead letters."),
)
async def replay(name: Name, body: Body, service: Here, caller: Caller) -> dict[str, Any]:
    """Send dead letters again, each once; says which were taken."""
    webhook = await asyncio.to_thread(_seen, service, caller, name)
    numbers = body.get("numbers")
    if not isinstance(numbers, list) or not all(type(each) is int for each in numbers):
        expected = "numbers: expected a list of whole numbers"
        raise Refused(422, f"{expected}, found {shown(numbers)}")
    return {"items": await service.notifier.replay(webhook, numbers)}


@router.get("/{name:path}")
def got(name: Name, service: Here, caller: Caller) -> dict[str, Any]:
    """One of them: up to which delivery all is sent, and why, if it is tried again."""
    return _document(service, _seen(service, caller, name))


@router.put(
    "/{name:path}",
    responses={201: {"description": "It is new."}},
    openapi_extra=body_schema("A `shortlist`, and the `url` that its deliveries are posted to."),
)
async def put(
    name: Name, response: Response, body: Body, service: Here, caller: Caller
) -> dict[str, Any]:
    """Send what comes to a shortlist from now on. The secret that requests are signed with is told
    this one time; if it is so already, nothing changes."""
    shortlist, url = body.get("shortlist"), body.get("url")
    if not isinstance(shortlist, str) or not isinstance(url, str):
        raise Refused(422, f"expected a shortlist and a url, found {shown(body)}")
    await asyncio.to_thread(service.check_seen, caller, shortlist)
    await check_target(url, private=service.options.private_webhooks)
    known = await asyncio.to_thread(known_webhooks, service.log)
    before = known.get(name)
    if before is not None:
        if not await asyncio.to_thread(_may_see, service, caller, before):
            raise Refused(409, f"expected a name that is free, found {shown(name)} in use")
        if (before.shortlist, before.url, before.disabled) == (shortlist, url, None):
            return before.document()
    elif len(known) >= MOST:
        raise Refused(503, f"expected at most {MOST:,} webhooks, found more")
    made = await asyncio.to_thread(put_webhook, service.log, name, shortlist, url)
    response.status_code = 201
    return {**made.document(), "secret": made.secret}


@router.delete("/{name:path}")
def delete(name: Name, service: Here, caller: Caller) -> dict[str, Any]:
    """Send nothing more."""
    webhook = _seen(service, caller, name)
    remove_webhook(service.log, webhook.id)
    return {"id": name}


def _document(service: Service, webhook: Webhook) -> dict[str, Any]:
    found = webhook.document() | {"position": webhook.consumer(service.log).position}
    failure = service.notifier.failures.get(webhook.id)
    return found if failure is None else {**found, "trying again": failure}


def _seen(service: Service, caller: Holder, name: str) -> Webhook:
    """Of others' nobody learns that they exist."""
    check_role(caller, "subscriber")
    webhook = known_webhooks(service.log).get(name)
    if webhook is None or not _may_see(service, caller, webhook):
        raise NoWebhook(f"there is no webhook {shown(name)}")
    return webhook


def _may_see(service: Service, caller: Holder, webhook: Webhook) -> bool:
    try:
        service.check_seen(caller, webhook.shortlist)
    except Refused:
        return caller.is_operator
    return True
