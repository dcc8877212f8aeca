"""The live registry, and all that follows from it alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from shortlist.intake.columns import RegistryColumns
from shortlist.intake.roster import OWN_FIELDS, Roster, Updated
from shortlist.matching.census import TypeCensus
from shortlist.matching.values import Values
from shortlist.model import command as commands
from shortlist.model.command import Command
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Scoring
from shortlist.selection.audience import Advertisements


class LiveRegistry(ABC):
    """Carries out commands; those who match keep their subscriptions up to date with it."""

    def __init__(
        self, vocabulary: Vocabulary, limits: Limits, columns: RegistryColumns | None = None
    ) -> None:
        self.limits = limits
        self.roster = Roster(vocabulary, limits, None if columns is None else columns.live())
        vocabulary = self.vocabulary
        self.values = Values(vocabulary)
        self.census = TypeCensus(vocabulary, limits)
        self.scoring = Scoring(vocabulary, limits, self.roster.live)
        self.advertisements = Advertisements(vocabulary, limits)

    @property
    def vocabulary(self) -> Vocabulary:
        """Changes with commands, for all who look at it."""
        return self.roster.vocabulary

    def apply(self, command: Command) -> None:
        """Carries out a command that the roster did not refuse."""
        if isinstance(command, commands.Define):
            self._define(command)
            return
        match command:
            case commands.Close(shortlist=name):
                self._close(name)
            case commands.Subscribe(subscription=subscription):
                self._subscribe(subscription)
            case commands.Unsubscribe(subscription=name):
                if self.roster.subscriptions[name].shortlist is None:
                    self._close(name)
                else:
                    self._unsubscribe(name)
            case commands.Update():
                self._update(self.roster.updated(command))
            case commands.Advertise(advertisement=advertisement):
                self.advertisements.add(advertisement)
            case commands.Unadvertise(advertisement=name):
                self.advertisements.remove(name)
        self.roster.apply(command)

    @abstractmethod
    def _subscribed(self, subscription: Subscription) -> None:
        """A subscription comes."""

    @abstractmethod
    def _unsubscribed(self, subscription: Subscription) -> None:
        """A subscription goes."""

    def _replaced(self, old: Subscription, new: Subscription) -> None:
        """A subscription gets other settings."""
        self._unsubscribed(old)
        self._subscribed(new)

    def _update(self, made: Updated) -> None:
        shortlist = made.shortlist
        if shortlist is not None and shortlist != self.roster.shortlists[shortlist.id]:
            self._reopen(shortlist)
        if made.subscription is not None:
            old = self.roster.subscriptions[made.subscription.id]
            self.census.replace(old, made.subscription)
            self.scoring.forget(old)
            self._replaced(old, made.subscription)

    def _define(self, command: commands.Define) -> None:
        """Whoever uses terms that change is taken out before, and comes back afterwards.

        All are out at once, since those who ask the same share what is compiled; the last one that
        went comes back first, so that who numbers subscriptions gives all the same numbers.
        """
        subscriptions, advertisements = self.roster.concerned(command)
        for subscription in subscriptions:
            self._unsubscribe(subscription.id)
        for advertisement in advertisements:
            self.advertisements.remove(advertisement.id)
        self.roster.apply(command)
        for advertisement in advertisements:
            self.advertisements.add(advertisement)
        for subscription in reversed(subscriptions):
            self._subscribe(subscription)

    def _reopen(self, shortlist: Shortlist) -> None:
        """A shortlist has other settings from now on."""
        self.scoring.reopen(shortlist.id)

    def _close(self, shortlist: str) -> None:
        self.scoring.close(shortlist)
        for name in self.roster.members(shortlist):
            self._unsubscribe(name)

    def _subscribe(self, subscription: Subscription) -> None:
        self.census.add(subscription)
        self.scoring.reopen(subscription.shortlist_id)
        self._subscribed(subscription)

    def _unsubscribe(self, name: str) -> None:
        subscription = self.roster.subscriptions[name]
        self.census.remove(subscription)
        self.scoring.forget(subscription)
        self._unsubscribed(subscription)


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Shortlists(Protocol[T_co]):
    """Who holds the state of shortlists, and answers with what enters them."""

    def open(self, shortlist: Shortlist) -> None: ...

    def close(self, shortlist: str, time: int) -> T_co: ...

    def cancel(self, shortlist: str, subscription: str, time: int) -> T_co: ...

    def update(self, shortlist: Shortlist, time: int) -> T_co:
        """A live shortlist, or a subscription of it, gets settings, perhaps others than before."""
        ...

    def retract(self, source: str, publication: str, time: int) -> T_co: ...


def opened_by(given: Iterable[Command]) -> Iterator[Shortlist]:
    """The shortlists that begin with commands."""
    for command in given:
        match command:
            case commands.Open(shortlist=shortlist):
                yield shortlist
            case commands.Subscribe(subscription=subscription):
                own = subscription.own_shortlist()
                if own is not None:
                    yield own


def tell(shortlists: Shortlists[T], command: Command, roster: Roster) -> Iterator[T]:
    """Tells shortlists what a command means for them; the roster is as before the command."""
    match command:
        case commands.Open(shortlist=shortlist):
            shortlists.open(shortlist)
        case commands.Close(shortlist=name):
            yield shortlists.close(name, command.time)
        case commands.Subscribe(subscription=subscription):
            own = subscription.own_shortlist()
            if own is not None:
                shortlists.open(own)
        case commands.Unsubscribe(subscription=name):
            home = roster.subscriptions[name].shortlist
            if home is None:
                yield shortlists.close(name, command.time)
            else:
                yield shortlists.cancel(home, name, command.time)
        case commands.Update():
            yield shortlists.update(_shortlist_after(command, roster), command.time)
        case commands.Define():
            # as if each of them were updated with what it has
            for home in sorted(roster.concerned(command).shortlists):
                yield shortlists.update(roster.shortlists[home], command.time)
        case commands.Retract(source=source, publication=publication):
            yield shortlists.retract(source, publication, command.time)


def _shortlist_after(command: commands.Update, roster: Roster) -> Shortlist:
    """The shortlist that an update touches, with the settings that it has then."""
    home = roster.shortlist_of(command)
    assert home is not None
    is_meant = command.kind == "shortlist" or not command.changes.keys().isdisjoint(OWN_FIELDS)
    made = roster.updated(command).shortlist if is_meant else None
    return made or roster.shortlists[home]
