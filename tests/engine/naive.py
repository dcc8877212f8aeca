"""The policies once more, as slowly and as literally as `SEMANTICS.md` puts them.

Nothing here is incremental: every answer is worked out again from the whole history. All of them
take the calls of a selector; they answer with rows.
"""

from decimal import Decimal
from itertools import pairwise
from math import floor
from typing import NamedTuple

from shortlist.model.policy import Span

FOR_EVER = float("inf")
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


class Row(NamedTuple):
    time: int
    position: int
    score: float
    subscription: str
    rank: int | None
    cause: str


class NaiveEverything:
    """Every match, at arrival; rank null."""

    def __init__(self, policy, shortlist):
        pass

    def arrive(self, candidate, now):
        publication = candidate.publication
        named = candidate.named.subscription
        return [
            Row(publication.time, publication.position, candidate.score, named, None, "arrival")
        ]

    def cancel(self, subscription, time):
        return []

    def close(self, time):
        return []

    def finish(self):
        return []


class NaiveTopK:
    """Delivered iff fewer than k delivered earlier and still valid ones score strictly higher."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.delivered = []

    def arrive(self, candidate, now):
        now = candidate.publication.time
        better = sum(
            1
            for earlier in self.delivered
            if self.end(earlier) > now and earlier.score > candidate.score
        )
        if better >= self.policy.k:
            return []
        self.delivered.append(candidate)
        position, named = candidate.publication.position, candidate.named.subscription
        return [Row(now, position, candidate.score, named, 1 + better, "arrival")]

    def end(self, candidate):
        """The earliest of expirytime, time + refresh and the end of the period it arrived in."""
        time = candidate.publication.time
        ends = [FOR_EVER]
        if candidate.publication.expiry is not None:
            ends.append(candidate.publication.expiry)
        if candidate.refresh is not None:
            ends.append(time + candidate.refresh)
        elif self.policy.refresh is not None:
            ends.append(time + self.policy.refresh)
        if self.policy.period is not None:
            ends.append((floor(Decimal(time) / self.policy.period) + 1) * self.policy.period)
        return min(ends)

    def cancel(self, subscription, time):
        return []

    def close(self, time):
        return []

    def finish(self):
        return []


class NaiveWindow:
    """The whole window is put together and sorted again at every instant."""

    def __init__(self, policy, shortlist):
        self.k = policy.k
        self.span = policy.window.micros if isinstance(policy.window, Span) else None
        self.count = policy.window if isinstance(policy.window, int) else None
        self.arrived = []
        self.cancelled = set()  # places in `arrived`
        self.delivered = set()  # places in `arrived`
        self.last_instant = -FOR_EVER

    def arrive(self, candidate, now):
        now = candidate.publication.time
        rows = self.departures(lambda instant: instant < now)
        self.arrived.append(candidate)
        return rows + self.fill(now, arrival=len(self.arrived) - 1)

    def cancel(self, subscription, time):
        rows = self.departures(lambda instant: instant <= time)
        for place, candidate in enumerate(self.arrived):
            if candidate.named.subscription == subscription:
                self.cancelled.add(place)
        return rows + self.fill(time)

    def close(self, time):
        return self.departures(lambda instant: instant <= time)

    def finish(self):
        return self.departures(lambda instant: True)

    def content(self, now):
        """The places of all that is in the window at an instant."""
        return [
            place
            for place, candidate in enumerate(self.arrived)
            if place not in self.cancelled
            and (self.count is None or place >= len(self.arrived) - self.count)
            and all(end > now for end in self.ends(candidate))
        ]

    def ends(self, candidate):
        publication = candidate.publication
        if self.span is not None:
            yield publication.time + self.span
        if publication.expiry is not None:
            yield publication.expiry

    def departures(self, due):
        """Every instant, in order, at which something leaves; each is filled."""
        instants = {end for candidate in self.arrived for end in self.ends(candidate)}
        rows = []
        for instant in sorted(instants):
            if instant > self.last_instant and due(instant):
                rows += self.fill(instant)
        return rows

    def fill(self, now, arrival=None):
        self.last_instant = now

        def best_first(place):
            candidate = self.arrived[place]
            return -candidate.score, -candidate.publication.time, -candidate.publication.position

        rows = []
        for rank, place in enumerate(sorted(self.content(now), key=best_first)[: self.k], start=1):
            if place not in self.delivered:
                self.delivered.add(place)
                candidate = self.arrived[place]
                rows.append(
                    Row(
                        now,
                        candidate.publication.position,
                        candidate.score,
                        candidate.named.subscription,
                        rank,
                        "arrival" if place == arrival else "promotion",
                    )
                )
        return rows


class Match(NamedTuple):
    """One publication of a novelty shortlist's past."""

    t: int
    used: dict[str, float]  # by matching subscription
    novelty: float
    delivered: bool


