"""Who is live: which command may be carried out, and what the registry is after it."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from shortlist.intake.defining import TermUse, Users, changed_terms, defined
from shortlist.intake.documents import Documents, Kind, labelled
from shortlist.language.errors import LanguageError
from shortlist.language.templates import Templates
from shortlist.model import command as commands
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Command
from shortlist.model.paths import format_path
from shortlist.model.problem import Problem
from shortlist.model.registry import Live, Registry
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import LiveVocabulary, Vocabulary

Changes = Mapping[str, Any]
"""Fields as documents have them; null for the default."""


class Updated(NamedTuple):
    """A subscription, a shortlist, or a subscription with the shortlist that it owns."""

    subscription: Subscription | None
    shortlist: Shortlist | None


def _updated(made: Subscription | Shortlist) -> Updated:
    if isinstance(made, Subscription):
        return Updated(made, made.own_shortlist())
    return Updated(None, made)


BEFORE_ALL_TIME = -(2**62)
"""When a registry's own entries were made."""

OWN_FIELDS = ("subscriber", "policy", "combine")
"""What a subscription says of the shortlist that it owns."""


class Roster:
    """The live shortlists, subscriptions and advertisements.

    It begins with a vocabulary, of which it has a copy that follows commands. By that, and under
    limits, it judges what is asked for and updated.

    >>> roster = Roster()
    >>> roster.refusal(commands.Unsubscribe(time=0, position=0, subscription="s1"))
    "there is no live subscription 's1'"
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        limits: Limits | None = None,
        live: Live | None = None,
    ) -> None:
        self.vocabulary = LiveVocabulary.copied(vocabulary or Vocabulary())
        limits = limits or Limits()
        self._documents = Documents(self.vocabulary, limits)
        self._templates = Templates(self.vocabulary, limits.for_what_was_read())
        self.live = live or Live.nobody()
        self.shortlists, self.subscriptions, self._members = self.live
        self.advertisements: dict[str, Advertisement] = {}
        self._update: tuple[commands.Update, Updated] | None = None
        """What the update comes to that was asked about last, as long as nothing changes."""

    @classmethod
    def of(
        cls, registry: Registry, commands: Iterable[Command] = (), limits: Limits | None = None
    ) -> "Roster":
        """One that begins with a registry, after commands that were not refused."""
        roster = cls(registry.vocabulary, limits)
        for command in chain(registry_commands(registry), commands):
            roster.apply(command)
        return roster

    def refusal(self, command: Command) -> str | None:
        """Why a command cannot be carried out now; None if it can."""
        match command:
            case commands.Open(shortlist=shortlist):
                return _taken("shortlist", shortlist.id, self.shortlists)
            case commands.Close(shortlist=name):
                return _unknown("shortlist", name, self.shortlists)
            case commands.Subscribe(subscription=subscription):
                return self._subscribe_refusal(subscription)
            case commands.Unsubscribe(subscription=name):
                return _unknown("subscription", name, self.subscriptions)
            case commands.Update():
                return self._update_refusal(command)
            case commands.Advertise(advertisement=advertisement):
                unknown = self.unknown_term("advertisement", advertisement)
                return unknown or _taken("advertisement", advertisement.id, self.advertisements)
            case commands.Unadvertise(advertisement=name):
                return _unknown("advertisement", name, self.advertisements)
            case commands.Define():
                return self._define_refusal(command)
            case commands.Retry(quarantined=position) | commands.Drop(quarantined=position):
                return not_in_quarantine(position)  # where there is one, nobody asks here
        return None

    def apply(self, command: Command) -> None:
        """Carries out a command that was not refused."""
        match command:
            case commands.Open(shortlist=shortlist):
                self._open(shortlist)
            case commands.Close(shortlist=name):
                self._close(name)
            case commands.Subscribe(subscription=subscription):
                own = subscription.own_shortlist()
                if own is not None:
                    self._open(own)
                self.subscriptions[subscription.id] = subscription
                members = self._members[subscription.shortlist_id]
                members[subscription.id] = None
                self._members[subscription.shortlist_id] = members
            case commands.Unsubscribe(subscription=name):
                subscription = self.subscriptions[name]
                if subscription.shortlist is None:
                    self._close(subscription.id)
                else:
                    del self.subscriptions[name]
                    members = self._members[subscription.shortlist]
                    del members[name]
                    self._members[subscription.shortlist] = members
            case commands.Update():
                made = self.updated(command)
                if made.subscription is not None:
                    self.subscriptions[made.subscription.id] = made.subscription
                if made.shortlist is not None:
                    self.shortlists[made.shortlist.id] = made.shortlist
            case commands.Advertise(advertisement=advertisement):
                self.advertisements[advertisement.id] = advertisement
            case commands.Unadvertise(advertisement=name):
                del self.advertisements[name]
            case commands.Define(attribute=path):
                self.vocabulary.declare(path, defined(self.vocabulary.of(path), command))
        self._update = None

    def members(self, shortlist: str) -> list[str]:
        """The live subscriptions of a live shortlist, in order of arrival."""
        return list(self._members[shortlist])

    def owned_by(self, subscriber: str) -> Iterable[str]:
        """Return the live shortlists of a subscriber."""
        return (name for name, made in self.shortlists.items() if made.subscriber == subscriber)

    def is_owned(self, shortlist: str) -> bool:
        """Whether a live subscription owns the live shortlist of this id."""
        owner = self.subscriptions.get(shortlist)
        return owner is not None and owner.shortlist is None

    def shortlist_of(self, command: Command) -> str | None:
        """The one shortlist that a command touches; None where it touches none in particular."""
        match command:
            case commands.Open(shortlist=shortlist):
                return shortlist.id
            case commands.Close(shortlist=name):
                return name
            case commands.Subscribe(subscription=subscription):
                return subscription.shortlist_id
            case commands.Unsubscribe(subscription=name):
                return self.subscriptions[name].shortlist_id
            case commands.Update(kind="shortlist", id=name):
                return name
            case commands.Update(id=name):
                return self.subscriptions[name].shortlist_id
        return None

    def updated(self, command: commands.Update) -> Updated:
        """What an update that was not refused makes of its noun."""
        if self._update is None or self._update[0] is not command:
            noun = self._noun(command)
            assert noun is not None
            self._update = command, _updated(self._documents.changed(noun, command.changes))
        return self._update[1]

    def unknown_term(self, kind: Kind, noun: Subscription | Advertisement) -> str | None:
        """What is wrong with a noun that was read whatever terms there are; None if nothing is."""
        try:
            if noun.where is not None:
                self._templates.outline(noun.where)
        except LanguageError as error:
            label = labelled(kind, {"id": noun.id})
            return str(Problem(id=label, field="where", column=error.column, message=error.message))
        return None

    def concerned(self, command: commands.Define) -> Users:
        """Whose meaning changes once terms are defined."""
        known = self.vocabulary.of(command.attribute).terms
        return self._users(command, changed_terms(known, command.terms))

    def registry(self) -> Registry:
        """What is live now, as a registry to start from."""
        shortlists = self.shortlists.items()
        return Registry(
            vocabulary=self.vocabulary.now(),
            shortlists=tuple(made for name, made in shortlists if not self.is_owned(name)),
            subscriptions=tuple(self.subscriptions.values()),
            advertisements=tuple(self.advertisements.values()),
        )

    def _subscribe_refusal(self, subscription: Subscription) -> str | None:
        refusal = self.unknown_term("subscription", subscription)
        refusal = refusal or _taken("subscription", subscription.id, self.subscriptions)
        if refusal is not None:
            return refusal
        if subscription.shortlist is None:
            return _taken("shortlist", subscription.id, self.shortlists)
        return _unknown("shortlist", subscription.shortlist, self.shortlists)

    def _update_refusal(self, command: commands.Update) -> str | None:
        noun, changes = self._noun(command), command.changes
        if noun is None:
            return _unknown(command.kind, command.id, ())
        others = sorted(changes.keys() - set(OWN_FIELDS))
        if command.kind == "shortlist" and isinstance(noun, Subscription) and others:
            only = ", ".join(OWN_FIELDS)
            return f"{others[0]}: expected only {only}, since a subscription owns {noun.id!r}"
        made = self._documents.read_changed(noun, changes)
        if made is not None:
            self._update = command, _updated(made)
            return None
        problems, self._documents.problems = self._documents.problems, []
        return "; ".join(map(str, problems))

    def _define_refusal(self, command: commands.Define) -> str | None:
        path, known = command.attribute, self.vocabulary.of(command.attribute).terms
        gone = [name for name, term in command.terms.items() if term is None]
        for name in gone:
            if name not in known:
                return f"there is no term {name!r} of {format_path(path)!r}"
            users = self._users(command, [name])
            if any(users):
                return f"the term {name!r} of {format_path(path)!r} is used by {users}"
        return None

    def _users(self, command: commands.Define, names: Iterable[str]) -> Users:
        use = TermUse(command.attribute, {*names})
        return Users(
            use.among(self.subscriptions.values()), use.among(self.advertisements.values())
        )

    def _noun(self, command: commands.Update) -> Subscription | Shortlist | None:
        """What an update changes: of a shortlist that is owned, the subscription that owns it."""
        if command.kind == "subscription" or self.is_owned(command.id):
            return self.subscriptions.get(command.id)
        return self.shortlists.get(command.id)

    def _open(self, shortlist: Shortlist) -> None:
        self.shortlists[shortlist.id] = shortlist
        self._members[shortlist.id] = {}

    def _close(self, shortlist: str) -> None:
        del self.shortlists[shortlist]
        for name in self._members.pop(shortlist):
            del self.subscriptions[name]


def registry_commands(registry: Registry) -> Iterator[Command]:
    """A registry as the commands that would make it, before all time.

    A subscription that others name the own shortlist of comes before them.
    """
    place = {"time": BEFORE_ALL_TIME, "position": -1}
    for shortlist in registry.shortlists:
        yield commands.Open(shortlist=shortlist, **place)
    for subscription in owners_first(registry.subscriptions):
        yield commands.Subscribe(subscription=subscription, **place)
    for advertisement in registry.advertisements:
        yield commands.Advertise(advertisement=advertisement, **place)


def owners_first(subscriptions: Iterable[Subscription]) -> Iterable[Subscription]:
    """The subscriptions in their order, but none before the one whose own shortlist it names."""
    owners = {made.id: made for made in subscriptions if made.shortlist is None}
    ordered: dict[str, Subscription] = {}
    for made in subscriptions:
        owner = owners.get(made.shortlist_id)
        if owner is not None:
            ordered.setdefault(owner.id, owner)
        ordered.setdefault(made.id, made)
    return ordered.values()


def not_in_quarantine(position: int) -> str:
    return f"{position} is not in quarantine"


def _taken(kind: str, name: str, live: Container[str]) -> str | None:
    return f"there is a live {kind} {name!r} already" if name in live else None


def _unknown(kind: str, name: str, live: Container[str]) -> str | None:
    return None if name in live else f"there is no live {kind} {name!r}"


def summary(registry: Registry) -> dict[str, int]:
    """Counts by kind and by policy; a subscription's own shortlist counts as one.

    >>> from shortlist.intake.files import registry_from_documents
    >>> summary(registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]}))
    {'subscribers': 1, 'shortlists': 1, 'policy everything': 1, 'subscriptions': 1}
    """
    shortlists = registry.every_shortlist
    policies = Counter(shortlist.policy.kind for shortlist in shortlists)
    counts = {
        "declared attributes": len(registry.vocabulary.attributes),
        "fuzzy terms": sum(len(made.terms) for made in registry.vocabulary.attributes.values()),
        "subscribers": len({shortlist.subscriber for shortlist in shortlists}),
        "shortlists": len(shortlists),
        **{f"policy {kind}": count for kind, count in sorted(policies.items())},
        "with preferences": sum(bool(shortlist.prefers) for shortlist in shortlists),
        "subscriptions": len(registry.subscriptions),
        "advertisements": len(registry.advertisements),
    }
    return {name: count for name, count in counts.items() if count}
