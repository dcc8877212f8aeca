"""Fields of policies that go by the clock on the wall: times of day, days, zones."""

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, ValidationInfo

from shortlist.model.durations import Span, parse_duration, span_text
from shortlist.model.fields import expecting, unexpected
from shortlist.model.wording import shown
from shortlist.model.zones import zone_of

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEK: tuple[Weekday, ...] = get_args(Weekday)
MIDNIGHT, UTC = "00:00", "UTC"
HOUR_AND_MINUTE = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)


def minutes_of(moment: str) -> int:
    """Minutes since midnight, on the clock.

    >>> minutes_of("07:30")
    450
    """
    hours, _, minutes = moment.partition(":")
    return 60 * int(hours) + int(minutes)


def _moment(value: str) -> str:
    if HOUR_AND_MINUTE.fullmatch(value) is None:
        raise ValueError("not a time of day")
    return value


def _zone(value: str) -> str:
    zone_of(value)
    return value


def _every(value: object) -> Span | str:
    if isinstance(value, Span):
        return value
    if isinstance(value, str):
        return value if value in ("day", "week") else Span(parse_duration(value))
    raise ValueError("neither a day, nor a week, nor a duration")


def _days(value: object) -> object:
    """In the order of the week, each once."""
    if value is None:
        return WEEK
    if not isinstance(value, list | tuple) or not value or not all(day in WEEK for day in value):
        raise ValueError("no days")
    return tuple(day for day in WEEK if day in value)


def _rhythm(info: ValidationInfo) -> tuple[str, Any]:
    """The field that says how often boundaries come, and what it holds, if that could be read."""
    name = "every" if "every" in info.data else "per"
    return name, info.data.get(name)


def _of_a_calendar(value: object, info: ValidationInfo) -> object:
    name, every = _rhythm(info)
    if value is not None and isinstance(every, Span):
        raise unexpected(f"none, since {name} is a duration and not day or week")
    return value


def _of_a_week(value: object, info: ValidationInfo) -> object:
    name, every = _rhythm(info)
    if value is not None and every not in (None, "week"):
        raise unexpected(f"none, since {name} is not week")
    return value


def _another_moment(value: str, info: ValidationInfo) -> str:
    if value == info.data.get("from_"):
        raise unexpected(f"another time than {shown(value)}, at which quiet hours begin")
    return value


Moment = Annotated[
    str, Field(strict=True), AfterValidator(_moment), expecting("a time from '00:00' to '23:59'")
]
Zone = Annotated[
    str,
    Field(strict=True),
    AfterValidator(_zone),
    expecting("a zone of the tz database such as 'Europe/Oslo'"),
]
Every = Annotated[
    Any,
    BeforeValidator(_every),
    PlainSerializer(span_text),
    expecting("'day', 'week' or a duration above zero such as 12h"),
]
Days = Annotated[
    tuple[Weekday, ...],
    BeforeValidator(_days),
    expecting(f"a list of days, at least one of {', '.join(WEEK)}"),
]
OwnMoment = Annotated[Moment | None, AfterValidator(_of_a_calendar)]
OwnZone = Annotated[Zone | None, AfterValidator(_of_a_calendar)]
OnDay = Annotated[Weekday | None, AfterValidator(_of_a_week)]
To = Annotated[Moment, AfterValidator(_another_moment)]
