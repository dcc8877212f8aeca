"""Rank-cover: who covers another subscription and is always ranked before it.

What a publisher's k best are can be decided without a subscription that k others rank-cover.
"""

from collections.abc import Iterator, Sequence
from math import inf, isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Boxes, boxes, strict_order, tightness
from shortlist.covering.covers import covers
from shortlist.covering.volume import volume
from shortlist.language.parser import parse_any_score, parse_any_where, parse_audience_score
from shortlist.language.tree import (
    Arithmetic,
    Call,
    Negate,
    Number,
    OfSubscription,
    Score,
    Where,
    parts,
)
from shortlist.model.advertisement import Advertisement
from shortlist.model.rounding import rounded
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.kernels.depths import Counts, ranked_covering
from shortlist.scoring.expression import Scored, Subject, Uncomputable, expression, plain_number


class Ranked(NamedTuple):
    """A subscription with its place in an advertisement's ranking, where that is known."""

    subscription: Subscription
    where: Where | None
    value: float | None
    """The same for every publication; None where that cannot be known beforehand."""

    @property
    def order(self) -> tuple[float, str]:
        """Best first; ties go to the smaller id of the shortlist."""
        assert self.value is not None
        return -self.value, self.subscription.shortlist_id

    @property
    def asks_alone(self) -> bool:
        """Whether its condition says all, and its shortlist is its own."""
        asked = self.subscription
        return self.value is not None and asked.shortlist is None and asked.asks_only_condition


class CoverCount(NamedTuple):
    """What stands above a subscription; both count distinct other shortlists."""

    depth: int
    """The longest chain of rank-covering subscriptions that ends in it, itself included."""
    ancestors: int
    """All that rank-cover it."""


class Ranking:
    """How one advertisement ranks subscriptions, as far as no publication has a say in it.

    Its score must be the same for every publication: numbers, `subscription.volume`,
    `subscription.profile.NAME`, and `subscription.score` where that is a plain number.

    >>> ranking = Ranking(Advertisement(id="a", source="s", k=2, score="subscription.volume"))
    >>> wide, narrow = (Subscription(id=name, where=f"x between 0 and {high}")
    ...                 for name, high in (("wide", 9), ("narrow", 5)))
    >>> ranking.rank_covers(ranking.ranked(wide), ranking.ranked(narrow))
    True
    >>> ranking.counts([ranking.ranked(wide), ranking.ranked(narrow)])[1]
    CoverCount(depth=2, ancestors=1)
    """

    def __init__(
        self,
        advertisement: Advertisement,
        vocabulary: Vocabulary | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._vocabulary = vocabulary or Vocabulary()
        self._limits = limits or Limits()
        text = advertisement.score
        score = parse_audience_score(text, self._limits) if isinstance(text, str) else Number(text)
        asked = {*_asked(score)}
        self._evaluate = expression(score, self._vocabulary)
        self._is_static = None not in asked
        self._asks_score = "score" in asked
        self._is_by_score = score == OfSubscription("score")

    def ranked(
        self,
        subscription: Subscription,
        shortlist: Shortlist | None = None,
        *,
        is_alone: bool = False,
    ) -> Ranked:
        """A subscription with its value.

        Without its shortlist it is the only one of its own; else `is_alone` says whether it is.
        """
        where = parse_any_where(subscription.where, self._vocabulary, self._limits)
        home = shortlist or subscription.own_shortlist()
        assert home is not None
        # The publisher asks about the subscription with the best score of those that match. With
        # several in a shortlist that is nobody's in particular, unless scores are all that counts.
        is_known = shortlist is None or is_alone or self._is_by_score
        is_plain = home.combine == "max" and not home.prefers
        value = self._value(subscription, where) if is_known and is_plain else None
        return Ranked(subscription, where, value)

    def rank_covers(self, a: Ranked, b: Ranked) -> bool:
        """Whether `a` matches whatever `b` matches, and is always ranked before it."""
        return (
            a.value is not None
            and b.value is not None
            and a.subscription.shortlist_id != b.subscription.shortlist_id
            and a.order < b.order
            and covers(a.subscription, b.subscription, self._vocabulary)
        )

    def counts(self, subscriptions: Sequence[Ranked]) -> list[CoverCount]:
        """What stands above each of these: all at once where all are ranges of numbers."""
        ranges = None
        if all(ranked.asks_alone for ranked in subscriptions):
            ranges = boxes([ranked.where for ranked in subscriptions], self._vocabulary)
        if ranges is None:
            return [*self._pairwise(subscriptions)]
        places = np.empty(len(subscriptions), np.int64)
        best_first = sorted(range(len(subscriptions)), key=lambda place: subscriptions[place].order)
        places[best_first] = np.arange(len(subscriptions))
        ancestors, depths = cover_counts(ranges, places)
        return [*map(CoverCount, depths.tolist(), ancestors.tolist())]

    def _value(self, subscription: Subscription, where: Where | None) -> float | None:
        score = parse_any_score(subscription.score, self._limits)
        interest = plain_number(score) if self._asks_score else inf
        if not self._is_static or interest is None:
            return None
        scored = Scored(interest, volume(where), subscription.profile)
        try:
            value = self._evaluate(Subject(lambda path: None, candidate=scored))
        except Uncomputable:
            return None
        return None if isnan(value) else rounded(value)

    def _pairwise(self, subscriptions: Sequence[Ranked]) -> Iterator[CoverCount]:
        known = [ranked for ranked in subscriptions if ranked.value is not None]
        above: dict[str, list[Ranked]] = {}
        chains: dict[str, int] = {}
        for ranked in sorted(known, key=lambda ranked: ranked.order):
            name = ranked.subscription.id
            above[name] = [other for other in known if self.rank_covers(other, ranked)]
            longest = max((chains[other.subscription.id] for other in above[name]), default=0)
            chains[name] = longest + 1
        for ranked in subscriptions:
            name = ranked.subscription.id
            others = {other.subscription.shortlist_id for other in above.get(name, ())}
            yield CoverCount(min(chains.get(name, 1), len(others) + 1), len(others))


def cover_counts(boxes: Boxes, places: NDArray[np.int64]) -> tuple[Counts, Counts]:
    """Rank-cover of boxes whose places in a ranking are given, 0 for the best: how many rank-cover
    each of them, and the longest chain of these that ends in it (1 where nothing covers it).

    >>> nested = Boxes.closed(np.array([[0.0], [1.0], [2.0]]), np.array([[9.0], [8.0], [7.0]]))
    >>> [found.tolist() for found in cover_counts(nested, np.array([0, 2, 1]))]
    [[0, 1, 1], [1, 2, 2]]
    """
    best_first = np.argsort(places)
    ranked = boxes.taken(best_first)
    order = strict_order(ranked)
    ranks = np.empty(len(best_first), np.int64)  # of the nodes
    ranks[order.nodes] = np.arange(len(best_first))
    children = np.repeat(np.arange(ranks.size), np.diff(order.starts))
    if (ranks[order.parents] < ranks[children]).all():  # no ranking contradicts the covering
        ancestors, depths = order.ancestors[order.nodes], order.depths[order.nodes]
    else:
        ancestors, depths = ranked_covering(tightness(ranked))
    back = np.empty_like(best_first)
    back[best_first] = np.arange(len(best_first))
    return ancestors[back], depths[back]


def _asked(score: Score) -> Iterator[str | None]:
    """What of a subscription a score asks for; None for whatever a publication may change."""
    for part in parts(score):
        if isinstance(part, OfSubscription):
            yield part.name
        elif not isinstance(part, Number | Negate | Arithmetic | Call):
            yield None
