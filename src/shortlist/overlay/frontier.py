"""Which proxies another broker has to know, so that all others may be left out."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from shortlist.covering.condition_graph import boxes, ranges_of, strict_order
from shortlist.covering.covers import covers, intersects
from shortlist.language.parser import parse_any_where
from shortlist.model.advertisement import Advertisement
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.merging import merged
from shortlist.overlay.messages import Proxy
from shortlist.overlay.rank_cover import CoverCount, Ranked, Ranking

FEW = 16
"""With fewer ranges it is not worth while to order them all at once."""


class Rule(Protocol):
    """Which of the proxies that a broker holds it forwards to a neighbour."""

    def forwarded(
        self, held: Sequence[Proxy], advertisements: Collection[Advertisement]
    ) -> Iterable[Proxy]:
        """Those that stand for all that is held; advertisements came from that neighbour."""
        ...


class Judge:
    """Who covers whom; asked twice it remembers."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self.vocabulary = vocabulary
        self.limits = limits
        self._covered: dict[tuple[object, object], bool] = {}
        self._meets: dict[tuple[object, Advertisement], bool] = {}

    def covers(self, a: Proxy, b: Proxy) -> bool:
        """Whether whoever gets all that `a` wants gets all that `b` wants, now and later."""
        if b.is_thresholded and a.born > b.born:
            return False  # what `b` may want later perhaps came before `a` was there
        question = a.key, b.key
        if question not in self._covered:
            answer = covers(a.subscription, b.subscription, self.vocabulary, self.limits)
            self._covered[question] = answer
        return self._covered[question]

    def intersects(self, proxy: Proxy, advertisement: Advertisement) -> bool:
        if advertisement.where is None:
            return True
        question = proxy.key, advertisement
        if question not in self._meets:
            space = Subscription(id=advertisement.id, where=advertisement.where)
            answer = intersects(proxy.subscription, space, self.vocabulary, self.limits)
            self._meets[question] = answer
        return self._meets[question]

    def in_reach(
        self, held: Iterable[Proxy], advertisements: Collection[Advertisement]
    ) -> list[Proxy]:
        """Those that intersect one of the advertisements.

        A shortlist with preferences goes as a whole, for what its scores are depends on all of it.
        """
        every = [*held] if advertisements else []
        meets = {
            proxy.id
            for proxy in every
            if any(self.intersects(proxy, advertisement) for advertisement in advertisements)
        }
        whole = {
            proxy.shortlist.id for proxy in every if proxy.id in meets and proxy.shortlist.prefers
        }
        return [proxy for proxy in every if proxy.id in meets or proxy.shortlist.id in whole]


class Everyone:
    """No covering: all that intersect an advertisement."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def forwarded(
        self, held: Sequence[Proxy], advertisements: Collection[Advertisement]
    ) -> Iterable[Proxy]:
        return self._judge.in_reach(held, advertisements)


class Uncovered:
    """Covering: those that no other covers; of equal ones the one with the smallest id."""

    def __init__(self, judge: Judge, *, is_advertised: bool = False, merges: bool = False) -> None:
        self._judge = judge
        self._is_advertised = is_advertised
        self._merges = merges

    def forwarded(
        self, held: Sequence[Proxy], advertisements: Collection[Advertisement]
    ) -> Iterable[Proxy]:
        if self._is_advertised:
            held = self._judge.in_reach(held, advertisements)
        kept: list[Proxy] = []
        for proxy in self._without_covered_ranges(sorted(held, key=lambda proxy: proxy.id)):
            if not any(self._judge.covers(other, proxy) for other in kept):
                kept = [other for other in kept if not self._judge.covers(proxy, other)]
                kept.append(proxy)
        return merged(kept, self._judge.vocabulary, self._judge.limits) if self._merges else kept

    def _without_covered_ranges(self, held: Sequence[Proxy]) -> list[Proxy]:
        """Ranges that other ranges cover are found all at once."""
        vocabulary, limits = self._judge.vocabulary, self._judge.limits
        conditions = [
            parse_any_where(proxy.subscription.where, vocabulary, limits) for proxy in held
        ]
        is_plain = [
            proxy.asks_only_condition and ranges_of(where, vocabulary) is not None
            for proxy, where in zip(held, conditions, strict=True)
        ]
        plain = np.flatnonzero(is_plain)
        if plain.size < FEW:
            return [*held]
        found = boxes([conditions[place] for place in plain.tolist()], vocabulary)
        assert found is not None
        order = strict_order(found)
        covered = {*plain[order.ancestors[order.nodes] > 0].tolist()}
        return [proxy for place, proxy in enumerate(held) if place not in covered]


class Few(NamedTuple):
    """At most so many above: by RankCoverK's depth or AncestorCoverK's ancestors."""

    by: str

    def admits(self, count: CoverCount, k: int) -> bool:
        return count.depth <= k if self.by == "depth" else count.ancestors < k


class RankUncovered:
    """Covering that still knows a publisher's k best: those with few rank-coverers."""

    def __init__(self, judge: Judge, few: Few) -> None:
        self._judge = judge
        self._few = few
        self._rankings: dict[Advertisement, Ranking] = {}
        self._ranked: dict[tuple[Advertisement, object, bool], Ranked] = {}

    def forwarded(
        self, held: Sequence[Proxy], advertisements: Collection[Advertisement]
    ) -> Iterable[Proxy]:
        kept: dict[str, Proxy] = {}
        for advertisement in advertisements:
            # A publication that several induce goes by the largest k and another's score.
            k = max(each.k for each in advertisements if each.source == advertisement.source)
            ranking = self._ranking(advertisement)
            reached = self._judge.in_reach(held, [advertisement])
            ranked = [self._ranked_by(advertisement, proxy) for proxy in reached]
            for proxy, count in zip(reached, ranking.counts(ranked), strict=True):
                if self._few.admits(count, k):
                    kept[proxy.id] = proxy
        return kept.values()

    def _ranking(self, advertisement: Advertisement) -> Ranking:
        if advertisement not in self._rankings:
            made = Ranking(advertisement, self._judge.vocabulary, self._judge.limits)
            self._rankings[advertisement] = made
        return self._rankings[advertisement]

    def _ranked_by(self, advertisement: Advertisement, proxy: Proxy) -> Ranked:
        question = advertisement, proxy.key, proxy.is_alone
        if question not in self._ranked:
            self._ranked[question] = self._ranking(advertisement).ranked(
                proxy.subscription, proxy.shortlist, is_alone=proxy.is_alone
            )
        return self._ranked[question]
