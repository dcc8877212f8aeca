"""The policy where the paper prints something else than what is computed here.

Each is the plain selector but for the one thing that its name says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.novelty.shortlists import Got, Settings, got_at, subscription_id
from experiments.novelty.streams import Kinds
from shortlist.model.policy import Novelty
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.novelty import NoveltySelector

SHORTLIST = "user"


class NeverDeliveredAsPrinted(NoveltySelector):
    """Section 2.2.2: L_s = t − 1 until the first delivery, so that its interval is 1, the least."""

    def _use(self, subscription: str) -> None:
        super()._use(subscription)
        counts = self._counts[subscription]
        if not counts.deliveries:
            counts.used = 1.0


class RatesOfThePeriod(NoveltySelector):
    """The appendix: rates are of the present period alone, not of the whole history; lazy mode."""

    _before = 0

    def _use(self, subscription: str) -> None:
        super()._use(subscription)
        counts, matches = self._counts[subscription], self._t - 1 - self._before
        counts.used = 1.0 - counts.deliveries / matches if matches else 1.0

    def _end_period(self) -> None:
        super()._end_period()
        self._before = self._t
        for counts in self._counts.values():
            counts.deliveries = 0


class CountedAtTheMostNovel(NoveltySelector):
    """Section 2.2.1: a delivery counts for the most novel subscription alone."""

    def _record(self, names: list[str], novelty: float, delivered: bool) -> None:
        _, *others = sorted(names, key=self._most_novel_first)
        counts = [self._counts[name] for name in others]
        before = [(each.deliveries, each.last_delivery) for each in counts]
        super()._record(names, novelty, delivered)
        for each, (deliveries, last) in zip(counts, before, strict=True):
            each.deliveries, each.last_delivery = deliveries, last


class AgingAsPrinted(NoveltySelector):
    """Equation 3.4: aged by the novelty at the previous delivery, not at the previous match."""

    def __init__(self, policy: Novelty, shortlist: str) -> None:
        super().__init__(policy, shortlist)
        self._at_delivery: dict[str, float | None] = {}

    def _record(self, names: list[str], novelty: float, delivered: bool) -> None:
        super()._record(names, novelty, delivered)
        for name in names:
            counts = self._counts[name]
            if delivered:
                self._at_delivery[name] = counts.used
            counts.used = self._at_delivery.get(name)


class AgingOfChances(NoveltySelector):
    """Section 4.1.5: aging makes the sampling rate of each subscription slow, in lazy mode."""

    def _end_period(self) -> None:
        before, aging = self._chances, self._policy.aging
        super()._end_period()
        self._chances = {
            name: aging * chance + (1.0 - aging) * before.get(name, 1.0)
            for name, chance in self._chances.items()
        }


def play(
    selector: NoveltySelector, stream: Kinds, matching: Sequence[Sequence[int]] | None = None
) -> Got:
    """What a selector delivers of a stream.

    `matching` has the subscriptions that each kind matches; without it, each matches its own.
    """
    kinds = matching or [[kind] for kind in range(int(stream.max()) + 1)]
    candidates = [_candidate(subscriptions) for subscriptions in kinds]
    delivered = [
        place
        for place, kind in enumerate(stream.tolist())
        if selector.arrive(candidates[kind], place).placements
    ]
    return got_at(np.array(delivered, np.int64), stream)


def printed(
    kind: type[NoveltySelector],
    stream: Kinds,
    settings: Settings,
    matching: Sequence[Sequence[int]] | None = None,
) -> Got:
    """What the policy delivers where something is as printed."""
    return play(kind(Novelty(**settings), SHORTLIST), stream, matching)


def _candidate(subscriptions: Sequence[int]) -> Candidate:
    """The selector looks at the matches alone."""
    publication = Publication(id="", source="", time=0, position=0)
    matches = tuple(
        ScoredMatch(subscription_id(SHORTLIST, each), 1.0, 1.0, 1.0) for each in subscriptions
    )
    return Candidate(publication, SHORTLIST, 1.0, matches[0], matches)
