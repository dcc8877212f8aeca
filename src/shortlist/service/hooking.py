"""Routes for webhooks: where deliveries are sent, and what could not be."""

import asyncio
import json
from typing import Any

from fastapi import APIRouter, Response

from shortlist.client.keys import Holder
from shortlist.client.webhooks import (
    DEAD_LETTERS,
    NoWebhook,
    TakenWebhook,
    Webhook,
    known_webhooks,
    put_webhook,
    remove_webhook,
)
from shortlist.model.wording import shown
from shortlist.service.access import EVERYBODY, check_role, may_see
from shortlist.service.notifying import check_target
from shortlist.service.problems import Refused
from shortlist.service.registering import Name
from shortlist.service.state import After, Body, Caller, Here, Most, Service, body_schema, read_page

router = APIRouter(prefix="/webhooks", tags=["subscribers"])
MOST = 10_000


@router.get("")
def listed(service: Here, caller: Caller) -> dict[str, Any]:
    """Those that you made, in order of their ids; also those that have ended, with the reason."""
    check_role(caller, "subscriber")
    known = known_webhooks(service.log)
    seen = [known[name] for name in sorted(known) if may_see(caller, known[name].owner)]
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
    why = await asyncio.to_thread(service.notifier.why_ended, webhook)
    if why is not None:
        raise Refused(409, f"expected a webhook that goes on, found one that has ended: {why}")
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
    """Send what comes to a shortlist from now on, until it closes or your key is forbidden. The
    secret that requests are signed with is told this one time; if it is so already, nothing
    changes."""
    shortlist, url = body.get("shortlist"), body.get("url")
    if not isinstance(shortlist, str) or not isinstance(url, str):
        raise Refused(422, f"expected a shortlist and a url, found {shown(body)}")
    opening = await asyncio.to_thread(service.opening, caller, shortlist)
    await check_target(url, private=service.options.private_webhooks)
    known = await asyncio.to_thread(known_webhooks, service.log)
    before = known.get(name)
    if before is not None:
        if not may_see(caller, before.owner):
            raise TakenWebhook(f"expected a name that is free, found {shown(name)} in use")
        is_same = (before.shortlist, before.url) == (shortlist, url)
        if is_same and await asyncio.to_thread(service.notifier.why_ended, before) is None:
            return before.document()
    elif sum(webhook.disabled is None for webhook in known.values()) >= MOST:
        raise Refused(503, f"expected at most {MOST:,} webhooks, found more")
    holder = None if caller is EVERYBODY else caller
    made = await asyncio.to_thread(
        put_webhook, service.log, name, shortlist, url, opening, holder, before
    )
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
    if webhook is None or not may_see(caller, webhook.owner):
        raise NoWebhook(f"there is no webhook {shown(name)}")
    return webhook
