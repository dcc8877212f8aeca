"""The engine in two halves: matching knows only the registry, selecting holds all state."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from shortlist.engine.finding import Found, Published, finder
from shortlist.intake.roster import Roster
from shortlist.matching.base import Matcher
from shortlist.matching.blocks import Bools
from shortlist.matching.census import TypeCensus
from shortlist.matching.index.index import Index
from shortlist.matching.values import Reader, Values
from shortlist.model.command import (
    Advertise,
    Close,
    Command,
    Open,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from shortlist.model.delivery import Delivery
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Candidate, Scoring
from shortlist.selection.audience import Advertisements, Inducement, Nomination
from shortlist.selection.base import Outcome, Placement, Selector
from shortlist.selection.policies import selector

MakeMatcher = Callable[[Vocabulary, Limits], Matcher]


class Matching:
    """Publications in, scored candidates out; stateless but for the live registry."""

    def __init__(
        self, vocabulary: Vocabulary, limits: Limits | None = None, matcher: MakeMatcher = Index
    ) -> None:
        self.limits = limits = limits or Limits()
        self.roster = Roster()
        self.values = Values(vocabulary)
        self.census = TypeCensus(vocabulary, limits)
        self.scoring = Scoring(vocabulary, limits)
        self._finder = finder(matcher(vocabulary, limits), self.scoring, vocabulary, limits)
        self.advertisements = Advertisements(vocabulary, limits)

    def apply(self, command: Command) -> None:
        """Carries out a command that the roster did not refuse."""
        match command:
            case Open(shortlist=shortlist):
                self.scoring.open(shortlist)
            case Close(shortlist=name):
                self._close(name)
            case Subscribe(subscription=subscription):
                own = subscription.own_shortlist()
                if own is not None:
                    self.scoring.open(own)
                self._subscribe(subscription)
            case Unsubscribe(subscription=name):
                if self.roster.subscriptions[name].shortlist is None:
                    self._close(name)
                else:
                    self._unsubscribe(name)
            case Advertise(advertisement=advertisement):
                self.advertisements.add(advertisement)
            case Unadvertise(advertisement=name):
                self.advertisements.remove(name)
        self.roster.apply(command)

    def read(self, publication: Publication) -> Reader:
        return self.values.of(publication)

    def find(self, published: Published, wants_objects: Bools) -> Found:
        """Each publication's candidates, one per matching shortlist, in order of id.

        Matches that are deliveries as they are come apart, but of publications that want objects.
        """
        self.census.observe(published.block)
        return self._finder.find(published, wants_objects)

    def candidates(self, publication: Publication, read: Reader) -> list[Candidate]:
        """All candidates of one publication."""
        published = Published.of([publication], [read])
        return self.find(published, wants_objects=np.ones(1, np.bool_)).candidates[0]

    def nominations(
        self, inducement: Inducement, read: Reader, candidates: Iterable[Candidate]
    ) -> list[Nomination]:
        """The k best of the candidates, by the publisher's own score."""
        described = [
            (candidate.shortlist, self.scoring.described(candidate)) for candidate in candidates
        ]
        return self.advertisements.nominate(inducement, read, described)

    def _close(self, shortlist: str) -> None:
        for name in self.roster.members(shortlist):
            self._unsubscribe(name)
        self.scoring.close(shortlist)

    def _subscribe(self, subscription: Subscription) -> None:
        self.census.add(subscription)
        self.scoring.add(subscription)
        self._finder.add(subscription)

    def _unsubscribe(self, subscription: str) -> None:
        self.census.remove(self.roster.subscriptions[subscription])
        self.scoring.remove(subscription)
        self._finder.remove(subscription)