class NaiveNovelty:
    """Every count is taken again over the history of all matches."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.shortlist = shortlist
        self.history = []
        self.forgotten = {}  # subscription -> the t up to which its counts do not exist
        self.k = max(1, floor(Decimal(str(policy.rate)) * policy.period))
        self.chances = {}  # lazy sampling: set at the end of each period

    def arrive(self, candidate, now):
        t = len(self.history) + 1
        used = {match.subscription: self.used(match.subscription, t) for match in candidate.matches}
        novelty = max(used.values())
        subscription = min(name for name in used if used[name] == novelty)
        delivered = self.wanted(t, subscription, novelty) and self.quota_left(t)
        self.history.append(Match(t, used, novelty, delivered))
        if t % self.policy.period == 0:
            self.end_of_period()
        publication = candidate.publication
        row = Row(publication.time, publication.position, novelty, subscription, None, "arrival")
        return [row] if delivered else []

    def cancel(self, subscription, time):
        self.forgotten[subscription] = len(self.history)
        self.chances.pop(subscription, None)
        return []

    def close(self, time):
        return []

    def finish(self):
        return []

    # What came before, as section 6 names it

    def matches_of(self, subscription, among):
        since = self.forgotten.get(subscription, 0)
        return [match for match in among if subscription in match.used and match.t > since]

    def used(self, subscription, t):
        past = self.matches_of(subscription, self.history)
        deliveries = [match for match in past if match.delivered]
        if self.policy.measure == "rate":
            novel = 1.0 if t == 1 else 1 - len(deliveries) / (t - 1)
        else:
            novel = float(t - (deliveries[-1].t if deliveries else 0))
        aging = self.policy.aging
        if aging == 1 or not past:
            return round(novel, 9)
        return round(aging * novel + (1 - aging) * past[-1].used[subscription], 9)

    def this_period(self, t):
        """The matches before t in its own period."""
        start = (t - 1) // self.policy.period * self.policy.period
        return self.history[start:]

    def last_period(self):
        """The last `period` matches before this one."""
        return self.history[-self.policy.period :]

    # The decision

    def quota_left(self, t):
        among = self.this_period(t) if self.policy.mode == "lazy" else self.last_period()
        return sum(match.delivered for match in among) < self.k

    def wanted(self, t, subscription, novelty):
        if self.policy.algorithm == "threshold":
            return novelty >= self.threshold(t)
        x = self.uniform(t)
        if self.policy.algorithm == "random":
            return x < self.policy.rate
        if self.policy.mode == "lazy":
            return x < self.chances.get(subscription, 1.0)
        return x < self.chance(subscription, self.last_period())

    def threshold(self, t):
        if self.policy.mode == "eager":
            among = self.last_period()
        else:
            start = (t - 1) // self.policy.period * self.policy.period
            among = self.history[max(0, start - self.policy.period) : start]
        novelties = sorted((match.novelty for match in among), reverse=True)
        return novelties[self.k - 1] if len(novelties) >= self.k else 0.0

    def end_of_period(self):
        names = {name for match in self.history for name in match.used}
        self.chances = {name: self.chance(name, self.history) for name in names}

    def chance(self, subscription, among):
        counted = self.matches_of(subscription, among)
        names = {name for match in among for name in match.used}
        known = [name for name in names if self.matches_of(name, among)]
        if not among or len(counted) < 2:
            return 1.0
        share = self.policy.rate / len(known)
        frequency = len(counted) / len(among)
        if frequency < share:
            return 1.0
        if self.policy.measure == "rate":
            return min(1.0, share / frequency)
        gaps = [later.t - earlier.t for earlier, later in pairwise(counted)]
        return min(1.0, share * (sum(gaps) / len(gaps)))

    def uniform(self, t):
        start = splitmix64((self.policy.seed & MASK) ^ fnv1a64(self.shortlist.encode()))
        return (splitmix64((start + t * GOLDEN) & MASK) >> 11) * 2.0**-53


def splitmix64(state):
    z = (state + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a64(octets):
    state = 0xCBF29CE484222325
    for octet in octets:
        state = ((state ^ octet) * 0x100000001B3) & MASK
    return state
