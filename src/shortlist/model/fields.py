"""Field types of the nouns: plain Python types with what a file may say about them.

Every type says itself what it expects, so that all messages read "expected …, found …".
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from shortlist.model.durations import format_duration, parse_duration
from shortlist.model.wording import TOO_LONG


class Noun:
    """What documents describe: a field that it does not know is a mistake."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", serialize_by_alias=True, defer_build=True
    )


def unexpected(what: str) -> PydanticCustomError:
    """The error of a field that holds something else than `what`."""
    return PydanticCustomError("unexpected", "expected {what}", {"what": what})


def expecting(what: str) -> WrapValidator:
    """Whatever a field's other rules find wrong with a value, `what` was expected.

    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(Annotated[int, Field(ge=1), expecting("a count")]).validate_python(0)
    Traceback (most recent call last):
    pydantic_core._pydantic_core.ValidationError: 1 validation error for function-wrap[check()]
      expected a count [type=unexpected, input_value=0, input_type=int]
    """

    def check(value: object, handler: Callable[[object], Any]) -> Any:
        try:
            return handler(value)
        except ValueError:
            raise unexpected(what) from None

    return WrapValidator(check)


def finite(value: object) -> float | None:
    """The number that a value is; None where it is none, or beyond what a double holds.

    >>> finite(3), finite(True), finite(float("nan")), finite(10**400)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < float("inf") else None


def whole_characters(text: str) -> str:
    """The text itself, unless it holds half of a surrogate pair."""
    text.encode()
    return text


def _duration(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("a duration is text")
    return parse_duration(value)


Text = Annotated[str, Field(strict=True), AfterValidator(whole_characters), expecting("text")]
Id = Annotated[
    str,
    Field(strict=True, min_length=1),
    AfterValidator(whole_characters),
    expecting("text that is not empty"),
]
Flag = Annotated[bool, Field(strict=True), expecting("true or false")]
Whole = Annotated[int, Field(strict=True, gt=-TOO_LONG, lt=TOO_LONG), expecting("a whole number")]
LARGEST_COUNT = 2**31 - 1
Count = Annotated[
    int,
    Field(strict=True, ge=0, le=LARGEST_COUNT),
    expecting(f"a whole number from 0 to {LARGEST_COUNT}"),
]
Positive = Annotated[
    int, Field(strict=True, ge=1, lt=TOO_LONG), expecting("a whole number of at least 1")
]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False), expecting("a number")]
Share = Annotated[float, Field(strict=True, ge=0, le=1), expecting("a number from 0 to 1")]
Duration = Annotated[
    int,
    BeforeValidator(_duration),
    PlainSerializer(format_duration),
    expecting("a duration above zero such as 500ms, 30s, 40m, 12h, 7d or PT40M"),
]
