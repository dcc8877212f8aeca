"""Proxies that together ask for one range become one: fewer to know, and nothing more wanted."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from shortlist.covering.condition_graph import ranges_of
from shortlist.fuzzy.intervals import Interval
from shortlist.language.parser import parse_any_where
from shortlist.model.paths import Path, format_path
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.messages import Proxy


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
        ranges = ranges_of(where, vocabulary) if proxy.asks_only_condition else None
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
