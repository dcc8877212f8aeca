"""Webhooks: where the deliveries of a shortlist are sent, kept in the log.

Requests are signed by the Standard Webhooks specification: whoever has the secret knows that they
come from here, and unaltered.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from shortlist.client.deployment import Deployment
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


@dataclass(frozen=True, slots=True)
class Webhook:
    """One of them."""

    id: str
    shortlist: str
    url: str
    secret: str
    after: int = 0
    """Deliveries behind this offset are sent."""
    serial: str = ""
    """Tells apart those that had one id, one after the other."""
    disabled: str | None = None
    """Why nothing is sent any more."""

    def document(self) -> dict[str, Any]:
        """What its owner may see; the secret is told once, when it is made."""
        return {"id": self.id, "shortlist": self.shortlist, "url": self.url} | (
            {} if self.disabled is None else {"disabled": self.disabled}
        )

    def consumer(self, log: Log) -> Consumer:
        """Its place in the deliveries."""
        return Consumer(log, DELIVERIES, f"webhook/{self.serial}", key=self.shortlist)


def put_webhook(log: Log, id: str, shortlist: str, url: str) -> Webhook:
    """Makes one, which begins with what is committed from now on; one that had this id ends."""
    random = secrets.token_bytes(SECRET_BYTES)
    secret = PREFIX + base64.b64encode(random).decode()
    manifest = Deployment(log).manifest
    after = log.end(DELIVERIES) if manifest is None else manifest.deliveries.end
    made = Webhook(id, shortlist, url, secret, after, secrets.token_hex(8))
    made.consumer(log).seen(made.after)
    change_json(log, REGISTER, lambda known: {**known, id: asdict(made)})
    return made


def disable_webhook(log: Log, webhook: Webhook, why: str) -> None:
    """Nothing is sent any more, unless it has been made anew meanwhile."""

    def disabled(known: Document) -> Document:
        if known.get(webhook.id) != asdict(webhook):
            return known
        return {**known, webhook.id: {**known[webhook.id], "disabled": why}}

    change_json(log, REGISTER, disabled)


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
