"""Boundaries and quiet hours once more, date by date, as Python's own zones tell wall times."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from shortlist.model.durations import Span
from shortlist.model.policy import Cap
from shortlist.model.times import EPOCH, MICROSECOND
from shortlist.model.zones import zone_of

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
SECOND = timedelta(seconds=1)


def boundaries_around(policy, instant):
    """Some before and some after an instant."""
    every = policy.per if isinstance(policy, Cap) else policy.every
    if isinstance(every, Span):
        number = instant // every.micros
        return [(number + step) * every.micros for step in (-1, 0, 1, 2)]
    return [
        wall_instant(policy.zone, day, policy.at)
        for day in dates_around(policy.zone, instant)
        if every == "day" or DAYS[day.weekday()] == policy.on
    ]


def quiet_hours_around(policy, instant):
    found = set()
    for day in dates_around(policy.zone, instant):
        if DAYS[day.weekday()] in policy.days:
            last = day + timedelta(days=1) if policy.to <= policy.from_ else day
            begin = wall_instant(policy.zone, day, policy.from_)
            found.add((begin, wall_instant(policy.zone, last, policy.to)))
    return [(begin, end) for begin, end in sorted(found) if begin < end]


def dates_around(zone, instant):
    here = (EPOCH + instant * MICROSECOND).astimezone(zone_of(zone)).date()
    return [here + timedelta(days=days) for days in range(-10, 11)]


@cache
def wall_instant(zone, day, text):
    """The first instant at which the wall shows it; else the first one after the gap."""
    wall = datetime.combine(date(day.year, day.month, day.day), time.fromisoformat(text))
    first = wall.replace(tzinfo=zone_of(zone), fold=0).astimezone(UTC)
    if shows(zone, first) != wall:
        # a gap: the offset from before it leads behind it, and the other way round
        low = wall.replace(tzinfo=zone_of(zone), fold=1).astimezone(UTC)
        assert shows(zone, low) < wall < shows(zone, first)
        while first - low > SECOND:
            middle = low + (first - low) // 2 // SECOND * SECOND
            low, first = (low, middle) if shows(zone, middle) > wall else (middle, first)
    return (first - EPOCH) // MICROSECOND


def shows(zone, instant):
    return instant.astimezone(zone_of(zone)).replace(tzinfo=None, fold=0)
