"""Which proxies another broker has to know, so that all others may be left out."""

import hashlib
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, isfinite
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Ranges, boxes_of, ranges_of, tightness
from shortlist.covering.covers import covers, intersects
from shortlist.fuzzy.intervals import Interval
from shortlist.language.parser import parse_any_score, parse_any_where
from shortlist.language.printer import print_where
from shortlist.matching.computable import largest, needs, uses_degrees
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import Path, format_path
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.kernels.uncovered import uncovered_rows
from shortlist.overlay.messages import Proxy
from shortlist.overlay.rank_cover import Ranked, Ranking

FEW = 16
"""With fewer ranges it is not worth while to order them all at once."""


class Shape(NamedTuple):
    """What a score takes to be computed."""

    is_finite: bool
    """Whether it always can, of what it needs."""
    needs: frozenset[Hashable]

    def reaches(self, other: "Shape") -> bool:
        """Whether it can be computed wherever the other can (`computable_with`)."""
        return self.is_finite and self.needs <= other.needs


@dataclass(frozen=True, slots=True)
class PlainRanges:
    """What decides whom a proxy covers."""

    ranges: Ranges
    score: Hashable
    """The same for two that have one score of every publication."""
    shape: Shape


def plain_ranges(
    subscription: Subscription, vocabulary: Vocabulary, limits: Limits
) -> PlainRanges | None:
    """A subscription by its ranges; None if it asks for anything else.

    >>> plain = plain_ranges(Subscription(id="s", where="x < 3", score="x"), Vocabulary(), Limits())
    >>> plain.shape.is_finite, plain_ranges(
    ...     Subscription(id="s", where="x < 3 or y = 2"), Vocabulary(), Limits())
    (True, None)
    """
    if not subscription.matches_plainly:
        return None
    where = parse_any_where(subscription.where, vocabulary, limits)
    ranges = ranges_of(where, vocabulary)
    if ranges is None:
        return None
    score = parse_any_score(subscription.score, limits)
    is_finite = largest(score, vocabulary) < inf
    degrees = print_where(where) if where is not None and uses_degrees(score) else None
    return PlainRanges(ranges, (score, degrees), Shape(is_finite, frozenset(needs(score))))


def uncovered(held: Sequence[tuple[Proxy, PlainRanges]]) -> list[Proxy]:
    """Those that no other covers, as `Judge.covers` has it; of equal ones the one with the smallest
    id."""
    proxies = [proxy for proxy, _ in held]
    rows = tightness(boxes_of([plain.ranges for _, plain in held]))
    born = _numbered([proxy.born for proxy in proxies])
    thresholds = np.array([proxy.threshold for proxy in proxies])
    names = _numbered([proxy.id for proxy in proxies])
    shapes = [*dict.fromkeys(plain.shape for _, plain in held)]
    reaches = np.array([[one.reaches(other) for other in shapes] for one in shapes])
    of_shapes = _numbered([plain.shape for _, plain in held], shapes)
    scores = [plain.score for _, plain in held]
    # whoever could cover another comes before it
    few = -reaches.sum(axis=1)[of_shapes]
    order = np.lexsort((names, thresholds, born, few, thresholds > -inf, *rows.T[::-1]))
    stays = uncovered_rows(
        np.ascontiguousarray(rows[order]),
        _numbered(scores, [*dict.fromkeys(scores)])[order],
        of_shapes[order],
        reaches,
        thresholds[order],
        born[order],
        np.array([proxy.is_thresholded for proxy in proxies])[order],
        np.array([proxy.subscription.shortlist is None for proxy in proxies])[order],
    )
    return [proxies[place] for place in order[stays].tolist()]


