"""Who may do what: keys, owners, and how often; and tickets, which for a minute let in whoever
cannot send a key, such as a browser's streams."""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from shortlist.client.keys import Holder, Role, has_keys, hash_of, known_keys
from shortlist.intake.roster import Roster
from shortlist.log.base import Log, LogUnavailable
from shortlist.log.json_register import change_json, read_json
from shortlist.model.shortlist import Shortlist
from shortlist.model.wording import shown
from shortlist.service.problems import Refused

REFRESH_SECONDS = 2.0
"""For so long a key that was removed may still work."""
TICKETS = "tickets"
"""The register that has the secret by which they are signed."""
TICKET_SECONDS = 60
MOST_CALLERS = 10_000
"""Whose rates are remembered."""
STREAM = "/events"
"""What the paths of server-sent events end in."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYBODY = Holder("everybody", "operator")
"""Whoever calls on loopback before there are keys."""


class Rates:
    """At most so many requests a second by each caller, and twice as many at once.

    >>> rates = Rates(1)
    >>> [rates.wait("ann", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._left: dict[str, tuple[float, float]] = {}
        """How many each had left, and when."""

    def wait(self, caller: str, now: float) -> float:
        """Counts a request; the seconds after which it may come again, 0 if it may pass."""
        most = 2 * self._per_second
        if len(self._left) > MOST_CALLERS:
            self._left.clear()
        left, since = self._left.get(caller, (most, now))
        left = min(most, left + (now - since) * self._per_second)
        may_pass = left >= 1
        self._left[caller] = left - may_pass, now
        return 0.0 if may_pass else (1 - left) / self._per_second


class Access:
    """Tells who calls, and what they may do."""

    def __init__(self, log: Log, *, is_loopback: bool, per_second: float) -> None:
        self._log = log
        self._is_loopback = is_loopback
        self._rates = Rates(per_second)
        self._asks, self._keys = has_keys(log), known_keys(log)
        self.tickets = Tickets(log)

    async def run(self) -> None:
        """Learns of keys that come and go, until it is cancelled."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            with suppress(LogUnavailable):
                self._keys = await asyncio.to_thread(known_keys, self._log)
                self._asks = self._asks or await asyncio.to_thread(has_keys, self._log)

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything: on loopback, until the first key is made."""
        return self._is_loopback and not self._asks

    def holder(self, request: HTTPConnection) -> Holder:
        """Who calls; refuses whoever has no key, or calls too often."""
        holder = self._holder(request)
        caller = request.client.host if request.client and holder is EVERYBODY else holder.name
        wait = self._rates.wait(caller, time.monotonic())
        if wait:
            headers = {"Retry-After": str(int(wait) + 1)}
            raise Refused(429, f"too many requests: come again in {wait:.1f} s", headers=headers)
        return holder

    def is_still(self, holder: Holder) -> bool:
        """Whether somebody who was let in still has a key."""
        return (self.is_open and holder is EVERYBODY) or holder in self._keys.values()

    def _holder(self, request: HTTPConnection) -> Holder:
        if self.is_open:
            # a page of somebody else's, under a name that leads here, must not get in
            host = request.headers.get("host", LOOPBACK[0])
            if not _names_loopback(host):
                raise Refused(421, f"expected a request to loopback, found {shown(host)}")
            # browsers let any page open WebSockets to here, and read what comes
            is_socket = request.scope["type"] == "websocket"
            origin = request.headers.get("origin") if is_socket else None
            if origin is not None and urlsplit(origin).netloc != request.url.netloc:
                raise Refused(403, f"expected a page of this service, found one of {shown(origin)}")
            return EVERYBODY
        found, expected = self._found(request)
        if found is None:
            raise Refused(401, expected, headers=CHALLENGE)
        return found

    def knows(self, request: HTTPConnection) -> bool:
        """Whether a request brings a key, or a ticket, of ours."""
        return self._found(request)[0] is not None

    def _found(self, request: HTTPConnection) -> tuple[Holder | None, str]:
        """Who calls, by a key or a ticket; if nobody, what was expected."""
        ticket = request.query_params.get("ticket")
        if ticket is not None:
            is_read = request.scope.get("method") == "GET" and request.url.path.endswith(STREAM)
            if request.scope["type"] != "websocket" and not is_read:
                return None, "expected a key: tickets are for streams alone"
            name = self.tickets.name(ticket, time.time())
            found = next((each for each in self._keys.values() if each.name == name), None)
            return found, "expected a ticket of the last minute, found another"
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            return None, "expected a key: Authorization: Bearer KEY"
        found = self._keys.get(hash_of(key.strip()))
        return found, "expected a key that is known, found another"


CHALLENGE = {"WWW-Authenticate": "Bearer"}


@lru_cache
def _names_loopback(host: str) -> bool:
    """Whether that is what a request says of where it goes.

    >>> _names_loopback("127.0.0.1:8000"), _names_loopback("[::1]"), _names_loopback("x.org")
    (True, True, False)
    """
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def check_role(holder: Holder, *roles: Role) -> None:
    """An operator may do what anybody may."""
    if not holder.is_operator and holder.role not in roles:
        expected = " or ".join([*roles, "operator"])
        raise Refused(403, f"expected the key of a {expected}, found one of a {holder.role}")


def check_publisher(holder: Holder, source: object) -> None:
    """Whether somebody may publish, and advertise, under a name."""
    check_role(holder, "publisher")
    if holder.owner is not None and not holder.is_operator and source != holder.owner:
        raise Refused(403, f"expected the source {holder.owner!r}, which this key is for")


def may_see(holder: Holder, subscriber: str | None) -> bool:
    return holder.is_operator or (holder.role == "subscriber" and holder.owner == subscriber)


def check_shortlist(holder: Holder, roster: Roster, shortlist: str) -> Shortlist:
    """A live shortlist that a key may see; of others' its holder does not learn that they exist."""
    check_role(holder, "subscriber")
    live = roster.shortlists.get(shortlist)
    if live is None or not may_see(holder, live.subscriber):
        raise Refused(404, f"there is no live shortlist {shortlist!r}")
    return live


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
        content = json.dumps([name, int(now) + TICKET_SECONDS]).encode()
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
            if not read_json(self._log, TICKETS):
                made = {"secret": secrets.token_hex(32)}
                change_json(self._log, TICKETS, lambda known: known or made)
            self._secret = bytes.fromhex(read_json(self._log, TICKETS)["secret"])
        return hmac.new(self._secret, content, hashlib.sha256).digest()


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
