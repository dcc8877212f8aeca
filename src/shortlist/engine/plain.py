"""The engine's halves, plain: one publication after the other, and reasons on demand."""

from collections.abc import Sequence
from typing import Any

from shortlist.engine.admitted import Admitted
from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.live import told
from shortlist.engine.plain_matching import PlainMatching
from shortlist.engine.plain_selecting import PlainSelecting
from shortlist.matching.base import Matcher
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.base import Outcome


class PlainHalves:
    """Matching and selecting, one publication after the other."""

    at_once = 1
    """Reasons are told as they stand at each publication."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        matcher: Matcher,
        question: Question | None = None,
        *,
        of_a_shard: bool = False,
    ) -> None:
        self.matching = PlainMatching(vocabulary, limits, matcher)
        self.selecting = PlainSelecting()
        self.explainer = None
        if question is not None:
            self.explainer = Explainer(
                question, self.matching, self.selecting, of_a_shard=of_a_shard
            )

    @property
    def work(self) -> dict[str, Any]:
        """What was done so far: matches, deliveries by cause, values of another type."""
        mismatches = dict(self.matching.census.mismatches)
        return {**self.selecting.counts, "other_type": mismatches}

    def apply(self, command: Command) -> list[Delivery]:
        """Carries out a command that the roster did not refuse."""
        deliveries = told(self.selecting, command, self.matching.roster)
        self.matching.apply(command)
        return deliveries

    def publish(self, block: Sequence[Admitted]) -> list[Delivery]:
        """Offers publications to every shortlist that they match and were chosen for."""
        return [delivery for admitted in block for delivery in self._publish(admitted)]

    def advance(self, before: int) -> list[Delivery]:
        return self.selecting.advance(before)

    def _publish(self, admitted: Admitted) -> list[Delivery]:
        publication, read, inducement, allowed = admitted
        deliveries: list[Delivery] = []
        if publication.replaces is not None:
            replaced = publication.source, publication.replaces
            deliveries += self.selecting.retract(*replaced, publication.time)
        if publication.dead_on_arrival:
            return deliveries
        candidates = self.matching.candidates(publication, read)
        if inducement is not None and allowed is None:
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
