"""API keys of a deployment's service: kept in its log, as hashes."""

import hashlib
import secrets
from dataclasses import asdict, dataclass
from typing import Literal

from shortlist.log.base import Log
from shortlist.log.json_register import Document, change_json, read_json
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown

Role = Literal["publisher", "subscriber", "operator"]
REGISTER = "service/keys"
PREFIX = "shortlist_"


class BadKey(ShortlistError):
    """A key that cannot be made, or that nobody has."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a key: an operator may do all; a publisher publishes, as its owner if there is one;
    a subscriber sees and changes what is its owner's."""

    name: str
    role: Role
    owner: str | None = None

    @property
    def is_operator(self) -> bool:
        return self.role == "operator"


def add_key(log: Log, holder: Holder) -> str:
    """Makes a key and tells it, this one time.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> log = SqliteLog(f"{tempfile.mkdtemp()}/city.log")
    >>> key = add_key(log, Holder("anna's phone", "subscriber", "anna"))
    >>> known_keys(log)[hash_of(key)].owner, remove_key(log, "anna's phone"), known_keys(log)
    ('anna', None, {})
    """
    if holder.role == "subscriber" and holder.owner is None:
        raise BadKey("expected whose shortlists a subscriber's key is for, found nobody")
    key = PREFIX + secrets.token_urlsafe(32)

    def added(known: Document) -> Document:
        if any(one["name"] == holder.name for one in known.values()):
            raise BadKey(f"there is a key {shown(holder.name)} already")
        return {**known, hash_of(key): asdict(holder)}

    change_json(log, REGISTER, added)
    return key


def remove_key(log: Log, name: str) -> None:
    """From now on nobody gets in by it."""

    def removed(known: Document) -> Document:
        rest = {hashed: holder for hashed, holder in known.items() if holder["name"] != name}
        if len(rest) == len(known):
            raise BadKey(f"there is no key {shown(name)}")
        return rest

    change_json(log, REGISTER, removed)


def known_keys(log: Log) -> dict[str, Holder]:
    """Who has keys, by the hashes of these."""
    return {hashed: Holder(**holder) for hashed, holder in read_json(log, REGISTER).items()}


def own_sources(log: Log) -> frozenset[str]:
    """The sources that keys of publishers are bound to."""
    holders = known_keys(log).values()
    return frozenset(each.owner for each in holders if each.role == "publisher" and each.owner)


def has_keys(log: Log) -> bool:
    """Whether anybody has ever made one: who has removed the last one does not let all in."""
    return log.register(REGISTER) is not None


def hash_of(key: str) -> str:
    """Keys are random and long: nobody finds one by trying hashes."""
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
