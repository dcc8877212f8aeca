"""How a plain shard matches: one object for every candidate."""

from collections.abc import Iterable

from shortlist.engine.live_registry import LiveRegistry
from shortlist.matching.base import MakeMatcher
from shortlist.matching.blocks import Block
from shortlist.matching.values import Reader
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Candidate
from shortlist.selection.audience import Inducement, Nomination


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
