"""The policy `novelty`: what a subscriber rarely gets counts more, within a delivery budget."""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from sortedcontainers import SortedList

from shortlist.model.policy import Novelty
from shortlist.model.rounding import rounded
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Placement, Selector
from shortlist.selection.draws import draw, stream


@dataclass(slots=True)
class _Counts:
    """One subscription's past: matches, deliveries, and the instants t at which they happened."""

    matches: int = 0
    deliveries: int = 0
    last_delivery: int = 0
    first_match: int = 0
    last_match: int = 0
    used: float | None = None


@dataclass(slots=True)
class _Past:
    """One earlier match of the shortlist."""

    t: int
    novelty: float
    delivered: bool
    subscriptions: list[str] = field(default_factory=list)


def chance_of(policy: Novelty, matches: int, span: int, matching: int, total: int) -> float:
    """With what chance `sampling` takes a subscription that has so many of all matches, over such
    a span of them, where so many subscriptions have any."""
    if matches < 2:
        return 1.0
    share = policy.rate / matching
    frequency = matches / total
    if frequency < share:
        return 1.0
    if policy.measure == "interval":
        return min(1.0, share * (span / (matches - 1)))
    return min(1.0, share / frequency)


class NoveltySelector(Selector):
    """Counts in matches, not in time: t is the number of the shortlist's matches so far."""

    def __init__(self, policy: Novelty, shortlist: str) -> None:
        self._policy = policy
        self._quota = max(1, int(Decimal(repr(policy.rate)) * policy.period))
        self._draws = stream(policy.seed, shortlist)
        self._t = 0
        self._counts: dict[str, _Counts] = {}
        self._threshold = 0.0
        self._chances: dict[str, float] = {}
        self._past: deque[_Past] = deque()
        self._novelties: SortedList = SortedList()
        self._delivered = 0

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        names = [match.subscription for match in candidate.matches]
        self._meet(names)
        named = min(candidate.matches, key=lambda match: self._most_novel_first(match.subscription))
        novelty = self._used(named.subscription)
        refusal = self._refusal(named.subscription, novelty)
        self._record(names, novelty, delivered=refusal is None)
        if refusal is not None:
            return Outcome([], refusal)
        return Outcome([Placement(now, candidate, novelty, named, None, "arrival")])

    def note(self, subscriptions: Iterable[str], *, delivered: bool) -> None:
        """A match that was decided elsewhere counts like one that was decided here."""
        names = [*subscriptions]
        self._meet(names)
        self._record(names, max(map(self._used, names)), delivered)

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        self._counts.pop(subscription, None)
        self._chances.pop(subscription, None)
        for past in self._past:
            if subscription in past.subscriptions:
                past.subscriptions.remove(subscription)
        return []

    def state(self) -> Any:
        return {
            "t": self._t,
            "counts": {name: asdict(counts) for name, counts in self._counts.items()},
            "threshold": self._threshold,
            "chances": dict(self._chances),
            "past": [asdict(past) for past in self._past],
        }

    def restore(self, state: Any) -> None:
        self._t = state["t"]
        self._counts = {name: _Counts(**counts) for name, counts in state["counts"].items()}
        self._threshold = state["threshold"]
        self._chances = dict(state["chances"])
        for past in state["past"]:
            self._remember(_Past(**past))

    def _meet(self, subscriptions: Iterable[str]) -> None:
        """Another match comes, of these subscriptions."""
        self._t += 1
        for name in subscriptions:
            self._use(name)

    def _use(self, subscription: str) -> None:
        """The novelty of a subscription at this match, aged by what it was at its previous one."""
        counts = self._counts.setdefault(subscription, _Counts())
        if self._policy.measure == "interval":
            novel = float(self._t - counts.last_delivery)
        else:
            novel = 1.0 - counts.deliveries / (self._t - 1) if self._t > 1 else 1.0
        aging = self._policy.aging
        if counts.used is not None:
            novel = aging * novel + (1.0 - aging) * counts.used
        counts.used = rounded(novel)

    def _used(self, subscription: str) -> float:
        return self._counts[subscription].used or 0.0

    def _most_novel_first(self, subscription: str) -> tuple[float, str]:
        return -self._used(subscription), subscription

    def _refusal(self, subscription: str, novelty: float) -> str | None:
        if self._delivered >= self._quota:
            return f"the quota of {self._quota} in {self._policy.period} matches is used"
        if self._policy.algorithm == "threshold":
            threshold = self._present_threshold()
            return None if novelty >= threshold else f"novelty {novelty} is under {threshold}"
        chance = self._policy.rate
        if self._policy.algorithm == "sampling":
            chance = self._chance(subscription)
        drawn = draw(self._draws, self._t)
        return None if drawn < chance else f"drawn {drawn:.9f} is not under the chance {chance:.9f}"

    def _present_threshold(self) -> float:
        if self._policy.mode == "lazy":
            return self._threshold
        enough = len(self._novelties) >= self._quota
        return self._novelties[-self._quota] if enough else 0.0

    def _chance(self, subscription: str) -> float:
        if self._policy.mode == "lazy":
            return self._chances.get(subscription, 1.0)
        recent: dict[str, _Counts] = {}
        for past in self._past:
            _count_match(recent, past.subscriptions, past.t)
        counts = recent.get(subscription, _Counts())
        return self._chance_from(counts, len(recent), len(self._past))

    def _chance_from(self, counts: _Counts, matched_subscriptions: int, total: int) -> float:
        span = counts.last_match - counts.first_match
        return chance_of(self._policy, counts.matches, span, matched_subscriptions, total)

    def _record(self, names: list[str], novelty: float, delivered: bool) -> None:
        _count_match(self._counts, names, self._t)
        if delivered:
            for name in names:
                self._counts[name].deliveries += 1
                self._counts[name].last_delivery = self._t
        self._remember(_Past(self._t, novelty, delivered, names))
        period = self._policy.period
        if self._policy.mode == "eager":
            if len(self._past) > period:
                self._forget(self._past.popleft())
        elif self._t % period == 0:
            self._end_period()

    def _end_period(self) -> None:
        self._threshold = heapq.nlargest(self._quota, self._novelties)[-1]
        matched = sum(counts.matches > 0 for counts in self._counts.values())
        self._chances = {
            name: self._chance_from(counts, matched, self._t)
            for name, counts in self._counts.items()
        }
        self._past.clear()
        self._novelties.clear()
        self._delivered = 0

    def _remember(self, past: _Past) -> None:
        self._past.append(past)
        self._novelties.add(past.novelty)
        self._delivered += past.delivered

    def _forget(self, past: _Past) -> None:
        self._novelties.remove(past.novelty)
        self._delivered -= past.delivered


def _count_match(counts: dict[str, _Counts], subscriptions: Iterable[str], t: int) -> None:
    for name in subscriptions:
        counted = counts.setdefault(name, _Counts())
        counted.first_match = counted.first_match or t
        counted.last_match = t
        counted.matches += 1
