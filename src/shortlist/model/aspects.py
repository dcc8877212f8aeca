"""What publications are told apart by: attributes, each with a scale for its differences."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetPydanticSchema
from pydantic_core import CoreSchema, core_schema

from shortlist.model.fields import expecting, unexpected, whole_characters
from shortlist.model.paths import EVENT_TIME, Path, format_path, parse_path


class Aspect(NamedTuple):
    """An attribute; without a scale its values are only the same or different."""

    path: Path
    scale: float | None


def _path(value: object) -> Path:
    if not isinstance(value, str):
        raise ValueError("a name is text")
    path = parse_path(whole_characters(value))
    if path == EVENT_TIME:
        raise ValueError("a time is no JSON value")
    return path


AttributeName = Annotated[
    Any, BeforeValidator(_path), expecting("the name of an attribute, not event.time")
]
Scale = Annotated[
    float | None,
    Field(strict=True, gt=0, allow_inf_nan=False),
    expecting("a number above 0, or null for the same or different"),
]


def _aspects(
    value: object, read: Callable[[object], dict[Path, float | None]]
) -> tuple[Aspect, ...]:
    scales = read(value)
    if not scales:
        raise unexpected("at least one attribute")
    if isinstance(value, Mapping) and len(value) > len(scales):
        raise unexpected("every attribute once")
    return tuple(Aspect(path, scales[path]) for path in sorted(scales))


def _document(aspects: tuple[Aspect, ...]) -> dict[str, float | None]:
    return {format_path(aspect.path): aspect.scale for aspect in aspects}


def _schema(_source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    return core_schema.no_info_wrap_validator_function(
        _aspects,
        handler(dict[AttributeName, Scale]),
        serialization=core_schema.plain_serializer_function_ser_schema(_document),
    )


Aspects = Annotated[tuple[Aspect, ...], GetPydanticSchema(_schema)]
"""One aspect or more in order of attribute; an object in documents, of scales by name."""
