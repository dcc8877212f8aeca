"""The policies once more, as slowly and as literally as `SEMANTICS.md` puts them.

Nothing here is incremental: every answer is worked out again from the whole history. All of them
take the calls of a selector; they answer with rows.
"""

import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from math import floor, log2
from typing import NamedTuple

from shortlist.model.durations import Span
from shortlist.model.policy import (
    Cap,
    Chain,
    Digest,
    Diverse,
    Everything,
    Fresh,
    Novelty,
    Quiet,
    TopK,
    Window,
)
from tests.engine.naive_calendar import boundaries_around, quiet_hours_around

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


def is_it(publication, source, name):
    return (publication.source, publication.id) == (source, name)


class NaiveEverything:
    """Every match, at arrival; rank null."""

    def __init__(self, policy, shortlist):
        pass

    def arrive(self, candidate, now):
        publication = candidate.publication
        named = candidate.named.subscription
        return [Row(now, publication.position, candidate.score, named, None, "arrival")]

    def cancel(self, subscription, time):
        return []

    def settle(self, time):
        return []

    def retract(self, source, publication, time):
        return []

    def change(self, policy, time):
        return []

    def finish(self):
        return []


class NaiveTopK:
    """Delivered iff fewer than k delivered earlier and still valid ones score strictly higher."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.delivered = []  # candidates, each with the instant at which its validity ends

    def arrive(self, candidate, now):
        better = sum(
            1 for earlier, end in self.delivered if end > now and earlier.score > candidate.score
        )
        if better >= self.policy.k:
            return []
        self.delivered.append((candidate, self.end(candidate, now)))
        position, named = candidate.publication.position, candidate.named.subscription
        return [Row(now, position, candidate.score, named, 1 + better, "arrival")]

    def end(self, candidate, time):
        """The earliest of expirytime, time + refresh and the end of the period it arrived in."""
        ends = [FOR_EVER]
        if candidate.publication.expiry is not None:
            ends.append(candidate.publication.expiry)
        if candidate.named.refresh is not None:
            ends.append(time + candidate.named.refresh)
        elif self.policy.refresh is not None:
            ends.append(time + self.policy.refresh)
        if self.policy.period is not None:
            ends.append((floor(Decimal(time) / self.policy.period) + 1) * self.policy.period)
        return min(ends)

    def cancel(self, subscription, time):
        return []

    def settle(self, time):
        return []

    def retract(self, source, publication, time):
        """What k others outlast counts no more, and of the rest the one is taken away."""
        counting = [each for each in self.delivered if each[1] > time]
        self.delivered = [
            each
            for place, each in enumerate(counting)
            if self.dominators(counting, place) < self.policy.k
            and not is_it(each[0].publication, source, publication)
        ]
        return []

    def dominators(self, counting, place):
        """How many have at least the score and end no earlier; of equals, those that came later."""
        (one, last) = counting[place]
        return sum(
            candidate.score >= one.score
            and end >= last
            and ((candidate.score, end) != (one.score, last) or other > place)
            for other, (candidate, end) in enumerate(counting)
        )

    def change(self, policy, time):
        self.policy = policy
        return []

    def finish(self):
        return []


class NaiveWindow:
    """The whole window is put together and sorted again at every instant."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.span = policy.window.micros if isinstance(policy.window, Span) else None
        self.count = policy.window if isinstance(policy.window, int) else None
        self.arrived = []  # candidates, each with the instant at which it came
        self.cancelled = set()  # places in `arrived`
        self.retracted = {}  # by place in `arrived`: when
        self.delivered = set()  # places in `arrived`
        self.last_instant = -FOR_EVER

    def arrive(self, candidate, now):
        rows = self.departures(lambda instant: instant < now)
        self.arrived.append((candidate, now))
        return rows + self.fill(now, arrival=len(self.arrived) - 1)

    def cancel(self, subscription, time):
        rows = self.departures(lambda instant: instant <= time)
        for place, (candidate, _) in enumerate(self.arrived):
            if candidate.named.subscription == subscription:
                self.cancelled.add(place)
        return rows + self.fill(time)

    def settle(self, time):
        return self.departures(lambda instant: instant <= time)

    def retract(self, source, publication, time):
        """It leaves at that instant; what is dominated by then does not come back for it."""
        rows = self.departures(lambda instant: instant < time)
        content = self.content(time - 1)
        self.cancelled |= {place for place in content if self.is_hopeless(place, content)}
        for place, (candidate, _) in enumerate(self.arrived):
            if is_it(candidate.publication, source, publication):
                self.retracted.setdefault(place, time)
        self.last_instant = min(self.last_instant, time - 1)
        return rows

    def change(self, policy, time):
        self.policy = policy
        return []

    def is_hopeless(self, place, content):
        dominators = [
            other
            for other in content
            if self.best_first(other) < self.best_first(place)
            and self.named(other) == self.named(place)
            and self.outlasts(other, place)
        ]
        return len(dominators) >= self.policy.k

    def outlasts(self, place, other):
        if self.count is not None:
            return place > other and self.end(place) == FOR_EVER
        return self.end(place) >= self.end(other)

    def end(self, place):
        return min(self.ends(place), default=FOR_EVER)

    def named(self, place):
        return self.arrived[place][0].named.subscription

    def finish(self):
        return self.departures(lambda instant: True)

    def content(self, now):
        """The places of all that is in the window at an instant."""
        return [
            place
            for place in range(len(self.arrived))
            if place not in self.cancelled
            and (self.count is None or place >= len(self.arrived) - self.count)
            and self.end(place) > now
        ]

    def ends(self, place):
        candidate, came = self.arrived[place]
        if self.span is not None:
            yield came + self.span
        if candidate.publication.expiry is not None:
            yield candidate.publication.expiry
        if place in self.retracted:
            yield self.retracted[place]

    def departures(self, due):
        """Every instant, in order, at which something leaves; each is filled."""
        instants = {end for place in range(len(self.arrived)) for end in self.ends(place)}
        rows = []
        for instant in sorted(instants):
            if instant > self.last_instant and due(instant):
                rows += self.fill(instant)
        return rows

    def fill(self, now, arrival=None):
        self.last_instant = now
        rows = []
        for rank, place in enumerate(self.chosen(self.content(now)), start=1):
            if place not in self.delivered:
                self.delivered.add(place)
                candidate, _ = self.arrived[place]
                rows.append(
                    Row(
                        now,
                        candidate.publication.position,
                        self.score(candidate, now),
                        candidate.named.subscription,
                        rank,
                        "arrival" if place == arrival else "promotion",
                    )
                )
        return rows

    def chosen(self, places):
        """Those that the shortlist holds, best first."""
        return sorted(places, key=self.best_first)[: self.policy.k]

    def best_first(self, place):
        return -self.arrived[place][0].score, *self.most_recent_first(place)

    def most_recent_first(self, place):
        publication = self.arrived[place][0].publication
        return -publication.time, -publication.position

    def score(self, candidate, now):
        return candidate.score


