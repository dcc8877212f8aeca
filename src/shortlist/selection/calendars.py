"""Periods of time that policies go by, as instants: those of a calendar, and equal ones.

A period that ends at an instant does not hold it; the next one may begin there. All of a timetable
in one stretch of time are computed at once and kept, for everybody who goes by it.
"""

from bisect import bisect_left
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.durations import Span
from shortlist.model.policy import Cap, Digest, Quiet
from shortlist.model.times import END_OF_TIME, format_time
from shortlist.model.wall_clock import MIDNIGHT, WEEK, minutes_of
from shortlist.model.zones import zone_of
from shortlist.selection.bank.offers import NEVER

SECOND, MINUTE, DAY = 1_000_000, 60_000_000, 86_400_000_000
STRETCH = 2**43
"""Periods that begin within so many microseconds, 102 days, are computed together."""
AROUND = 16 * DAY
"""As far from a stretch something may be that matters in it: a week, and days that do not exist."""
LOOK_EVERY = 6 * 3600
"""Seconds between two looks at a zone's offset. No zone has changed it twice within so many."""
FIRST, LAST = -62_135_500_000, 253_402_200_000
"""The seconds of which Python knows the date in every zone."""
NO_PERIOD = (-NEVER, -NEVER)


class Period(NamedTuple):
    """It holds the instants from `begin` on, and before `end`."""

    begin: int
    end: int


class Cycle(NamedTuple):
    """Periods of one length, since the Unix epoch."""

    span: int


class Timetable(NamedTuple):
    """Periods that begin at a wall time on some days, and end at another or when the next begins.

    Days are counted from Monday, 0; wall times in minutes.
    """

    zone: str
    begin: int
    end: int | None
    days: tuple[int, ...]


Calendar = Cycle | Timetable


