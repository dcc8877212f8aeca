"""A shard, plain: one publication after the other, and reasons on demand."""

from collections.abc import Iterator, Mapping
from typing import Any

from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.live_registry import tell
from shortlist.engine.matching import Chosen, inducements
from shortlist.engine.plain_matching import PlainMatching
from shortlist.engine.plain_selecting import PlainSelecting
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.matching.base import MakeMatcher
from shortlist.model.command import Command, Update
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.selection.base import Outcome


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
        self.matching = PlainMatching(registry.vocabulary, limits, matcher)
        self.selecting = PlainSelecting()
        self._reader = ItemReader(registry.vocabulary, limits.for_what_was_read(), again=True)
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
