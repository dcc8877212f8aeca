"""The matches of a block in, candidates out: scores in bulk, objects only where they are needed.

Most subscriptions are alone in their shortlist, where nothing is to be combined; and of those most
that want everything need no candidate at all, since each match is a delivery.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.matches import Matches
from shortlist.model.policy import Everything
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.bulk import BulkScores
from shortlist.scoring.candidates import Candidate, Scoring
from shortlist.scoring.combine import ScoredMatch


class Arrivals(NamedTuple):
    """Matches that are deliveries: publications by place in the block, subscriptions by number."""

    publications: Ints
    subscriptions: Ints
    scores: Floats
    possibilities: Floats
    necessities: Floats

    @classmethod
    def joined(cls, some: Sequence["Arrivals"]) -> "Arrivals":
        return cls._make(np.concatenate(arrays) for arrays in zip(*some, strict=True))

    def kept(self, which: Bools | Ints) -> "Arrivals":
        return Arrivals._make(array[which] for array in self)


NO_ARRIVALS = Arrivals(*(np.empty(0, kind) for kind in ("i4", "i4", "f8", "f8", "f8")))


def scored_pairs(
    scores: BulkScores, block: Block, matches: Matches, unconditional: Iterable[int]
) -> Arrivals:
    """The pairs that have a score: matches, and everything for those who have no condition."""
    high, low = matches.possibility, matches.necessity
    who = matches.publications, matches.subscriptions
    pairs = Arrivals(*who, scores.of_pairs(block, *who, high, low), high, low)
    everyone = np.array([*unconditional], np.int32)
    if everyone.size:
        more = scores.of_block(block, everyone)
        sure = np.ones(more.scores.size)
        pairs = Arrivals(
            np.append(pairs.publications, more.publications),
            np.append(pairs.subscriptions, more.subscriptions),
            np.append(pairs.scores, more.scores),
            np.append(high, sure),
            np.append(low, sure),
        )
    has_score = ~np.isnan(pairs.scores)
    return pairs if has_score.all() else pairs.kept(has_score)


class BlockScoring:
    """What `Scoring` does for one publication, for many; subscriptions are known by number."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        scoring: Scoring,
        number_of: Callable[[str], int],
    ) -> None:
        self._scoring = scoring
        self._number_of = number_of
        self._scores = BulkScores(vocabulary, limits)
        self.subscriptions: list[Subscription | None] = []
        self._unconditional: set[int] = set()
        self._levels = np.full(8, np.nan)
        self._is_alone = np.zeros(8, np.bool_)
        self._wants_everything = np.zeros(8, np.bool_)

    def add(self, number: int, subscription: Subscription) -> None:
        """A subscription that `Scoring` knows already."""
        self._reserve(number)
        self._scores.add(number, subscription)
        self.subscriptions[number] = subscription
        self._levels[number] = np.nan
        self._is_alone[number] = self._wants_everything[number] = False
        if subscription.where is None:
            self._unconditional.add(number)
        self._refresh(subscription.shortlist_id)

    def remove(self, number: int) -> None:
        """A subscription that `Scoring` has forgotten already."""
        self._scores.remove(number)
        subscription = self._subscription(number)
        self.subscriptions[number] = None
        self._unconditional.discard(number)
        self._refresh(subscription.shortlist_id)

    def _subscription(self, number: int) -> Subscription:
        subscription = self.subscriptions[number]
        assert subscription is not None
        return subscription

    def candidates(
        self,
        block: Block,
        publications: Sequence[Publication],
        matches: Matches,
        wants_objects: Bools,
    ) -> tuple[list[list[Candidate]], Arrivals]:
        """Each publication's candidates, in order of shortlist, and what arrives without one.

        Nothing arrives so of publications that want objects: all their candidates are there.
        """
        pairs = scored_pairs(self._scores, block, matches, self._unconditional)
        levels = self._levels[pairs.subscriptions]
        pairs = pairs._replace(scores=np.where(np.isnan(levels), pairs.scores, -levels))
        straight = self._is_alone[pairs.subscriptions] & self._wants_everything[pairs.subscriptions]
        straight &= ~wants_objects[pairs.publications]
        found = self._objects(publications, pairs.kept(~straight))
        return found, pairs.kept(straight)

    def _objects(
        self, publications: Sequence[Publication], pairs: Arrivals
    ) -> list[list[Candidate]]:
        found: list[list[Candidate]] = [[] for _ in publications]
        scored: dict[int, dict[str, list[ScoredMatch]]] = defaultdict(lambda: defaultdict(list))
        arrays = (array.tolist() for array in pairs)
        for place, number, score, high, low in zip(*arrays, strict=True):
            subscription = self._subscription(number)
            match = ScoredMatch(subscription.id, score, high, low, subscription.weight)
            if self._is_alone[number]:
                candidate = Candidate(
                    publications[place],
                    subscription.shortlist_id,
                    score,
                    match,
                    (match,),
                    subscription.refresh,
                )
                found[place].append(candidate)
            else:
                scored[place][subscription.shortlist_id].append(match)
        for place, by_shortlist in scored.items():
            for some in by_shortlist.values():
                some.sort()
            found[place] += self._scoring.combined(publications[place], by_shortlist)
        for candidates in found:
            candidates.sort(key=lambda candidate: candidate.shortlist)
        return found

    def _refresh(self, shortlist: str) -> None:
        """What changes for a shortlist's subscriptions when one comes or goes."""
        known = self._scoring.shortlists[shortlist]
        members = self._scoring.members[shortlist]
        if len(members) > 2 and not known.prefers:
            return
        for name in members:
            number = self._number_of(name)
            level = self._scoring.level(self._subscription(number))
            self._levels[number] = np.nan if level is None else level
            self._is_alone[number] = len(members) == 1 and known.combine not in ("mean", "sum")
            self._wants_everything[number] = isinstance(known.policy, Everything)

    def _reserve(self, number: int) -> None:
        if number == len(self.subscriptions):
            self.subscriptions.append(None)
        while number >= self._levels.size:
            self._levels = np.append(self._levels, np.full_like(self._levels, np.nan))
            self._is_alone = np.append(self._is_alone, np.zeros_like(self._is_alone))
            self._wants_everything = np.append(
                self._wants_everything, np.zeros_like(self._wants_everything)
            )
