"""A shard, plain: one publication after the other, and reasons on demand."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.live_registry import LiveRegistry, tell
from shortlist.engine.matching import Chosen, inducements
from shortlist.engine.shard import Shard
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.matching.base import MakeMatcher
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.values import Reader
from shortlist.model.command import Command, Update
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.policy import Policy
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Candidate
from shortlist.selection.audience import Inducement, Nomination
from shortlist.selection.bank.plain_states import plain_state
from shortlist.selection.base import Outcome, Placement, Remark, Selector, nobody_listens
from shortlist.selection.policies import selector


class PlainSelecting:
    """Candidates in, deliveries out; every shortlist's policy with its state."""

    def __init__(self) -> None:
        self._shortlists: dict[str, Shortlist] = {}
        self._selectors: dict[str, Selector] = {}
        self.last_policies: dict[str, Policy] = {}
        """By shortlist, even of one that was closed since."""
        self.remark: Remark = nobody_listens
        """Hears why shortlists drop what had arrived before."""
        self.counts: Counter[str] = Counter()

    def open(self, shortlist: Shortlist) -> None:
        self._shortlists[shortlist.id] = shortlist
        self.last_policies[shortlist.id] = shortlist.policy
        self._selectors[shortlist.id] = selector(shortlist)
        self._selectors[shortlist.id].listen(self.remark)

    def close(self, shortlist: str, time: int) -> list[Delivery]:
        deliveries = self._deliveries(shortlist, self._selectors.pop(shortlist).settle(time))
        del self._shortlists[shortlist]
        return deliveries

    def cancel(self, shortlist: str, subscription: str, time: int) -> list[Delivery]:
        placements = self._selectors[shortlist].cancel(subscription, time)
        return self._deliveries(shortlist, placements)

    def update(self, shortlist: Shortlist, time: int) -> list[Delivery]:
        """Settings change, after all that is due at or before an instant."""
        selecting = self._selectors[shortlist.id]
        deliveries = self._deliveries(shortlist.id, selecting.settle(time))
        if not kept_by(self._shortlists[shortlist.id].policy, shortlist.policy):
            self.open(shortlist)
            return deliveries
        self._shortlists[shortlist.id] = shortlist
        changed = selecting.change(shortlist.policy, time)
        return deliveries + self._deliveries(shortlist.id, changed)

    def refresh(self, subscription: Subscription) -> None:
        """A live subscription may have another `refresh` from now on."""
        selecting = self._selectors[subscription.shortlist_id]
        selecting.refresh(subscription.id, subscription.refresh)

    def retract(self, source: str, publication: str, time: int) -> list[Delivery]:
        """A publication leaves every shortlist at an instant, after all that is due before."""
        return self._told(lambda selecting: selecting.retract(source, publication, time))

    def arrive(self, candidate: Candidate) -> tuple[list[Delivery], Outcome]:
        """Offers a candidate to its shortlist."""
        self.counts["matched"] += 1
        time = candidate.publication.time
        outcome = self._selectors[candidate.shortlist].arrive(candidate, time)
        return self._deliveries(candidate.shortlist, outcome.placements), outcome

    def advance(self, before: int) -> list[Delivery]:
        """Everything due before an instant, in every shortlist."""
        return self._told(lambda selecting: selecting.advance(before))

    def selector(self, shortlist: str) -> Selector:
        return self._selectors[shortlist]

    def _told(self, tell: Callable[[Selector], list[Placement]]) -> list[Delivery]:
        deliveries = []
        for name, selecting in self._selectors.items():
            placements = tell(selecting)
            if placements:
                deliveries += self._deliveries(name, placements)
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


class PlainMatching(LiveRegistry):
    """Publications in, scored candidates out, one by one and with any matcher."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits, matcher: MakeMatcher) -> None:
        super().__init__(vocabulary, limits)
        self._matcher = matcher(self.vocabulary, limits)

    def candidates(self, publication: Publication, read: Reader) -> list[Candidate]:
        """One candidate per matching shortlist, in order of id."""
        self.census.observe(Block.of_readers([read]))
        return self.scoring.candidates(publication, read, self._matcher.match(read))

    def nominations(
        self, inducement: Inducement, read: Reader, candidates: Iterable[Candidate]
    ) -> list[Nomination]:
        """The k best of the candidates, by the publisher's own score."""
        described = [
            (candidate.shortlist, self.scoring.described(candidate)) for candidate in candidates
        ]
        return self.advertisements.nominate(inducement, read, described)

    def _subscribed(self, subscription: Subscription) -> None:
        self._matcher.add(subscription)

    def _unsubscribed(self, subscription: Subscription) -> None:
        self._matcher.remove(subscription.id)