class Selecting:
    """Candidates in, deliveries out; every shortlist's policy with its state."""

    def __init__(self) -> None:
        self._shortlists: dict[str, Shortlist] = {}
        self._selectors: dict[str, Selector] = {}
        self.counts: Counter[str] = Counter()

    def apply(self, command: Command, members: Roster) -> list[Delivery]:
        """Carries out a command; `members` is the live registry before it."""
        match command:
            case Open(shortlist=shortlist):
                self._open(shortlist)
            case Close(shortlist=name):
                return self._close(name, command.time)
            case Subscribe(subscription=subscription):
                own = subscription.own_shortlist()
                if own is not None:
                    self._open(own)
            case Unsubscribe(subscription=name):
                subscription = members.subscriptions[name]
                if subscription.shortlist is None:
                    return self._close(name, command.time)
                placements = self._selectors[subscription.shortlist].cancel(name, command.time)
                return self._deliveries(subscription.shortlist, placements)
        return []

    def arrive(self, candidate: Candidate) -> tuple[list[Delivery], Outcome]:
        """Offers a candidate to its shortlist."""
        self.counts["matched"] += 1
        outcome = self._selectors[candidate.shortlist].arrive(candidate, candidate.publication.time)
        return self._deliveries(candidate.shortlist, outcome.placements), outcome

    def deliver(self, publications: Sequence[Publication], found: Found) -> list[Delivery]:
        """The matches of shortlists that want everything."""
        recipients = self.recipients(found)
        deliveries = []
        arrays = (array.tolist() for array in found.arrivals)
        for place, number, score, possibility, necessity in zip(*arrays, strict=True):
            subscription, shortlist = recipients[number]
            deliveries.append(
                Delivery(
                    time=publications[place].time,
                    shortlist=shortlist.id,
                    subscriber=shortlist.subscriber,
                    publication=publications[place],
                    subscription=subscription,
                    score=score,
                    possibility=possibility,
                    necessity=necessity,
                    rank=None,
                    cause="arrival",
                )
            )
        return deliveries

    def recipients(self, found: Found) -> dict[int, tuple[str, Shortlist]]:
        """Counts the matches that are deliveries, and tells whose each number is."""
        self.counts["matched"] += found.arrivals.scores.size
        self.counts["arrival"] += found.arrivals.scores.size
        recipients = {}
        for number in np.unique(found.arrivals.subscriptions).tolist():
            subscription = found.subscriptions[number]
            assert subscription is not None
            recipients[number] = subscription.id, self._shortlists[subscription.shortlist_id]
        return recipients

    def advance(self, before: int) -> list[Delivery]:
        """Everything due before an instant, in every shortlist."""
        deliveries = []
        for name, selecting in self._selectors.items():
            placements = selecting.advance(before)
            if placements:
                deliveries += self._deliveries(name, placements)
        return deliveries

    def selector(self, shortlist: str) -> Selector:
        return self._selectors[shortlist]

    def state(self) -> Any:
        return {name: selecting.state() for name, selecting in self._selectors.items()}

    def restore(self, state: Any) -> None:
        for name, selected in state.items():
            self._selectors[name].restore(selected)

    def _open(self, shortlist: Shortlist) -> None:
        self._shortlists[shortlist.id] = shortlist
        self._selectors[shortlist.id] = selector(shortlist)

    def _close(self, name: str, time: int) -> list[Delivery]:
        deliveries = self._deliveries(name, self._selectors.pop(name).close(time))
        del self._shortlists[name]
        return deliveries

    def _deliveries(self, name: str, placements: Iterable[Placement]) -> list[Delivery]:
        shortlist = self._shortlists[name]
        deliveries = [
            Delivery(
                time=placed.time,
                shortlist=name,
                subscriber=shortlist.subscriber,
                publication=placed.candidate.publication,
                subscription=placed.named.subscription,
                score=placed.score,
                possibility=placed.named.possibility,
                necessity=placed.named.necessity,
                rank=placed.rank,
                cause=placed.cause,
            )
            for placed in placements
        ]
        for delivery in deliveries:
            self.counts[delivery.cause] += 1
        return deliveries
