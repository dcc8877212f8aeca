"""What the live registry has to know of publications: the attributes that it mentions."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import reduce
from typing import Any

from shortlist.intake.roster import Changes, Roster, registry_commands
from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score, parse_where
from shortlist.language.permissive import with_any_terms
from shortlist.language.reader import parted
from shortlist.language.tree import Number, Score, Where, predicates
from shortlist.matching.computable import needs
from shortlist.model import command as commands
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Command
from shortlist.model.items import Wanted
from shortlist.model.paths import Path
from shortlist.model.policy import Diverse, Policy, policies_of
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

KEPT = 4_096
"""Shapes of texts whose attributes are remembered."""

Paths = frozenset[Path]


class Mentions:
    """Counts who mentions what; follows the commands that a roster carries out.

    >>> from shortlist.model.subscription import Subscription
    >>> mentions = Mentions(Vocabulary(), Limits())
    >>> near = Subscription(id="s", where="city = 'Oslo'", score="-distance(rent: 900)")
    >>> mentions.count_subscription(near, 1)
    >>> sorted(mentions.wanted.paths)
    [('city',), ('rent',)]
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        # which terms there are depends on commands, and makes no difference here
        self._vocabulary = with_any_terms(vocabulary)
        self._limits = limits
        self._paths: Counter[Path] = Counter()
        self._diverse = 0
        self._known: dict[tuple[str, str], Paths] = {}

    @property
    def wanted(self) -> Wanted:
        """What all of them together want. Whoever compares whole publications wants their data."""
        paths = frozenset(path for path, count in self._paths.items() if count)
        return Wanted(paths, self._diverse > 0)

    def saved(self) -> dict[str, Any]:
        """Who mentions what, as JSON can say it."""
        counted = [[list(path), count] for path, count in self._paths.items()]
        return {"paths": counted, "diverse": self._diverse}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Takes the place of who mentions what."""
        self._paths = Counter({tuple(path): count for path, count in saved["paths"]})
        self._diverse = saved["diverse"]

    def add(self, saved: Mapping[str, Any]) -> None:
        """Counts what others have counted."""
        for path, count in saved["paths"]:
            self._paths[tuple(path)] += count
        self._diverse += saved["diverse"]

    def apply(self, command: Command, roster: Roster) -> None:
        """A command is about to be carried out; the roster is as before it."""
        match command:
            case commands.Open(shortlist=shortlist):
                self.count_policy(shortlist.policy, 1)
            case commands.Close(shortlist=name):
                self._close(name, roster)
            case commands.Subscribe(subscription=subscription):
                self.count_subscription(subscription, 1)
            case commands.Unsubscribe(subscription=name):
                subscription = roster.subscriptions[name]
                if subscription.shortlist is None:
                    self._close(name, roster)
                else:
                    self.count(self.of_subscription(subscription), -1)
            case commands.Update():
                made = roster.updated(command)
                if made.subscription is not None:
                    self.count_subscription(roster.subscriptions[made.subscription.id], -1)
                    self.count_subscription(made.subscription, 1)
                elif made.shortlist is not None:
                    self.count_policy(roster.shortlists[made.shortlist.id].policy, -1)
                    self.count_policy(made.shortlist.policy, 1)
            case commands.Advertise(advertisement=advertisement):
                self.count(self._of_advertisement(advertisement), 1)
            case commands.Unadvertise(advertisement=name):
                self.count(self._of_advertisement(roster.advertisements[name]), -1)

    def of_command(self, command: Command) -> Wanted:
        """What a command asks for, whether it is allowed or not."""
        match command:
            case commands.Open(shortlist=shortlist):
                return Wanted(data=_is_diverse(shortlist.policy))
            case commands.Subscribe(subscription=subscription):
                is_diverse = _is_diverse(subscription.policy)
                return Wanted(self.of_subscription(subscription), is_diverse)
            case commands.Advertise(advertisement=advertisement):
                return Wanted(self._of_advertisement(advertisement))
            case commands.Update(changes=changes):
                return self._of_changes(changes)
        return Wanted()

    def count_subscription(self, subscription: Subscription, by: int) -> None:
        """With the policy of the shortlist that it owns, if any."""
        self.count(self.of_subscription(subscription), by)
        self.count_policy(subscription.policy, by)

    def of_subscription(self, subscription: Subscription) -> Paths:
        """The attributes that its condition and its score mention."""
        return self._of_where(subscription.where) | self.of_score(subscription.score)

    def _of_changes(self, changes: Changes) -> Wanted:
        """What the fields of an update mention; some of them may be bad."""
        paths = Paths()
        for field, paths_of in (("where", self._of_where), ("score", self.of_score)):
            text = changes.get(field)
            if isinstance(text, str):
                with suppress(LanguageError):
                    paths |= paths_of(text)
        policy = changes.get("policy")
        parts = policy if isinstance(policy, list) else [policy]
        is_diverse = any(
            isinstance(part, Mapping) and part.get("kind") == "diverse" for part in parts
        )
        return Wanted(paths, is_diverse)

    def _close(self, shortlist: str, roster: Roster) -> None:
        self.count_policy(roster.shortlists[shortlist].policy, -1)
        for member in roster.members(shortlist):
            self.count(self.of_subscription(roster.subscriptions[member]), -1)

    def _of_advertisement(self, made: Advertisement) -> Paths:
        score = made.score
        tree = (
            parse_audience_score(score, self._limits) if isinstance(score, str) else Number(score)
        )
        return self._of_where(made.where) | _needed(tree)

    def _of_where(self, text: str | None) -> Paths:
        if text is None:
            return frozenset()
        known, limits = self._vocabulary, self._limits
        return self._once("where", text, lambda: asked_in(parse_where(text, known, limits)))

    def of_score(self, score: str | float | None) -> Paths:
        """The attributes that a score mentions."""
        if not isinstance(score, str):
            return frozenset()
        return self._once("score", score, lambda: _needed(parse_any_score(score, self._limits)))

    def _once(self, kind: str, text: str, read: Callable[[], Paths]) -> Paths:
        """Texts that differ only in their literals mention the same attributes."""
        key = kind, parted(text)[0]
        if key in self._known:
            return self._known[key]
        if len(self._known) >= KEPT:
            self._known.clear()
        return self._known.setdefault(key, read())

    def count(self, paths: Paths, by: int) -> None:
        """So many more subscriptions mention these, or fewer."""
        for path in paths:
            self._paths[path] += by

    def count_policy(self, policy: Policy | None, by: int) -> None:
        """So many more shortlists have a policy, or fewer."""
        self._diverse += by * _is_diverse(policy)


def asked_in(where: Where) -> Paths:
    """The attributes that a condition mentions."""
    return frozenset(predicate.path for predicate in predicates(where))


def _is_diverse(policy: Policy | None) -> bool:
    return policy is not None and Diverse in map(type, policies_of(policy))


def mentioned(registry: Registry, limits: Limits) -> Wanted:
    """What a registry has to know of publications."""
    mentions = Mentions(registry.vocabulary, limits)
    found = map(mentions.of_command, registry_commands(registry))
    return reduce(Wanted.joined, {*found}, Wanted())


def _needed(score: Score) -> Paths:
    return frozenset(path for _, path in needs(score))