class PlainShard:
    """What `Shard` does, read straight off the semantics; it has no snapshots."""

    def __init__(
        self,
        registry: Registry,
        limits: Limits,
        matcher: MakeMatcher,
        question: Question | None = None,
        *,
        of_a_shard: bool = False,
    ) -> None:
        limits = limits.for_what_was_read()
        self.matching = PlainMatching(registry.vocabulary, limits, matcher)
        self.selecting = PlainSelecting()
        self._reader = ItemReader(registry.vocabulary, limits, again=True)
        self.explainer = None
        if question is not None:
            self.explainer = Explainer(
                question, self.matching, self.selecting, of_a_shard=of_a_shard
            )
        for command in registry_commands(registry):
            self._apply(command)

    @property
    def work(self) -> dict[str, Any]:
        """What was done so far: matches, deliveries by cause, values of another type."""
        mismatches = dict(self.matching.census.mismatches)
        return {**self.selecting.counts, "other_type": mismatches}

    def run(
        self,
        items: Items,
        commands: Mapping[int, Command] | None = None,
        *,
        chosen: Chosen | None = None,
        until: int | None = None,
    ) -> Iterator[Delivery]:
        """As that of a `Shard`; items must have their data."""
        for step in steps(items, CommandReader(self._reader, commands), at_once=1):
            if isinstance(step, Command):
                yield from self._apply(step)
            else:
                yield from self._publish(step, chosen)
        if until is not None:
            yield from self.selecting.advance(until)

    def _apply(self, command: Command) -> list[Delivery]:
        told = tell(self.selecting, command, self.matching.roster)
        deliveries = [delivery for some in told for delivery in some]
        if isinstance(command, Update):
            made = self.matching.roster.updated(command).subscription
            if made is not None:
                self.selecting.refresh(made)
        self.matching.apply(command)
        return deliveries

    def _publish(self, items: Items, chosen: Chosen | None) -> list[Delivery]:
        publication, inducement = items.publication(0), inducements(items).get(0)
        read = self.matching.values.of(publication)
        deliveries: list[Delivery] = []
        if publication.replaces is not None:
            replaced = publication.source, publication.replaces
            deliveries += self.selecting.retract(*replaced, publication.time)
        if publication.dead_on_arrival:
            return deliveries
        candidates = self.matching.candidates(publication, read)
        allowed = None
        if inducement is not None and chosen is not None:
            allowed = {*chosen.get(publication.position, ())}
        elif inducement is not None:
            nominations = self.matching.nominations(inducement, read, candidates)
            allowed = {nomination.shortlist for nomination in nominations}
        outcomes: dict[str, Outcome] = {}
        for candidate in candidates:
            if allowed is None or candidate.shortlist in allowed:
                placed, outcomes[candidate.shortlist] = self.selecting.arrive(candidate)
                deliveries += placed
        if self.explainer:
            self.explainer.published(publication, read, candidates, outcomes, inducement)
        return deliveries


def plain_copy(shard: Shard, question: Question, *, of_a_shard: bool = True) -> PlainShard:
    """One that does from now on what the shard would do; nothing happens to that.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.settings import Settings
    >>> best = {"id": "best", "score": "fit", "policy": {"kind": "top-k", "k": 1}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [best]}), Settings(lateness=0))
    >>> attic, bedsit = (Publication(id=name, source="ads", time=n, position=n, data={"fit": fit})
    ...                  for n, (name, fit) in enumerate([("attic", 9), ("bedsit", 3)]))
    >>> _ = engine.process([attic])
    >>> copy = plain_copy(engine.shard, Question(shortlist="best"))
    >>> items = engine.admission.admit(items_of([bedsit], Wanted(data=True))[0]).items
    >>> _ = [*copy.run(items)]
    >>> copy.explainer.taken([])[0]["reason"]
    'a better one is still valid'
    """
    matching = shard.matching
    registry = matching.roster.registry()
    copy = PlainShard(registry, matching.limits, Index, question, of_a_shard=of_a_shard)
    for name, shortlist in matching.roster.shortlists.items():
        number = matching.shortlists.number(name)
        state = plain_state(shard.selecting, number, shortlist.policy)
        copy.selecting.selector(name).restore(state)
    return copy
