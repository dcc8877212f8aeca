"""Instants and durations: what is read, what is refused, what is written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.durations import format_duration, parse_duration
from shortlist.model.times import format_time, parse_time, parse_time_or_date

FIRST = parse_time("0001-01-01T00:00:00Z")
LAST = parse_time("9999-12-31T23:59:59.999999Z")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-03-01T09:30:00Z", "2026-03-01t09:30:00z"),
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00-00:00"),
        ("2026-03-01T09:30:00Z", "2026-03-01T11:00:00+01:30"),
        ("2026-03-01T09:30:00Z", "2026-02-28T23:30:00-10:00"),
        ("2026-03-01T09:30:00.123456Z", "2026-03-01T09:30:00.123456999999999999999Z"),
        ("2026-03-01T09:30:00.1Z", "2026-03-01T09:30:00.100Z"),
        ("2017-01-01T00:00:00Z", "2016-12-31T23:59:60Z"),
        ("2017-01-01T00:00:00.5Z", "2016-12-31T23:59:60.5Z"),
    ],
)
def test_one_instant_in_two_spellings(text, same):
    assert parse_time(text) == parse_time(same)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01",
        "2026-03-01T09:30Z",
        "2026-03-01T09:30:00",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00,5Z",
        "2026-03-01T09:30:00+0100",
        "2026-03-01T09:30:00+24:00",
        "2026-03-01T09:30:00+01:60",
        "2026-02-29T09:30:00Z",
        "2026-00-01T09:30:00Z",
        "2026-03-01T25:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30:61Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "12026-03-01T09:30:00Z",
        "-2026-03-01T09:30:00Z",
        " 2026-03-01T09:30:00Z",
        "2026-03-01T09:30:00Z\n",
        "x" * 10_000,
    ],
)
def test_what_is_no_instant(text):
    with pytest.raises(ValueError, match=r"RFC 3339|exists|offset") as error:
        parse_time(text)
    assert len(str(error.value)) < 200


@given(st.integers(FIRST, LAST))
def test_instants_survive_being_written(micros):
    assert parse_time(format_time(micros)) == micros


def test_a_date_alone_is_its_midnight():
    assert parse_time_or_date("2026-03-01") == parse_time("2026-03-01T00:00:00Z")
    with pytest.raises(ValueError, match="exists"):
        parse_time_or_date("2026-02-30")


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("500ms", 500_000),
        ("30s", 30_000_000),
        ("1.5h", 5_400_000_000),
        ("40m", 2_400_000_000),
        ("PT40M", 2_400_000_000),
        ("7d", 604_800_000_000),
        ("P7D", 604_800_000_000),
        ("P1W", 604_800_000_000),
        ("P1DT12H", 129_600_000_000),
        ("PT0.000001S", 1),
    ],
)
def test_durations(text, micros):
    assert parse_duration(text) == micros


@pytest.mark.parametrize(
    "text",
    ["", "5", "0s", "-1h", "1 h", "1H", "1y", "P", "PT", "P1Y", "P1M", "PT0S", "1e3s", "0.0001ms"],
)
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@given(st.integers(1, 10**18))
def test_durations_survive_being_written(micros):
    assert parse_duration(format_duration(micros)) == micros
