"""Instants: RFC 3339 text to whole microseconds since the Unix epoch, and back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import Any

from shortlist.model.wording import shown

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
USUAL = {20, 24, 27}
"""Letters of times in UTC with whole seconds, milliseconds and microseconds."""
DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A value of the type `time`, kept apart from numbers so that the two never compare."""

    micros: int


def parse_time(text: str) -> int:
    """Microseconds since the epoch; finer digits are cut off.

    >>> parse_time("1970-01-01T01:00:00.0000019+00:59")
    60000001
    """
    found = RFC_3339.fullmatch(text)
    if found is None:
        raise ValueError(f"{shown(text)} is not an RFC 3339 time such as 2026-03-01T09:30:00Z")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, sign, offset_hours, offset_minutes = found.groups()[6:]
    micros = int((fraction or "")[:6].ljust(6, "0"))
    offset = timedelta(hours=int(offset_hours or 0), minutes=int(offset_minutes or 0))
    if offset_hours and (int(offset_hours) > 23 or int(offset_minutes) > 59):
        raise ValueError(f"{shown(text)} has an offset over 23:59")
    # RFC 3339 allows a leap second; like POSIX, it counts as the second that follows it.
    leap = timedelta(seconds=1) if second == 60 else timedelta()
    try:
        local = datetime(
            year, month, day, hour, minute, min(second, 59 if leap else second), micros, UTC
        )
        moment = local + leap + (offset if sign == "-" else -offset)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{shown(text)} is not a time that exists: {error}") from None
    return (moment - EPOCH) // MICROSECOND


def parse_times(texts: Sequence[str]) -> list[int | None]:
    """As `parse_time` for many, with None for those that are no times.

    >>> parse_times(["1970-01-01T00:00:01Z", "1970-01-01T01:00:00+01:00", "tonight"])
    [1000000, 0, None]
    """
    if all(
        len(text) in USUAL and text[0] > "0" and text[10] == "T" and text[-1] == "Z"
        for text in texts
    ):
        import pyarrow as pa  # single times do without what takes so long to import

        try:
            times = pa.array(texts, pa.string()).cast(pa.timestamp("us", tz="UTC"))
            found: list[int | None] = times.cast(pa.int64()).to_pylist()
            return found
        except pa.ArrowInvalid:
            pass  # one of them does not exist
    return [_time_or_none(text) for text in texts]


def _time_or_none(text: str) -> int | None:
    try:
        return parse_time(text)
    except ValueError:
        return None


def parse_time_or_date(text: str) -> int:
    """As `parse_time`, but a date alone is its midnight, UTC.

    >>> parse_time_or_date("1970-01-02") == parse_time("1970-01-02T00:00:00Z")
    True
    """
    return parse_time(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text)


def now() -> int:
    """The present instant, in microseconds since 1970."""
    return time_ns() // 1000


def format_time(micros: int) -> str:
    """UTC, in milliseconds, or in microseconds where there are any.

    >>> format_time(1_500_000), format_time(1)
    ('1970-01-01T00:00:01.500Z', '1970-01-01T00:00:00.000001Z')
    """
    moment = EPOCH + timedelta(microseconds=micros)
    precision = "milliseconds" if micros % 1000 == 0 else "microseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


END_OF_TIME = parse_time("9999-12-31T23:59:59.999999Z") + 1
"""Just after the last instant that RFC 3339 can write: nothing is delivered later."""


def said_time(document: Mapping[str, Any]) -> int | None:
    """What an item says of its time, where that need not be one.

    >>> said_time({"time": "1970-01-01T00:00:01Z"}), said_time({"time": "tonight"}), said_time({})
    (1000000, None, None)
    """
    text = document.get("time")
    return _time_or_none(text) if isinstance(text, str) else None
