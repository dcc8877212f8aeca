"""What a log is called on a NATS server: its address, its streams, subjects and registers."""

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, unquote, urlsplit

from shortlist.log.streams import checked_stream
from shortlist.model.wording import shown

DEPLOYMENT = re.compile(r"[A-Za-z0-9_-]+")
LONGEST_TOKEN = 512
"""A subject has to fit into the 4096 bytes of a line of the protocol."""


@dataclass(frozen=True, slots=True)
class NatsNames:
    """The parts of `nats://user:password@host:port/NAME`, and the names that follow from NAME.

    >>> names = NatsNames.of_url("nats://ann:secret@localhost:4222/city")
    >>> names.address, names.stream("input"), names.subject("input", "ann.b*")
    ('nats://localhost:4222', 'city-input', 'city.input.ann=2Eb=2A')
    """

    address: str
    deployment: str
    user: str | None
    password: str | None

    @classmethod
    def of_url(cls, url: str) -> "NatsNames":
        parts = urlsplit(url)
        if parts.scheme != "nats" or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"expected nats://HOST:PORT/NAME, found {shown(url)}")
        deployment = parts.path.removeprefix("/") or "shortlist"
        if DEPLOYMENT.fullmatch(deployment) is None:
            raise ValueError(
                f"expected a name of letters, digits, - and _, found {shown(deployment)}"
            )
        return cls(
            address=f"nats://{parts.netloc.rpartition('@')[2]}",
            deployment=deployment,
            user=parts.username and unquote(parts.username),
            password=parts.password and unquote(parts.password),
        )

    def stream(self, stream: str) -> str:
        return f"{self.deployment}-{checked_stream(stream)}"

    def subject(self, stream: str, key: str | None = None) -> str:
        subject = f"{self.deployment}.{checked_stream(stream)}"
        return subject if key is None else f"{subject}.{token(key)}"


def token(text: str) -> str:
    """Any text as one token of a subject, and as a key of a bucket; long ones as their digest.

    >>> [token(text) for text in ("s1", "", "a=b", "é")]
    ['s1', '=', 'a=3Db', '=C3=A9']
    """
    escaped = quote(text, safe="").replace(".", "%2E").replace("~", "%7E").replace("%", "=")
    if len(escaped) > LONGEST_TOKEN:
        return f"=={sha256(text.encode()).hexdigest()}"
    return escaped or "="
