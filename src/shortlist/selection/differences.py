"""How far publications lie apart, over the attributes that a policy names."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from shortlist.model.aspects import Aspect
from shortlist.model.fields import finite
from shortlist.model.paths import CONTEXT, Path, value_at
from shortlist.model.publication import Publication
from shortlist.model.rounding import added

Traits = tuple[Any, ...]
"""A publication's values, one for each aspect; those of two that do not differ are equal."""


ROUNDING, RELATIVE_ROUNDING = 1e-8, 1e-15
"""More than what the values and the distances of two publications lose by rounding."""


def margin(share: float, other: float) -> float:
    """By how much shares must differ so that values do, however they are rounded."""
    return ROUNDING + RELATIVE_ROUNDING * (abs(share) + abs(other))


class Differences:
    """
    >>> apart = Differences([Aspect(("area",), None), Aspect(("rent",), 500.0)])
    >>> flat = Publication(id="p", source="ads", time=0, position=0, data={"rent": 900})
    >>> apart.traits(flat), apart.distance((None, 900.0), (None, 1000.0))
    ((None, 900.0), 0.1)
    """

    def __init__(self, aspects: Sequence[Aspect]) -> None:
        self._aspects = aspects

    def traits(self, publication: Publication) -> Traits:
        return tuple(
            comparable(found) if aspect.scale is None else finite(found)
            for aspect in self._aspects
            for found in [_value(publication, aspect.path)]
        )

    def distance(self, one: Traits, other: Traits) -> float:
        """The mean over the aspects, from 0 to 1."""
        apart = map(_apart, self._aspects, one, other)
        return added(apart) / len(self._aspects)


def _value(publication: Publication, path: Path) -> Any:
    return getattr(publication, path[1]) if path in CONTEXT else value_at(publication.data, path)


def comparable(value: object) -> Hashable:
    """Equal for equal JSON values only; numbers are doubles, and one beyond them is none.

    >>> comparable(1) == comparable(1.0), comparable(1) == comparable(True)
    (True, False)
    >>> comparable({"a": [1], "b": None}) == comparable({"b": None, "a": [1.0]})
    True
    """
    match value:
        case bool():
            return "boolean", value
        case int() | float():
            return finite(value)
        case list() | tuple():
            return "array", tuple(map(comparable, value))
        case Mapping():
            return "object", frozenset((key, comparable(part)) for key, part in value.items())
    return value


def _apart(aspect: Aspect, one: Any, other: Any) -> float:
    if one == other:
        return 0.0
    if aspect.scale is None or one is None or other is None:
        return 1.0
    gap: float = abs(one - other) / aspect.scale
    return min(1.0, gap)
