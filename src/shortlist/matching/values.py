"""Attribute values: what a path finds in a publication, told apart by type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shortlist.fuzzy.sets import FuzzySet, Graded, Trapezoid, published_set, term_set
from shortlist.model.fields import finite
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path, value_at
from shortlist.model.publication import Publication
from shortlist.model.times import Instant, parse_time_or_date
from shortlist.model.vocabulary import Attribute, Vocabulary

Vector = tuple[float, ...]
Element = float | str | bool | Instant
Value = Element | Vector | Trapezoid | Graded


@dataclass(frozen=True, slots=True)
class Many:
    """The elements of a multi-valued attribute."""

    elements: tuple[Element, ...]


class Values:
    """The publications' attributes as a vocabulary reads them.

    >>> from shortlist.model.publication import Publication
    >>> rental = Publication(id="r1", source="ads", time=0, position=0, data={"rent": 900})
    >>> read = Values(Vocabulary()).of(rental)
    >>> read(("rent",)), read(("address", "city")), read(("event", "source"))
    (900.0, None, 'ads')
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._sets: dict[Path, tuple[Attribute, dict[str, FuzzySet]]] = {}
        """The terms of attributes, and the declarations that they were made of."""

    def of(self, publication: Publication) -> "Reader":
        return Reader(self, publication)

    def read(self, publication: Publication, path: Path) -> Value | Many | None:
        """The value at a path, or None where there is none."""
        if path == EVENT_TIME:
            said = publication.said_time
            return None if said is None else Instant(said)
        if path in CONTEXT:
            value: str | None = getattr(publication, path[1])
            return value
        return self.typed(path, value_at(publication.data, path))

    def typed(self, path: Path, found: object) -> Value | Many | None:
        """What was found at a path, as a value."""
        declared = self.vocabulary.of(path)
        if isinstance(found, list):
            if declared.type == "vector":
                return _vector(found)
            if not declared.many:
                return None
            elements = (_element(item, declared.type == "time") for item in found)
            kept = tuple(element for element in elements if element is not None)
            return Many(kept) if kept else None
        if isinstance(found, Mapping):
            return published_set(found, self._terms(path, declared) if declared.terms else {})
        return _element(found, declared.type == "time")

    def _terms(self, path: Path, declared: Attribute) -> dict[str, FuzzySet]:
        made = self._sets.get(path)
        if made is None or made[0] is not declared:
            sets = {name: term_set(term) for name, term in declared.terms.items()}
            made = self._sets[path] = declared, sets
        return made[1]


Read = Callable[[Path], Value | Many | None]
"""What tells the value at a path of one publication."""


class Reader:
    """One publication's values, each read once."""

    __slots__ = ("_seen", "publication", "values")

    def __init__(self, values: Values, publication: Publication) -> None:
        self.values = values
        self.publication = publication
        self._seen: dict[Path, Value | Many | None] = {}

    def __call__(self, path: Path) -> Value | Many | None:
        if path not in self._seen:
            self._seen[path] = self.values.read(self.publication, path)
        return self._seen[path]


def _element(found: object, is_time: bool) -> Element | None:
    if isinstance(found, bool):
        return found
    if isinstance(found, str):
        return _instant(found) if is_time else found
    return finite(found)


def _instant(found: str) -> Instant | str:
    try:
        return Instant(parse_time_or_date(found))
    except ValueError:
        return found


def _vector(found: list[object]) -> Vector | None:
    kept = tuple(number for number in map(finite, found) if number is not None)
    return kept if kept and len(kept) == len(found) else None
