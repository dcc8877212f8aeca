"""Proxies that ask for ranges of numbers and nothing else: which of them no other covers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Ranges, boxes_of, ranges_of, tightness
from shortlist.language.parser import parse_any_score, parse_any_where
from shortlist.language.printer import print_where
from shortlist.matching.computable import largest, needs, uses_degrees
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.kernels.uncovered import uncovered_rows
from shortlist.overlay.messages import Proxy


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