class NaiveFresh(NaiveWindow):
    """A window in which every score is worth half as much after each half-life."""

    def arrive(self, candidate, now):
        if candidate.score <= 0:
            return []
        return super().arrive(candidate, now)

    def best_first(self, place):
        candidate, _ = self.arrived[place]
        half_lives = candidate.publication.time / self.policy.half_life
        return -(log2(candidate.score) + half_lives), *self.most_recent_first(place)

    def score(self, candidate, now):
        age = now - candidate.publication.time
        return round(candidate.score * 2.0 ** (-age / self.policy.half_life), 9)


class NaiveDiverse(NaiveWindow):
    """A window from which the shortlist is chosen one by one."""

    def is_hopeless(self, place, content):
        better = [other for other in content if self.is_always_better(other, place)]
        kinds = []
        for other in better:
            if all(self.differ(other, kind) for kind in kinds):
                kinds.append(other)
        is_outdone = any(not self.differ(other, place) for other in better)
        return is_outdone or len(kinds) >= self.policy.k

    def is_always_better(self, place, other):
        """docs/diverse.md: always worth more."""
        if place == other or self.named(place) != self.named(other):
            return False
        if self.end(place) < self.end(other) or (self.count is not None and place < other):
            return False
        weight = self.policy.weight
        share, other_share = ((1 - weight) * self.arrived[each][0].score for each in (place, other))
        is_alike = weight == 0 or not self.differ(place, other)
        if is_alike and self.most_recent_first(place) < self.most_recent_first(other):
            return share >= other_share
        apart = 0 if is_alike else weight * self.distance(place, other)
        return share - other_share > apart + 1e-8 + 1e-15 * (abs(share) + abs(other_share))

    def chosen(self, places):
        chosen = []
        while len(chosen) < self.policy.k:
            left = [place for place in places if all(self.differ(place, other) for other in chosen)]
            if not left:
                break

            def best_first(place, so_far=tuple(chosen)):
                return -self.value(place, so_far), *self.most_recent_first(place)

            chosen.append(min(left, key=best_first))
        return chosen

    def value(self, place, chosen):
        nearest = min([self.distance(place, other) for other in chosen], default=1.0)
        weight = self.policy.weight
        return round((1 - weight) * self.arrived[place][0].score + weight * nearest, 9)

    def differ(self, place, other):
        return not all(one == two for one, two, _ in self.pairs(place, other))

    def distance(self, place, other):
        total = 0.0
        for one, two, scale in self.pairs(place, other):
            if one == two:
                continue
            is_scaled = scale is not None and one != NOTHING != two
            total += min(1.0, abs(float(one) - float(two)) / scale) if is_scaled else 1.0
        return total / len(self.policy.over)

    def pairs(self, place, other):
        for path, scale in self.policy.over:
            one, two = (
                json_text(raw_value(self.arrived[each][0].publication, path))
                for each in (place, other)
            )
            if scale is not None:
                one, two = (each if is_number(each) else NOTHING for each in (one, two))
            yield one, two, scale


