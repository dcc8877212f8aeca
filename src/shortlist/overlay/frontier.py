"""Which proxies another broker has to know, so that all others may be left out."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from math import inf
from typing import Literal, NamedTuple, Protocol

from shortlist.covering.condition_graph import boxes, ranges_of, strict_order
from shortlist.covering.covers import covers, intersects
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Where
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
        self._wheres: dict[object, Where | None] = {}

    def covers(self, a: Proxy, b: Proxy) -> bool:
        """Whether whoever gets all that `a` wants gets all that `b` wants, now and later."""
        if b.is_thresholded and a.born > b.born:
            return False  # what `b` may want later perhaps came before `a` was there
        if a.threshold == -inf:
            return self._covers(a, b._replace(threshold=-inf))
        # only with one score for both do thresholds compare
        has_same_score = a.subscription.score == b.subscription.score
        return has_same_score and a.threshold <= b.threshold and self._covers(a, b)

    def _covers(self, a: Proxy, b: Proxy) -> bool:
        question = a.key, b.key
        if question not in self._covered:
            answer = covers(a.wanting_now, b.wanting_now, self.vocabulary, self.limits)
            self._covered[question] = answer
        return self._covered[question]

    def where(self, proxy: Proxy) -> Where | None:
        """What a proxy asks for, parsed."""
        if proxy.key not in self._wheres:
            where = parse_any_where(proxy.subscription.where, self.vocabulary, self.limits)
            self._wheres[proxy.key] = where
        return self._wheres[proxy.key]

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
        ordered = sorted(held, key=lambda proxy: proxy.id)
        ranges = self._uncovered_ranges(ordered)
        kept: list[Proxy] = []
        for proxy in ordered:
            if ranges.get(proxy.id, True) and not any(
                self._judge.covers(other, proxy)
                for other in kept
                if not _known(other, proxy, ranges)
            ):
                kept = [
                    other
                    for other in kept
                    if _known(other, proxy, ranges) or not self._judge.covers(proxy, other)
                ]
                kept.append(proxy)
        return merged(kept, self._judge.vocabulary, self._judge.limits) if self._merges else kept

    def _uncovered_ranges(self, held: Sequence[Proxy]) -> dict[str, bool]:
        """Of those that ask for ranges only, all at once: whether no other such one covers it."""
        vocabulary = self._judge.vocabulary
        plain = [proxy for proxy in held if proxy.asks_only_condition]
        conditions = [self._judge.where(proxy) for proxy in plain]
        are_ranges = [ranges_of(where, vocabulary) is not None for where in conditions]
        names = [proxy.id for proxy in compress(plain, are_ranges)]
        found = boxes([*compress(conditions, are_ranges)], vocabulary)
        if len(names) < FEW or found is None:
            return {}
        order = strict_order(found)
        is_root = (order.ancestors[order.nodes] == 0).tolist()
        return dict(zip(names, is_root, strict=True))


def _known(one: Proxy, other: Proxy, ranges: Mapping[str, bool]) -> bool:
    """Whether it is known of two that neither covers the other."""
    return one.id in ranges and other.id in ranges


class Few(NamedTuple):
    """At most so many above: by RankCoverK's depth or AncestorCoverK's ancestors."""

    by: Literal["depth", "ancestors"]

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
