"""Tickets: for a minute they let in whoever cannot send a key, such as a browser's streams."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets

from shortlist.log.base import Log
from shortlist.log.json_register import Document, change_json, read_json

REGISTER = "tickets"
SECONDS = 60


class Tickets:
    """Makes and reads tickets; services on one log take each other's.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = SqliteLog(f"{folder}/city.log")
    ...     ticket = Tickets(log).ticket("anna's phone", now=1000)
    ...     print(Tickets(log).name(ticket, now=1059), Tickets(log).name(ticket, now=1061))
    ...     log.close()
    anna's phone None
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._secret: bytes | None = None

    def ticket(self, name: str, now: float) -> str:
        """For the holder of a key, by the name of that."""
        content = json.dumps([name, int(now) + SECONDS]).encode()
        return f"{_text(content)}.{_text(self._signed(content))}"

    def name(self, ticket: str, now: float) -> str | None:
        """Whose a ticket is; None if it is over, or none of ours."""
        try:
            content, signed = (base64.urlsafe_b64decode(part + "==") for part in ticket.split("."))
            if not hmac.compare_digest(signed, self._signed(content)):
                return None
            name, until = json.loads(content)
        except ValueError:
            return None
        return str(name) if now <= until else None

    def _signed(self, content: bytes) -> bytes:
        if self._secret is None:
            self._secret = bytes.fromhex(_known_secret(self._log))
        return hmac.new(self._secret, content, hashlib.sha256).digest()


def _known_secret(log: Log) -> str:
    made = secrets.token_hex(32)

    def kept(known: Document) -> Document:
        return known or {"secret": made}

    if not read_json(log, REGISTER):
        change_json(log, REGISTER, kept)
    return str(read_json(log, REGISTER)["secret"])


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