NOTHING = "null"


def json_text(value):
    """A value as JSON, the same for equal values: floats for all numbers."""
    text = json.dumps(value, sort_keys=True)
    return json.dumps(json.loads(text, parse_int=float), sort_keys=True)


def is_number(text):
    return text[0] in "-0123456789"


def raw_value(publication, path):
    if path in [("event", "source"), ("event", "type"), ("event", "id")]:
        return getattr(publication, path[1])
    value = publication.data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


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
        position = candidate.publication.position
        row = Row(now, position, novelty, subscription, None, "arrival")
        return [row] if delivered else []

    def cancel(self, subscription, time):
        self.forgotten[subscription] = len(self.history)
        self.chances.pop(subscription, None)
        return []

    def settle(self, time):
        return []

    def retract(self, source, publication, time):
        return []

    def finish(self):
        return []

    def change(self, policy, time):
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


class NaiveDigest:
    """What arrives at t waits until the first boundary B > t; then the k best are delivered."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.arrived = []  # candidates, each with the instant from which it waits
        self.gone = set()  # places in `arrived`

    def due(self, since):
        """When what waits since an instant is released; None if it does not have to wait."""
        return min(each for each in boundaries_around(self.policy, since) if each > since)

    def arrive(self, candidate, now):
        rows = self.settle(now)
        self.arrived.append((candidate, now))
        if self.due(now) is not None:
            return rows
        self.gone.add(len(self.arrived) - 1)
        position, named = candidate.publication.position, candidate.named.subscription
        return [*rows, Row(now, position, candidate.score, named, None, "arrival")]

    def cancel(self, subscription, time):
        rows = self.settle(time)
        for place, (candidate, _) in enumerate(self.arrived):
            if candidate.named.subscription == subscription:
                self.gone.add(place)
        return rows

    def retract(self, source, publication, time):
        rows = self.settle(time)
        for place, (candidate, _) in enumerate(self.arrived):
            if is_it(candidate.publication, source, publication):
                self.gone.add(place)
        return rows

    def settle(self, time):
        dues = {self.due(since): None for _, since in self.waiting()}
        return [row for due in sorted(dues) if due <= time for row in self.release(due)]

    def finish(self):
        return self.settle(FOR_EVER)

    def waiting(self):
        return [each for place, each in enumerate(self.arrived) if place not in self.gone]

    def change(self, policy, time):
        """What waits does so from now on, by the new hours."""
        self.policy = policy
        self.arrived = [(candidate, time) for candidate, _ in self.waiting()]
        self.gone = set()
        return self.release(time) if self.arrived and self.due(time) is None else []

    def release(self, now):
        valid = []
        for place, (candidate, since) in enumerate(self.arrived):
            if place not in self.gone and self.due(since) in (None, now):
                self.gone.add(place)
                if candidate.publication.expiry is None or candidate.publication.expiry > now:
                    valid.append(candidate)
        valid.sort(key=lambda one: (one.score, one.publication.time, one.publication.position))
        best = valid[::-1] if self.policy.k is None else valid[::-1][: self.policy.k]
        return [
            Row(
                now,
                candidate.publication.position,
                candidate.score,
                candidate.named.subscription,
                rank,
                "arrival" if candidate.publication.time == now else "promotion",
            )
            for rank, candidate in enumerate(best, start=1)
        ]


class NaiveQuiet(NaiveDigest):
    """What arrives within [from, to) waits until they end."""

    def due(self, since):
        ends = [
            end for begin, end in quiet_hours_around(self.policy, since) if begin <= since < end
        ]
        return ends[0] if ends else None


class NaiveCap(NaiveEverything):
    """Passes while fewer than `most` have passed since the last boundary."""

    def __init__(self, policy, shortlist):
        self.policy = policy
        self.passed = []

    def arrive(self, candidate, now):
        since = max(each for each in boundaries_around(self.policy, now) if each <= now)
        if sum(time >= since for time in self.passed) >= self.policy.most:
            return []
        self.passed.append(now)
        return super().arrive(candidate, now)

    def change(self, policy, time):
        self.policy = policy
        return []


class NaiveChain:
    """What one policy delivers is shown to the next, before that hears of anything else."""

    def __init__(self, policy, shortlist):
        self.policies = [NAIVE[type(each)](each, shortlist) for each in policy.policies]
        self.candidates = {}  # by position

    def arrive(self, candidate, now):
        position = candidate.publication.position
        self.candidates[position] = candidate
        flow = self.shown(self.policies[0].arrive(candidate, now))
        for policy in self.policies[1:]:
            flow = self.passed(flow, policy)
        return [row for row, _ in flow]

    def cancel(self, subscription, time):
        """What was due comes with all its matches, what is delivered then without the one."""
        flow = []
        for policy in self.policies:
            flow = self.passed(flow, policy)
            flow += self.shown(policy.settle(time))
            flow += self.shown(policy.cancel(subscription, time), without=subscription)
        for position, candidate in self.candidates.items():
            self.candidates[position] = unmatched(candidate, subscription)
        return [row for row, _ in flow]

    def settle(self, time):
        return self.told(lambda policy: policy.settle(time))

    def retract(self, source, publication, time):
        return self.told(lambda policy: policy.retract(source, publication, time))

    def change(self, policy, time):
        """All of them have changed when something is released for that."""
        found = []
        for place in reversed(range(len(self.policies))):
            flow = self.shown(self.policies[place].change(policy.policies[place], time))
            for later in self.policies[place + 1 :]:
                flow = self.passed(flow, later)
            found += flow
        return [row for row, _ in found]

    def refresh(self, subscription, span):
        for position, candidate in self.candidates.items():
            self.candidates[position] = refreshed(candidate, subscription, span)

    def finish(self):
        return self.told(lambda policy: policy.finish())

    def told(self, tell):
        flow = []
        for policy in self.policies:
            flow = self.passed(flow, policy) + self.shown(tell(policy))
        return [row for row, _ in flow]

    def shown(self, rows, without=None):
        """Rows with the candidates that they are about."""
        return [(row, unmatched(self.candidates[row.position], without)) for row in rows]

    def passed(self, flow, policy):
        """What a policy delivers when it is shown what the one before delivered."""
        found = []
        for shown, candidate in flow:
            (named,) = (
                match for match in candidate.matches if match.subscription == shown.subscription
            )
            self.candidates[shown.position] = candidate
            comes = replace(candidate, score=shown.score, named=named)
            for row in policy.arrive(comes, shown.time):
                on_arrival = row.cause == shown.cause == "arrival"
                cause = "arrival" if on_arrival else "promotion"
                found += self.shown([row._replace(cause=cause)])
        return found


def unmatched(candidate, subscription):
    left = tuple(match for match in candidate.matches if match.subscription != subscription)
    return replace(candidate, matches=left)


def refreshed(candidate, subscription, span):
    """With another `refresh` of a subscription."""
    named, *matches = (
        match._replace(refresh=span) if match.subscription == subscription else match
        for match in (candidate.named, *candidate.matches)
    )
    return replace(candidate, named=named, matches=tuple(matches))


NAIVE = {
    Everything: NaiveEverything,
    TopK: NaiveTopK,
    Window: NaiveWindow,
    Novelty: NaiveNovelty,
    Fresh: NaiveFresh,
    Diverse: NaiveDiverse,
    Digest: NaiveDigest,
    Quiet: NaiveQuiet,
    Cap: NaiveCap,
    Chain: NaiveChain,
}


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
