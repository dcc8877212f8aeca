"""Durations that can be written are read back as they were; others are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.durations import MOST_DAYS, UNITS, format_duration, parse_duration

MOST = MOST_DAYS * UNITS["d"]


@given(st.integers(1, MOST))
def test_all_come_back(micros):
    assert parse_duration(format_duration(micros)) == micros


@pytest.mark.parametrize(
    "text", [f"{MOST_DAYS + 1}d", "9" * 5000 + "h", f"P{'9' * 30}W", f"PT{MOST}S"]
)
def test_longer_ones_are_refused(text):
    with pytest.raises(ValueError, match=r"at most 1,000,000,000,000,000 days"):
        parse_duration(text)


def test_the_longest_one():
    assert parse_duration(f"{MOST_DAYS}d") == MOST