def calendar_of(policy: Digest | Quiet | Cap) -> Calendar:
    """The periods that a policy goes by.

    >>> calendar_of(Quiet(from_="22:00", to="07:00", days=("fri",)))
    Timetable(zone='UTC', begin=1320, end=420, days=(4,))
    """
    if isinstance(policy, Quiet):
        begin, end = minutes_of(policy.from_), minutes_of(policy.to)
        return Timetable(policy.zone, begin, end, tuple(map(WEEK.index, policy.days)))
    every = policy.per if isinstance(policy, Cap) else policy.every
    if isinstance(every, Span):
        return Cycle(min(every.micros, NEVER // 2))  # sums with times stay within 64 bits
    assert policy.zone is not None
    assert policy.at is not None
    days = (*range(7),) if policy.on is None else (WEEK.index(policy.on),)
    return Timetable(policy.zone, minutes_of(policy.at), None, days)


def period_at(calendar: Calendar, time: int) -> Period | None:
    """The period that holds an instant, if one does.

    >>> oslo = Timetable("Europe/Oslo", 22 * 60, 7 * 60, tuple(range(7)))
    >>> from shortlist.model.times import parse_time
    >>> format_time(period_at(oslo, parse_time("2026-03-28T23:00:00Z")).end)
    '2026-03-29T05:00:00.000Z'
    """
    if isinstance(calendar, Cycle):
        begin = time // calendar.span * calendar.span
        return Period(begin, begin + calendar.span)
    stretch = time // STRETCH
    begins, ends = periods(calendar, stretch - 1, stretch + 1)
    at = int(np.searchsorted(begins, time, "right")) - 1
    return Period(int(begins[at]), int(ends[at])) if at >= 0 and time < ends[at] else None


def periods(timetable: Timetable, first: int, after: int) -> tuple[Longs, Longs]:
    """When the periods begin and end that begin within some stretches, in order."""
    some = [_periods(timetable, stretch) for stretch in range(first, after)]
    return np.concatenate([one[0] for one in some]), np.concatenate([one[1] for one in some])


def wall_text(calendar: Calendar, time: int) -> str:
    """An instant as whoever goes by a calendar would say it.

    >>> wall_text(Timetable("Europe/Oslo", 420, None, tuple(range(7))), 0)
    '01:00 in Europe/Oslo'
    >>> wall_text(Timetable("UTC", 0, None, (3,)), 0), wall_text(Cycle(60_000_000), 0)
    ('midnight on thu in UTC', '1970-01-01T00:00:00.000Z')
    """
    if isinstance(calendar, Cycle) or time >= END_OF_TIME:
        return format_time(time) if time < END_OF_TIME else "the end of time"
    local = time // SECOND + _offset(calendar.zone, time // SECOND)
    minute = local // 60 % (24 * 60)
    clock = f"{minute // 60:02d}:{minute % 60:02d}"
    day = f" on {WEEK[(local // 86_400 + 3) % 7]}" if len(calendar.days) < len(WEEK) else ""
    return f"{'midnight' if clock == MIDNIGHT else clock}{day} in {calendar.zone}"


@lru_cache(maxsize=2**14)
def _periods(timetable: Timetable, stretch: int) -> tuple[Longs, Longs]:
    """Those that begin within one stretch."""
    first, after = stretch * STRETCH, (stretch + 1) * STRETCH
    dates = np.arange((first - AROUND) // DAY, (after + AROUND) // DAY)
    dates = dates[np.isin((dates + 3) % 7, timetable.days)]  # the epoch was a Thursday
    begins = _instants(timetable.zone, stretch, dates * DAY + timetable.begin * MINUTE)
    if timetable.end is None:
        begins = np.unique(begins)
        begins, ends = begins[:-1], begins[1:]
    else:
        next_day = DAY if timetable.end <= timetable.begin else 0
        walls = dates * DAY + next_day + timetable.end * MINUTE
        ends = _instants(timetable.zone, stretch, walls)
    is_here = (first <= begins) & (begins < after) & (begins < ends)
    return begins[is_here], ends[is_here]


def _instants(zone: str, stretch: int, walls: Longs) -> Longs:
    """The instants at which the clock on the wall first shows something; where it never does, those
    at which it has jumped over that."""
    changes, offsets = _offsets(zone, stretch)
    starts, stops = np.append(-NEVER, changes), np.append(changes, NEVER)
    instants = np.full(walls.size, NEVER)
    for start, stop, offset in zip(starts, stops, offsets, strict=True):
        reached = np.maximum(walls - offset, start)
        instants = np.minimum(instants, np.where(reached < stop, reached, NEVER))
    return instants


@lru_cache(maxsize=2**12)
def _offsets(zone: str, stretch: int) -> tuple[Longs, Longs]:
    """When a zone changes its offset around a stretch, and its offsets, one more, all in
    microseconds."""
    first = (stretch * STRETCH - 2 * AROUND) // SECOND
    after = ((stretch + 1) * STRETCH + 2 * AROUND) // SECOND
    changes, offsets = [], [_offset(zone, first)]
    for second in range(first, after, LOOK_EVERY):
        later = second + LOOK_EVERY
        if _offset(zone, later) != offsets[-1]:
            changes.append(_first_with_another(zone, second, later, offsets[-1]))
            offsets.append(_offset(zone, later))
    return np.array(changes, np.int64) * SECOND, np.array(offsets, np.int64) * SECOND


def _first_with_another(zone: str, second: int, later: int, offset: int) -> int:
    """The first second behind one with an offset that has another one; a later one has."""
    behind = range(second + 1, later)
    return behind.start + bisect_left(behind, True, key=lambda one: _offset(zone, one) != offset)


def _offset(zone: str, second: int) -> int:
    """By how many seconds the clock on the wall is ahead of UTC."""
    moment = datetime.fromtimestamp(min(max(second, FIRST), LAST), UTC)
    offset = moment.astimezone(zone_of(zone)).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())
