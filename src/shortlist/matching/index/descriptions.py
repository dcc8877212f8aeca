"""Dataclasses of arrays, taken apart into arrays and a description in JSON, and put together."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from shortlist.matching.index.conjunctions import Conjunctions
from shortlist.matching.index.grades import Grades
from shortlist.matching.index.numbering import NumberTable, SavedNumbers, Sharers
from shortlist.matching.index.programs import Programs
from shortlist.matching.index.requests import SavedRequests
from shortlist.matching.index.segments import Segment
from shortlist.matching.index.shelf import Held, Shelf
from shortlist.matching.index.slots import Attribute
from shortlist.matching.index.tables import Betweens, Ends, Equals, Patterns, SlotTable, TextEnds
from shortlist.matching.index.texts import Texts

Array = np.ndarray[Any, Any]

DESCRIBED: dict[str, Any] = {
    each.__name__: each
    for each in (
        Attribute,
        Betweens,
        Conjunctions,
        Ends,
        Equals,
        Grades,
        Held,
        NumberTable,
        Patterns,
        Programs,
        SavedNumbers,
        SavedRequests,
        Segment,
        Sharers,
        Shelf,
        SlotTable,
        TextEnds,
        Texts,
    )
}


def layout() -> int:
    """A number that changes whenever the fields of what is described do.

    >>> layout() == layout()
    True
    """
    names = {name: _field_names(described) for name, described in DESCRIBED.items()}
    return zlib.crc32(repr(names).encode())


def described(value: Any, arrays: list[Array]) -> Any:
    """What JSON can say about a value; its arrays are put with the others.

    >>> arrays = []
    >>> described(Texts.plain(["war"]), arrays)
    {'Texts': [{'array': 0}, {'array': 1}, {'array': 2}]}
    >>> restored({"Texts": [{"array": 0}, {"array": 1}, {"array": 2}]}, arrays)[0]
    'war'
    """
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, dict):
        return {"dict": [described(item, arrays) for item in value.items()]}
    name = type(value).__name__
    if name in DESCRIBED:
        return {name: [described(part, arrays) for part in _parts(value)]}
    if isinstance(value, tuple):
        return [described(part, arrays) for part in value]
    return value


def restored(description: Any, arrays: Sequence[Array]) -> Any:
    """The value that was described."""
    if isinstance(description, list):
        return tuple([restored(part, arrays) for part in description])
    if not isinstance(description, dict):
        return description
    ((name, parts),) = description.items()
    if name == "array":
        return arrays[parts]
    if name == "dict":
        return dict(restored(parts, arrays))
    return DESCRIBED[name](*restored(parts, arrays))


def bytes_of(value: Any) -> int:
    """The bytes of all arrays in a value.

    >>> bytes_of(Texts.plain(["war", "love"]))
    31
    """
    arrays: list[Array] = []
    described(value, arrays)
    return sum(array.nbytes for array in arrays)


def _parts(value: Any) -> Iterator[Any]:
    return (getattr(value, name) for name in _field_names(type(value)))


def _field_names(described: Any) -> tuple[str, ...]:
    """In order; fields with an underscore are made anew when they are needed."""
    if not is_dataclass(described):
        return described._fields  # type: ignore[no-any-return]
    return tuple(each.name for each in fields(described) if each.name[0] != "_")
