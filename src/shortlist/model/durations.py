"""Durations: `500ms`, `30s`, `40m`, `12h`, `7d` or ISO 8601 (`PT40M`), in whole microseconds."""

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Literal, TypeVar

from shortlist.model.wording import shown

UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
ISO_UNITS = UNITS | {"w": 7 * UNITS["d"]}

DurationSetting = str | timedelta | Literal[0]
"""A duration as callers give it. 0 needs no unit; any other number would have to be guessed at."""

T = TypeVar("T")

MOST_DAYS = 10**15
"""Longer than all time, and few enough digits that texts are exact."""

SHORT = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
ISO_8601 = re.compile(
    r"P(?=.)(?:(?P<w>\d+(?:\.\d+)?)W)?(?:(?P<d>\d+(?:\.\d+)?)D)?"
    r"(?:T(?=.)(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)
ZERO = re.compile(r"0(ms|s|m|h|d)?|PT0S", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, kept apart from a count of publications or the name of a day."""

    micros: int


def parse_duration(text: str) -> int:
    """Microseconds of a duration longer than none.

    >>> parse_duration("500ms"), parse_duration("PT1H30M") == parse_duration("90m")
    (500000, True)
    """
    if short := SHORT.fullmatch(text):
        micros = Decimal(short[1]) * UNITS[short[2]]
    elif iso := ISO_8601.fullmatch(text):
        parts = iso.groupdict("0").items()
        micros = sum((Decimal(value) * ISO_UNITS[unit] for unit, value in parts), Decimal(0))
    else:
        raise ValueError(
            f"{shown(text)} is not a duration such as 500ms, 30s, 40m, 12h, 7d or PT40M"
        )
    if micros < 1:
        raise ValueError(f"{shown(text)} is not a duration of at least a microsecond")
    if micros > MOST_DAYS * UNITS["d"]:
        raise ValueError(f"{shown(text)} is not a duration of at most {MOST_DAYS:,} days")
    return int(micros)


def duration_micros(duration: object) -> int:
    """Return the microseconds of a `DurationSetting`, which may be 0.

    >>> duration_micros("10s"), duration_micros(timedelta(minutes=1)), duration_micros("0")
    (10000000, 60000000, 0)
    >>> duration_micros(10)
    Traceback (most recent call last):
    ValueError: expected text such as '10s' or 'PT40M', or a timedelta, found 10
    """
    if isinstance(duration, str):
        return 0 if ZERO.fullmatch(duration) else parse_duration(duration)
    if isinstance(duration, timedelta) and duration >= timedelta(0):
        return duration // timedelta(microseconds=1)
    if type(duration) is int and duration == 0:
        return 0
    found = str(duration) if isinstance(duration, timedelta) else shown(duration)
    raise ValueError(f"expected text such as '10s' or 'PT40M', or a timedelta, found {found}")


def format_duration(micros: int) -> str:
    """The shortest text that `parse_duration` reads back.

    >>> format_duration(2_400_000_000), format_duration(1)
    ('40m', 'PT0.000001S')
    """
    for unit in ("d", "h", "m", "s", "ms"):
        if micros % UNITS[unit] == 0:
            return f"{micros // UNITS[unit]}{unit}"
    return f"PT{Decimal(micros) / UNITS['s']:f}S"


def span_text(value: Span | T) -> str | T:
    """A field that may hold a length of time, as documents have it."""
    return format_duration(value.micros) if isinstance(value, Span) else value
