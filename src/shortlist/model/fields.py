"""Field types of the nouns: plain Python types with what a file may say about them."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from shortlist.model.durations import format_duration, parse_duration

DOCUMENT = ConfigDict(extra="forbid")
"""How every noun reads a document: a field that it does not know is a mistake."""


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is not a character") from None
    return text


def _duration(value: object) -> int:
    if not isinstance(value, str):
        raise PydanticCustomError("duration", "expected a duration such as 30s, 40m or PT40M")
    return parse_duration(value)


Text = Annotated[str, Field(strict=True), AfterValidator(_encodable)]
Id = Annotated[str, Field(strict=True, min_length=1), AfterValidator(_encodable)]
Flag = Annotated[bool, Field(strict=True)]
Whole = Annotated[int, Field(strict=True)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Duration = Annotated[int, BeforeValidator(_duration), PlainSerializer(format_duration)]
