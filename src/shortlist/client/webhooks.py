"""Webhooks: where the deliveries of a shortlist are sent, kept in the log.

A webhook belongs to one opening of its shortlist and to the key that made it. When either ends, it
is disabled: its owner finds it with the reason, and nothing that comes to the next owner of the
name is sent to it.

Requests are signed by the Standard Webhooks specification: whoever has the secret knows that they
come from here, and unaltered.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shortlist.client.deployment import Deployment
from shortlist.client.keys import Holder, remove_key
from shortlist.client.openings import Opening
from shortlist.log.base import DELIVERIES, Log
from shortlist.log.consumer import Consumer
from shortlist.log.json_register import Document, change_json, read_json
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown

REGISTER = "webhooks"
DEAD_LETTERS = "deadletters"
"""The stream of what could not be sent, by webhook."""
PREFIX = "whsec_"
SECRET_BYTES = 24


class NoWebhook(ShortlistError, LookupError):
    """A webhook that nobody has made, or that has ended."""


class TakenWebhook(ShortlistError):
    """A name that another webhook has."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """One of them."""

    id: str
    shortlist: str
    url: str
    secret: str
    # Only deliveries behind this offset are sent.
    after: int = 0
    # Tells apart webhooks that had the same id, one after the other.
    serial: str = ""
    # Why nothing is sent any more; None while the webhook goes on.
    disabled: str | None = None
    # The position of the opening that the webhook belongs to.
    opening: int = 0
    # The subscriber that may see the webhook; None: only operators may.
    owner: str | None = None
    # The name of the key that the webhook was made with; None: there were no keys.
    key: str | None = None

    def document(self) -> dict[str, Any]:
        """What its owner may see; the secret is told once, when it is made."""
        return {"id": self.id, "shortlist": self.shortlist, "url": self.url} | (
            {} if self.disabled is None else {"disabled": self.disabled}
        )

    def consumer(self, log: Log) -> Consumer:
        """Its place in the deliveries."""
        name = f"webhook/{self.serial}"
        return Consumer(log, DELIVERIES, name, key=self.shortlist, after=self.after)


def put_webhook(
    log: Log,
    id: str,
    shortlist: str,
    url: str,
    opening: Opening,
    holder: Holder | None,
    replaced: Webhook | None = None,
) -> Webhook:
    """Make a webhook, for deliveries that are committed from now on.

    `holder` has the key that asks for it; None where a service asks for no keys. `replaced` is the
    webhook of this id that it may take the place of: where there is another, which may be made at
    the same time, `TakenWebhook` is raised.
    """
    random = secrets.token_bytes(SECRET_BYTES)
    secret = PREFIX + base64.b64encode(random).decode()
    manifest = Deployment(log).manifest
    after = log.end(DELIVERIES) if manifest is None else manifest.deliveries.end
    made = Webhook(
        id,
        shortlist,
        url,
        secret,
        after,
        secrets.token_hex(8),
        opening=opening.position,
        owner=None if holder is None or holder.is_operator else holder.owner,
        key=None if holder is None else holder.name,
    )

    def added(known: Document) -> Document:
        present = known.get(id)
        if present is not None and (replaced is None or present["serial"] != replaced.serial):
            raise TakenWebhook(f"expected a name that is free, found {shown(id)} in use")
        return {**known, id: asdict(made)}

    change_json(log, REGISTER, added)
    return made


# How many webhooks that have ended are kept in the list, with the reason. Each takes about 400
# bytes of a register that is read twice a second.
MAX_ENDED = 1_000
FORBIDDEN = "its key was forbidden"
CLOSED = "its shortlist was closed"


def why_ended(webhook: Webhook, last: Opening, keys: Container[str]) -> str | None:
    """Why a webhook has ended, by the last opening of its shortlist and the names of all keys; None
    if it goes on."""
    if webhook.disabled is not None:
        return webhook.disabled
    if webhook.key is not None and webhook.key not in keys:
        return FORBIDDEN
    return None if last.position == webhook.opening else CLOSED


def disable_webhooks(log: Log, reasons: Mapping[Webhook, str]) -> None:
    """Send nothing more to these webhooks, except to those that were made anew meanwhile."""
    _disable(log, reasons.get)


def forbid_key(log: Log, name: str) -> list[str]:
    """Remove a key and end its webhooks; return their ids."""
    remove_key(log, name)
    return _disable(log, lambda webhook: FORBIDDEN if webhook.key == name else None)


def _disable(log: Log, reason_for: Callable[[Webhook], str | None]) -> list[str]:
    """Disable all webhooks that have a reason to end, in one change of the register.

    Return the ids of those that went on until now. Of all that have ended, forget the oldest.
    """
    ended: list[str] = []

    def disabled(known: Document) -> Document:
        going = [id for id, fields in known.items() if fields["disabled"] is None]
        reasons = {id: reason_for(Webhook(**known[id])) for id in going}
        ended[:] = [id for id, reason in reasons.items() if reason is not None]
        after = {**known, **{id: {**known[id], "disabled": reasons[id]} for id in ended}}
        over = [id for id, fields in after.items() if fields["disabled"] is not None]
        for id in over[:-MAX_ENDED]:
            del after[id]
        return after

    change_json(log, REGISTER, disabled)
    return ended


def remove_webhook(log: Log, id: str) -> None:
    def removed(known: Document) -> Document:
        if id not in known:
            raise NoWebhook(f"there is no webhook {shown(id)}")
        return {name: webhook for name, webhook in known.items() if name != id}

    change_json(log, REGISTER, removed)


def known_webhooks(log: Log) -> dict[str, Webhook]:
    return {name: Webhook(**fields) for name, fields in read_json(log, REGISTER).items()}


def signature(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """What a request's `webhook-signature` is.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed.digest()).decode()}"
