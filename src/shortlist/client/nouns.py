"""Nouns as somebody wants them, the commands after which they are so, and lists of what is live."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from shortlist.client.commands import BadOrders, Order
from shortlist.intake.documents import Documents, Kind, dump
from shortlist.intake.files import KINDS
from shortlist.intake.lines import MAKING, NAMING
from shortlist.intake.roster import Roster
from shortlist.log.base import DELIVERIES, Log
from shortlist.model.advertisement import Advertisement
from shortlist.model.policy import policies_of
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import shown

Noun = Shortlist | Subscription | Advertisement
MAKES = {kind: verb for verb, (kind, _) in MAKING.items()}
"""The command that makes each kind of noun."""
ENDS = {kind: verb for verb, (kind, _) in NAMING.items()}
"""The command that ends it."""


class NotLive(ShortlistError, LookupError):
    """A noun that a deployment does not have."""


class CannotBecome(ShortlistError):
    """A live noun that no command makes what is wanted."""


def read_noun(
    kind: Kind, document: Mapping[str, Any], vocabulary: Vocabulary, limits: Limits
) -> Noun:
    """The noun that a document describes; `BadOrders` with every problem if there is any.

    >>> read_noun("shortlist", {"id": "flats", "subscriber": "you"}, Vocabulary(), Limits()).id
    'flats'
    """
    documents = Documents(vocabulary, limits)
    noun: Noun | None = documents.read(kind, document)
    if noun is None:
        raise BadOrders([str(problem) for problem in documents.problems], documents.problems)
    return noun


def live_nouns(roster: Roster, kind: Kind) -> Mapping[str, Noun]:
    """All of one kind."""
    if kind == "shortlist":
        return roster.shortlists
    return roster.subscriptions if kind == "subscription" else roster.advertisements


def live_noun(roster: Roster, kind: Kind, name: str) -> Noun:
    found = live_nouns(roster, kind).get(name)
    if found is None:
        raise NotLive(f"there is no live {kind} {shown(name)}")
    return found


def orders_for(roster: Roster, kind: Kind, wanted: Noun) -> list[Order]:
    """The commands after which a noun is as wanted; none if it is so already.

    >>> roster = Roster()
    >>> orders_for(roster, "shortlist", Shortlist(id="flats", subscriber="you"))[0].verb
    'open'
    """
    place = f"{kind} {shown(wanted.id)}"
    live = live_nouns(roster, kind).get(wanted.id)
    if live is None:
        return [Order(place, MAKES[kind], dump(wanted))]
    if live == wanted:
        return []
    if kind == "advertisement":
        ended = Order(place, ENDS[kind], wanted.id)
        return [ended, Order(place, MAKES[kind], dump(wanted))]
    before, after = dump(live), dump(wanted)
    changes = {name: value for name, value in after.items() if value != before.get(name)}
    if "shortlist" in changes:
        raise CannotBecome(
            f"{place}: expected the shortlist {shown(before['shortlist'])}, found"
            f" {shown(changes['shortlist'])}: a live subscription stays with its shortlist"
        )
    return [Order(place, "update", {kind: wanted.id, **changes})]


def shortlist_of(roster: Roster, noun: Noun) -> Shortlist | None:
    """That of a noun; None for an advertisement, and where it is not live."""
    if isinstance(noun, Subscription):
        return noun.own_shortlist() or roster.shortlists.get(noun.shortlist_id)
    return noun if isinstance(noun, Shortlist) else None


def owner_of(roster: Roster, noun: Noun) -> str | None:
    """The subscriber of a noun's shortlist, if there is one; of an advertisement its source.

    >>> owner_of(Roster(), Subscription(id="s", subscriber="you"))
    'you'
    """
    if isinstance(noun, Advertisement):
        return noun.source
    own = shortlist_of(roster, noun)
    return None if own is None else own.subscriber


def policy_kinds(roster: Roster, noun: Noun) -> list[str]:
    """The policies of a noun's shortlist, one behind the other; an advertisement has none.

    >>> policy_kinds(Roster(), Subscription(id="s"))
    ['everything']
    """
    own = shortlist_of(roster, noun)
    return [] if own is None else [each.kind for each in policies_of(own.policy)]


def nouns_of(
    roster: Roster, kind: Kind, owner: str | None, policy: str | None, after: str = ""
) -> Iterator[Noun]:
    """Yield those of an owner, with a kind of policy, or all, behind an id and in order of ids."""
    nouns: Mapping[str, Noun] = live_nouns(roster, kind)
    names: Iterable[str] = nouns
    if owner is not None and kind != "advertisement":
        names = roster.owned_by(owner)
        if kind == "subscription":
            names = (member for name in names for member in roster.members(name))
    for name in sorted(name for name in names if name > after):
        noun = nouns[name]
        is_asked = policy is None or policy in policy_kinds(roster, noun)
        if is_asked and owner in (None, owner_of(roster, noun)):
            yield noun


NEVER = (0, None)


def listed(
    roster: Roster,
    what: Literal["shortlists", "subscriptions", "advertisements"],
    subscriber: str | None = None,
    policy: str | None = None,
    counted: Log | None = None,
) -> Iterator[dict[str, Any]]:
    """What is told of those that `nouns_of` gives; with a log, the deliveries in it are counted.
    About a shortlist are its policies, about others is their condition."""
    kind = KINDS[what]
    delivered = None if counted is None else _delivered(counted, kind)
    for noun in nouns_of(roster, kind, subscriber, policy):
        told: dict[str, Any] = {"id": noun.id, "owner": owner_of(roster, noun)}
        if isinstance(noun, Shortlist):
            told["about"] = " then ".join(policy_kinds(roster, noun))
            told["subscriptions"] = len(roster.members(noun.id))
        else:
            told["about"] = noun.where or "everything"
        if delivered is not None:
            told["delivered"], told["last"] = delivered.get(noun.id, NEVER)
        yield {name: value for name, value in told.items() if value is not None}


def _delivered(log: Log, kind: Kind) -> dict[str, tuple[int, str | None]]:
    """How often, and when last, by shortlist or by the subscription that deliveries name; nobody
    delivers for an advertisement."""
    found: dict[str, tuple[int, str | None]] = {}
    if kind != "advertisement":
        for entry in log.read(DELIVERIES, 0):
            delivery = json.loads(entry.content)
            times, _ = found.get(delivery[kind], NEVER)
            found[delivery[kind]] = times + 1, delivery["time"]
    return found