def _numbered(values: Sequence[Any], ordered: Sequence[Any] | None = None) -> NDArray[np.int32]:
    """Each value's place among all of them: in an order that is given, or their own."""
    every = sorted(set(values)) if ordered is None else ordered
    places = {value: place for place, value in enumerate(every)}
    return np.array([places[value] for value in values], np.int32)


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
        self._plain: dict[object, PlainRanges | None] = {}

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

    def plain(self, proxy: Proxy) -> PlainRanges | None:
        """What decides whom a proxy covers, if it asks for ranges only."""
        question = proxy.id, proxy.born
        if question not in self._plain:
            found = plain_ranges(proxy.subscription, self.vocabulary, self.limits)
            self._plain[question] = found
        return self._plain[question]

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
        plain, others = self._split(held)
        kept = plain
        if others:
            kept = self._by_each(sorted([*plain, *others], key=lambda proxy: proxy.id), plain)
            kept += self._uncovered_again(held, kept)
        return merged(kept, self._judge.vocabulary, self._judge.limits) if self._merges else kept

    def _split(self, held: Sequence[Proxy]) -> tuple[list[Proxy], list[Proxy]]:
        """Of those that ask for ranges only, all at once, those that no other such one covers; and
        those that ask for more."""
        read = [(proxy, self._judge.plain(proxy)) for proxy in held]
        plain = [(proxy, ranges) for proxy, ranges in read if ranges is not None]
        if len(plain) < FEW:
            return [], [*held]
        return uncovered(plain), [proxy for proxy, ranges in read if ranges is None]

    def _by_each(self, ordered: Sequence[Proxy], plain: Collection[Proxy]) -> list[Proxy]:
        """Each compared with those that stay; two plain ones cover neither the other."""
        known = {proxy.id for proxy in plain}
        kept: list[Proxy] = []
        for proxy in ordered:
            is_plain = proxy.id in known
            if not any(
                self._judge.covers(other, proxy)
                for other in kept
                if not (is_plain and other.id in known)
            ):
                kept = [
                    other
                    for other in kept
                    if (is_plain and other.id in known) or not self._judge.covers(proxy, other)
                ]
                kept.append(proxy)
        return kept

    def _uncovered_again(self, held: Sequence[Proxy], kept: Sequence[Proxy]) -> list[Proxy]:
        """Those with a threshold that somebody covers who is covered in turn, by one that is
        younger than they are."""
        left = {proxy.id for proxy in kept}
        again: list[Proxy] = []
        for proxy in held:
            if proxy.is_thresholded and proxy.id not in left:
                others = (other for other in (*kept, *again) if other.born <= proxy.born)
                if not any(self._judge.covers(other, proxy) for other in others):
                    again.append(proxy)
        return again


class RankUncovered:
    """Covering that still knows a publisher's k best: those with few rank-coverers, by the depth of
    RankCoverK or the ancestors of AncestorCoverK."""

    def __init__(self, judge: Judge, *, by_depth: bool) -> None:
        self._judge = judge
        self._by_depth = by_depth
        self._ranking = cache(partial(Ranking, vocabulary=judge.vocabulary, limits=judge.limits))
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
                if count.depth <= k if self._by_depth else count.ancestors < k:
                    kept[proxy.id] = proxy
        return kept.values()

    def _ranked_by(self, advertisement: Advertisement, proxy: Proxy) -> Ranked:
        question = advertisement, proxy.key, proxy.is_alone
        if question not in self._ranked:
            self._ranked[question] = self._ranking(advertisement).ranked(
                proxy.subscription, proxy.shortlist, is_alone=proxy.is_alone
            )
        return self._ranked[question]


class _Range(NamedTuple):
    interval: Interval
    proxy: Proxy


def merged(proxies: Iterable[Proxy], vocabulary: Vocabulary, limits: Limits) -> list[Proxy]:
    """The proxies, with ranges on one attribute that overlap replaced by their union.

    A fuzzy number may reach into a union and none of its parts; then it travels in vain.

    >>> low, high = (Proxy(Subscription(id=name, where=f"x between {start} and {start + 4}"),
    ...                    Shortlist(id=name, subscriber=name), born=(0, 0))
    ...              for name, start in (("low", 1), ("high", 3)))
    >>> [proxy.subscription.where for proxy in merged([low, high], Vocabulary(), Limits())]
    ['x >= 1 and x <= 7']
    """
    kept: list[Proxy] = []
    by_attribute: dict[Path, list[_Range]] = {}
    for proxy in proxies:
        where = parse_any_where(proxy.subscription.where, vocabulary, limits)
        is_plain = proxy.subscription.asks_only_condition and not proxy.is_thresholded
        ranges = ranges_of(where, vocabulary) if is_plain else None
        if ranges is None or len(ranges) != 1:
            kept.append(proxy)
        else:
            [(path, interval)] = ranges.items()
            by_attribute.setdefault(path, []).append(_Range(interval, proxy))
    for path, parts in by_attribute.items():
        for run in _overlapping(parts):
            kept.append(run[0].proxy if len(run) == 1 else _union(path, run))
    return kept


def _overlapping(parts: Iterable[_Range]) -> Iterator[list[_Range]]:
    """Those that share an inner point with others, together."""
    run: list[_Range] = []
    for part in sorted(parts, key=lambda part: (part.interval.low, part.interval.low_open)):
        if run and part.interval.low >= max(other.interval.high for other in run):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def _union(path: Path, run: Sequence[_Range]) -> Proxy:
    intervals = [part.interval for part in run]
    low = min(intervals, key=lambda each: (each.low, each.low_open))
    high = max(intervals, key=lambda each: (each.high, not each.high_open))
    name = format_path(path)
    ends = [
        f"{name} {operator} {end:.17g}"
        for operator, end in (
            (">" if low.low_open else ">=", low.low),
            ("<" if high.high_open else "<=", high.high),
        )
        if isfinite(end)
    ]
    where = " and ".join(ends) or f"{name} < 0 or {name} >= 0"
    ids = "\n".join(sorted(part.proxy.id for part in run))
    together = "merged " + hashlib.sha256(ids.encode()).hexdigest()[:32]
    return Proxy(
        Subscription(id=together, where=where),
        Shortlist(id=together, subscriber=together),
        born=max(part.proxy.born for part in run),
    )
