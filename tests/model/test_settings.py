"""`Settings` say what is wrong with them when they are made, and what each field should be."""

import pickle
from dataclasses import replace
from datetime import timedelta

import pytest

from shortlist.model.problem import InvalidSettings, ShortlistError
from shortlist.model.settings import Limits, Settings


@pytest.mark.parametrize("name", ["lateness", "ahead", "dedup"])
@pytest.mark.parametrize(
    ("duration", "micros"),
    [
        ("10s", 10_000_000),
        ("PT40M", 2_400_000_000),
        (timedelta(milliseconds=5), 5_000),
        (timedelta.max, timedelta.max // timedelta(microseconds=1)),
        ("0", 0),
        ("0s", 0),
        ("PT0S", 0),
        (timedelta(0), 0),
        (0, 0),
    ],
)
def test_durations_are_text_or_timedelta(name, duration, micros):
    settings = Settings(**{name: duration})
    assert getattr(settings, f"{name}_micros") == micros
    changed = replace(pickle.loads(pickle.dumps(settings)), advertised="required")
    assert getattr(changed, f"{name}_micros") == micros


@pytest.mark.parametrize("name", ["lateness", "ahead", "dedup"])
@pytest.mark.parametrize(
    ("duration", "found"),
    [
        (10, "a timedelta, found 10"),
        (-1, "a timedelta, found -1"),
        (0.0, "a timedelta, found 0.0"),
        (1e6, "a timedelta, found 1000000.0"),
        (False, "a timedelta, found false"),
        (True, "a timedelta, found true"),
        (timedelta(microseconds=-1), "a timedelta, found -1 day, 23:59:59.999999"),
        (b"10s", "a timedelta, found b'10s'"),
        ([10], "a timedelta, found [10]"),
        ("10", "'10' is not a duration such as"),
        ("-10s", "'-10s' is not a duration such as"),
        ("10 s", "'10 s' is not a duration such as"),
        ("", "'' is not a duration such as"),
    ],
)
def test_what_is_no_duration_is_refused(name, duration, found):
    with pytest.raises(InvalidSettings) as raised:
        Settings(**{name: duration})
    assert str(raised.value).startswith(f"{name}: ")
    assert found in str(raised.value)
    assert isinstance(raised.value, ShortlistError)


def test_only_what_can_be_unlimited_may_be_none():
    unlimited = Settings(lateness=None, ahead=None)
    assert unlimited.lateness_micros is None
    assert unlimited.ahead_micros is None
    with pytest.raises(InvalidSettings, match="dedup: expected text such as '10s'"):
        Settings(dedup=None)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InvalidSettings) as raised:
        Settings(time="evnt", lateness=10, ahead="soon", dedup=24, advertised="Required", limits=9)
    assert str(raised.value).splitlines() == [
        "time: expected 'arrival' or 'event', found 'evnt'",
        "lateness: expected text such as '10s' or 'PT40M', or a timedelta, found 10",
        "ahead: 'soon' is not a duration such as 500ms, 30s, 40m, 12h, 7d or PT40M",
        "dedup: expected text such as '10s' or 'PT40M', or a timedelta, found 24",
        "advertised: expected 'optional' or 'required', found 'Required'",
        "limits: expected Limits(...), found 9",
    ]


@pytest.mark.parametrize("value", [None, 1, ["event"], "", "EVENT"])
def test_choices_are_spelled_as_they_are(value):
    with pytest.raises(InvalidSettings, match="time: expected 'arrival' or 'event', found"):
        Settings(time=value)
    with pytest.raises(InvalidSettings, match="advertised: expected 'optional' or 'required'"):
        Settings(advertised=value)


def test_limits_of_ones_own_are_kept():
    assert Settings(limits=Limits(predicates=7)).limits.predicates == 7


@pytest.mark.parametrize("value", ["x", None, -5, 1.5, True])
def test_limits_are_whole_numbers(value):
    with pytest.raises(InvalidSettings) as wrong:
        Limits(predicates=value, id_length=value)
    expected = f"expected a whole number of at least 0, found {value!r}"
    assert str(wrong.value) == f"predicates: {expected}\nid_length: {expected}"


def test_degrees_have_few_bits():
    with pytest.raises(InvalidSettings, match="degree_bits: expected 8, 4, 3 or 2, found 5"):
        Limits(degree_bits=5)
