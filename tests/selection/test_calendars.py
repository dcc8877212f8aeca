"""Periods by the clock on the wall against what Python's own zones say, date by date."""

import struct
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest

from shortlist.model.policy import Cap, Digest, Quiet
from shortlist.model.times import format_time, parse_time
from shortlist.model.zones import zone_names
from shortlist.selection.bank.timetables import Timetables
from shortlist.selection.calendars import (
    LOOK_EVERY,
    STRETCH,
    Timetable,
    calendar_of,
    period_at,
    periods,
    wall_text,
)
from shortlist.selection.kernels.periods import end_of_period
from tests.engine.naive_calendar import boundaries_around, quiet_hours_around
from tests.strategies import seeded

HOUR, DAY = 3_600_000_000, 86_400_000_000
ODD = [
    ("Pacific/Apia", "2011-12-30"),  # a date that does not exist
    ("Pacific/Kwajalein", "1993-08-21"),  # another one
    ("Europe/Oslo", "2026-03-29"),
    ("Europe/Oslo", "2026-10-25"),
    ("America/Havana", "2026-03-08"),  # midnight is skipped
    ("America/Havana", "2026-11-01"),  # and comes twice
    ("Africa/Cairo", "2026-04-24"),
    ("America/Sao_Paulo", "2018-11-04"),
    ("America/Asuncion", "2023-03-26"),
    ("Australia/Lord_Howe", "2026-04-05"),  # by half an hour
    ("Antarctica/Troll", "2026-03-29"),  # by two
    ("America/Caracas", "2007-12-09"),
    ("Asia/Pyongyang", "2018-05-04"),
    ("Africa/Monrovia", "1972-01-07"),  # by seconds
    ("Asia/Manila", "1844-12-31"),  # a date that does not exist
    ("America/Juneau", "1867-10-18"),  # a date that comes twice
    ("Europe/Dublin", "1970-01-01"),
    ("Africa/Casablanca", "2040-10-07"),  # beyond what files list
    ("UTC", "9999-12-15"),
    ("Asia/Tokyo", "0001-01-20"),
]
CLOCKS = ["00:00", "00:30", "01:30", "02:00", "02:30", "03:00", "18:00", "22:00", "23:30", "23:59"]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def policy_in(pick, zone):
    kind = pick(["digest", "cap", "quiet"])
    if kind == "quiet":
        begin, end = pick(CLOCKS), pick(CLOCKS)
        days = pick([DAYS, [pick(DAYS)], [pick(DAYS), pick(DAYS)]])
        ordered = tuple(day for day in DAYS if day in days)
        other = end if end != begin else "12:34"
        return Quiet(from_=begin, to=other, zone=zone, days=ordered)
    every = pick(["day", "week"])
    rhythm = {"at": pick(CLOCKS), "on": pick(DAYS) if every == "week" else None, "zone": zone}
    return Digest(every=every, **rhythm) if kind == "digest" else Cap(most=1, per=every, **rhythm)


def expected(policy, instant):
    """The period that holds an instant, by the naive calendar."""
    if isinstance(policy, Quiet):
        hours = quiet_hours_around(policy, instant)
        return next(((begin, end) for begin, end in hours if begin <= instant < end), None)
    known = boundaries_around(policy, instant)
    return max(b for b in known if b <= instant), min(b for b in known if b > instant)


@pytest.mark.parametrize(("zone", "day"), ODD)
def test_odd_dates(zone, day):
    pick, middle = seeded(sum(map(ord, zone + day))), parse_time(f"{day}T12:00:00Z")
    for _ in range(40):
        policy = policy_in(pick, zone)
        calendar, known = calendar_of(policy), Timetables()
        known.put(np.array([0]), calendar)
        for _ in range(20):
            instant = middle + pick(range(-60, 60)) * HOUR + pick([0, 0, 0, 30, 59]) * HOUR // 60
            instant += pick([0, 0, -1, 1])
            found = period_at(calendar, instant)
            assert found == expected(policy, instant), (policy, format_time(instant))
            end = end_of_period(known.covering(instant, instant), 0, instant)
            assert (end if end > instant else None) == (found and found.end)


def test_boundaries_themselves():
    """At a boundary the next period has begun."""
    for zone, day in ODD[:-2]:
        pick = seeded(7)
        for _ in range(5):
            calendar = calendar_of(policy_in(pick, zone))
            stretch = parse_time(f"{day}T00:00:00Z") // STRETCH
            begins, ends = periods(calendar, stretch, stretch + 1)
            assert (begins < ends).all()
            assert (ends[:-1] <= begins[1:]).all()
            for begin, end in [*zip(begins.tolist(), ends.tolist(), strict=True)][:9]:
                assert period_at(calendar, begin) == (begin, end)
                assert period_at(calendar, end - 1) == (begin, end)


def listed_changes(zone):
    """The seconds at which a file of the tz database says that something changes."""
    content = resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
    counts = struct.unpack(">6l", content[20:44])
    leaves = counts[3] * 5 + counts[4] * 6 + counts[5] + counts[2] * 8 + counts[1] + counts[0]
    second = content[44 + leaves :]
    times = struct.unpack(">6l", second[20:44])[3]
    return struct.unpack(f">{times}q", second[44 : 44 + 8 * times])


def test_no_zone_changes_its_offset_more_often_than_is_looked():
    """Were two changes to lie between two looks, only one would be seen, or none."""
    closest = min(
        later - earlier
        for zone in zone_names()
        for earlier, later in pairwise(listed_changes(zone))
        if earlier > -(2**40)
    )
    assert closest > LOOK_EVERY


def test_every_day_of_many_zones_has_a_boundary():
    for zone in sorted(zone_names())[::7]:
        begins, _ = periods(Timetable(zone, 0, None, (*range(7),)), 200, 206)
        gaps = np.diff(begins)
        assert gaps.min() >= 22 * HOUR, zone
        assert gaps.max() <= 26 * HOUR, zone


def test_words_for_instants():
    oslo = calendar_of(Digest(every="day", at="18:00", zone="Europe/Oslo"))
    assert wall_text(oslo, parse_time("2026-07-01T16:00:00Z")) == "18:00 in Europe/Oslo"
    weekly = calendar_of(Cap(most=1, per="week", on="fri"))
    assert wall_text(weekly, parse_time("2026-11-13T00:00:00Z")) == "midnight on fri in UTC"
