"""Publications side by side: one column per attribute, its values told apart by type."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.matching.arrays import Bools, Bytes, Floats, Ints, Longs
from shortlist.matching.fuzzy_columns import NO_NUMBERS, NO_TEXTS, FuzzyNumbers, FuzzyTexts
from shortlist.matching.values import Many, Reader, Value, Values, Vector
from shortlist.model.items import ATTRIBUTES, Items
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path, format_path
from shortlist.model.times import Instant

__all__ = ["Block", "Bools", "Bytes", "Column", "Floats", "Ints", "Longs"]

Special = Many | Vector

NO_PLACES = np.empty(0, np.int32)
NUMBERS = {float, int, type(None)}
ROUGH_NUMBERS = {*NUMBERS, dict}
TEXTS = {str, type(None)}
TEXT_LISTS = {str, list, type(None)}


@dataclass(frozen=True, slots=True)
class Column:
    """One attribute of every publication of a block; each place has at most one kind of value."""

    present: Bools
    numbers: Floats
    """NaN where there is no single number."""
    times: Longs
    is_time: Bools
    codes: Ints
    """Single texts, as places in `words`; -1 where there is none."""
    words: Sequence[str]
    booleans: Bytes
    """-1 where there is none."""
    special: dict[int, Special] = field(default_factory=dict)
    """Vectors, and several values that are not all texts, by place."""
    element_places: Ints = field(default_factory=lambda: NO_PLACES)
    """Whose value is several texts, once for each of them, ascending."""
    element_codes: Ints = field(default_factory=lambda: NO_PLACES)
    fuzzy_numbers: FuzzyNumbers = NO_NUMBERS
    fuzzy_texts: FuzzyTexts = NO_TEXTS

    @property
    def fuzzy(self) -> Ints:
        """The places where a fuzzy value was published, some more than once."""
        return np.append(self.fuzzy_numbers.places, self.fuzzy_texts.places)

    @property
    def rough_numbers(self) -> Floats:
        """As `numbers`; of fuzzy ones, where their cores begin."""
        numbers = self.numbers
        if self.fuzzy_numbers.places.size:
            numbers = numbers.copy()
            numbers[self.fuzzy_numbers.places] = self.fuzzy_numbers.corners[:, 1]
        return numbers

    def value(self, place: int) -> Value | Many | None:
        """What stands at a place."""
        if place in self.special:
            return self.special[place]
        if place in self.element_places:
            codes = self.element_codes[self.element_places == place]
            return Many(tuple(self.words[code] for code in codes))
        if place in self.fuzzy_numbers.places:
            return self.fuzzy_numbers.value(place)
        if place in self.fuzzy_texts.places:
            return self.fuzzy_texts.value(place, self.words)
        if self.codes[place] >= 0:
            return self.words[int(self.codes[place])]
        if self.booleans[place] >= 0:
            return bool(self.booleans[place])
        if self.is_time[place]:
            return Instant(int(self.times[place]))
        return float(self.numbers[place]) if self.present[place] else None

    def taken(self, places: Longs) -> "Column":
        """The same attribute of some of the publications."""
        new_place = np.full(self.present.size, -1, np.int32)
        new_place[places] = np.arange(len(places))
        kept = np.flatnonzero(new_place[self.element_places] >= 0)
        old_codes = np.append(self.codes[places], self.element_codes[kept])
        of_fuzzy = self.fuzzy_texts.codes[new_place[self.fuzzy_texts.places] >= 0]
        used = np.unique(np.append(old_codes[old_codes >= 0], of_fuzzy))
        new_code = np.full(len(self.words) + 1, -1, np.int32)
        new_code[used] = np.arange(used.size)
        codes = new_code[old_codes]
        return Column(
            self.present[places],
            self.numbers[places],
            self.times[places],
            self.is_time[places],
            codes[: len(places)],
            [self.words[code] for code in used],
            self.booleans[places],
            {
                int(new_place[old]): value
                for old, value in self.special.items()
                if new_place[old] >= 0
            },
            new_place[self.element_places[kept]],
            codes[len(places) :],
            self.fuzzy_numbers.moved(new_place),
            self.fuzzy_texts.moved(new_place, new_code),
        )


class Block:
    """Some publications, to be matched and scored together.

    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> flats = [Publication(id=str(rent), source="ads", time=0, position=0, data={"rent": rent})
    ...          for rent in (900, 1200)]
    >>> values = Values(Vocabulary())
    >>> Block.of_readers([values.of(flat) for flat in flats]).column(("rent",)).numbers
    array([ 900., 1200.])
    """

    def __init__(
        self,
        size: int,
        make: Callable[[Path], Column],
        value: Callable[[int, Path], Value | Many | None] | None = None,
    ) -> None:
        self.size = size
        self._make = make
        self._value = value
        self._columns: dict[Path, Column] = {}

    @classmethod
    def of_readers(cls, readers: Sequence[Reader]) -> "Block":
        return cls(
            len(readers),
            lambda path: _column_of_readers(readers, path),
            lambda place, path: readers[place](path),
        )

    @classmethod
    def of_items(cls, items: Items, values: Values) -> "Block":
        """Publications as they travel; attributes that they have no columns of are absent.

        >>> from shortlist.intake.reading import items_of
        >>> from shortlist.model.items import Wanted
        >>> from shortlist.model.publication import Publication
        >>> from shortlist.model.vocabulary import Vocabulary
        >>> flat = Publication(id="a", source="ads", time=0, position=1, data={"rent": 900})
        >>> items, _ = items_of([flat], Wanted(frozenset([("rent",)])))
        >>> Block.of_items(items, Values(Vocabulary())).column(("rent",)).numbers
        array([900.])
        """
        return cls(len(items), lambda path: _column_of_items(items, values, path))

    @classmethod
    def of_words(cls, words: Mapping[Path, Sequence[str]]) -> "Block":
        """As many publications as there are words at a path; each has one of them, if there is.

        >>> Block.of_words({("mood",): ["calm"], ("genre",): ["war", "drama"]}).value(1, ("genre",))
        'drama'
        """
        size = max(map(len, words.values()), default=0)

        def column(path: Path) -> Column:
            known = words.get(path, ())
            return column_of_coded(*_coded([*known, *[None] * (size - len(known))]))

        return cls(size, column)

    def taken(self, places: Longs) -> "Block":
        """Some of the publications.

        >>> some = Block.of_words({("x",): ["a", "b", "c"]}).taken(np.array([2, 0]))
        >>> some.value(0, ("x",)), some.value(1, ("x",))
        ('c', 'a')
        """
        return Block(len(places), lambda path: self.column(path).taken(places))

    def value(self, place: int, path: Path) -> Value | Many | None:
        """One publication's value."""
        return self._value(place, path) if self._value else self.column(path).value(place)

    def column(self, path: Path) -> Column:
        if path not in self._columns:
            self._columns[path] = self._make(path)
        return self._columns[path]


def _column_of_readers(readers: Sequence[Reader], path: Path) -> Column:
    if path in CONTEXT or len(path) > 1 or not readers:
        return _column([read(path) for read in readers])
    key = path[0]
    found = [read.publication.data.get(key) for read in readers]
    values = readers[0].values
    return _column_of_raw(found, values, path)


def _column_of_raw(found: list[Any], values: Values, path: Path) -> Column:
    kinds, typed = set(map(type, found)), partial(values.typed, path)
    is_time = values.vocabulary.is_time(path)
    if kinds <= NUMBERS:
        try:
            return column_of_numbers(np.array(found, np.float64))
        except OverflowError:
            pass  # an integer beyond all doubles is absent
    elif kinds <= ROUGH_NUMBERS:
        column = _column_of_rough_numbers(found, typed)
        if column is not None:
            return column
    elif kinds <= TEXTS and not is_time:
        return column_of_coded(*_coded(found))
    elif kinds <= TEXT_LISTS and values.vocabulary.of(path).many and not is_time:
        lists = [value if isinstance(value, list) else () for value in found]
        elements = [element for elements in lists for element in elements]
        if set(map(type, elements)) <= {str}:
            singles = [value if isinstance(value, str) else None for value in found]
            codes, words = _coded([*singles, *elements])
            lengths = np.array([*map(len, lists)])
            return column_of_coded(codes[: len(found)], words, lengths, codes[len(found) :])
    texts = {value for value in found if type(value) is str}
    known = {text: typed(text) for text in texts}
    return _column([known[value] if type(value) is str else typed(value) for value in found])


def column_of_numbers(numbers: Floats) -> Column:
    numbers[~np.isfinite(numbers)] = np.nan
    return replace(_blank(numbers.size), present=~np.isnan(numbers), numbers=numbers)


def _column_of_rough_numbers(
    found: list[Any], typed: Callable[[object], Value | Many | None]
) -> Column | None:
    """Numbers, some of them fuzzy; None if some are neither."""
    numbers = [None if type(value) is dict else value for value in found]
    documents = {place: value for place, value in enumerate(found) if type(value) is dict}
    try:
        column = column_of_numbers(np.array(numbers, np.float64))
        fuzzy, others = FuzzyNumbers.of_documents(documents)
    except OverflowError:
        return None
    read = {place: typed(found[place]) for place in others}
    unusual = {place: value for place, value in read.items() if isinstance(value, Trapezoid)}
    if len(unusual) < sum(value is not None for value in read.values()):
        return None
    fuzzy = fuzzy.joined(FuzzyNumbers.of(unusual)) if unusual else fuzzy
    column.present[fuzzy.places] = True
    return replace(column, fuzzy_numbers=fuzzy)


def column_of_coded(
    codes: Ints, words: Sequence[str], lengths: Longs | int = 0, element_codes: Ints = NO_PLACES
) -> Column:
    """Single texts, and lists of them with these lengths."""
    return replace(
        _blank(codes.size),
        present=(codes >= 0) | (lengths > 0),
        codes=codes,
        words=words,
        element_places=np.repeat(np.arange(codes.size, dtype=np.int32), lengths),
        element_codes=element_codes,
    )


def _column(values: Sequence[Value | Many | None]) -> Column:
    size = len(values)
    numbers, times = np.full(size, np.nan), np.zeros(size, np.int64)
    is_time, booleans = np.zeros(size, np.bool_), np.full(size, -1, np.int8)
    texts: list[str | None] = [None] * size
    special: dict[int, Special] = {}
    fuzzy_numbers: dict[int, Trapezoid] = {}
    fuzzy_texts: dict[int, Graded] = {}
    for place, value in enumerate(values):
        match value:
            case None:
                pass
            case bool():
                booleans[place] = value
            case float():
                numbers[place] = value
            case str():
                texts[place] = value
            case Instant(micros):
                times[place], is_time[place] = micros, True
            case Trapezoid():
                fuzzy_numbers[place] = value
            case Graded():
                fuzzy_texts[place] = value
            case _:
                special[place] = value
    codes, words = _coded(texts)
    numbered = {word: code for code, word in enumerate(words)}
    of_texts = FuzzyTexts.of(fuzzy_texts, numbered)
    return Column(
        np.array([value is not None for value in values], np.bool_),
        numbers,
        times,
        is_time,
        codes,
        list(numbered),
        booleans,
        special,
        fuzzy_numbers=FuzzyNumbers.of(fuzzy_numbers),
        fuzzy_texts=of_texts,
    )


@lru_cache(maxsize=16)
def _blank(size: int) -> Column:
    """An absent attribute; its arrays are shared."""
    none = np.zeros(size, np.bool_)
    column = Column(
        none,
        np.full(size, np.nan),
        np.zeros(size, np.int64),
        none,
        np.full(size, -1, np.int32),
        (),
        np.full(size, -1, np.int8),
    )
    for array in (column.present, column.numbers, column.times, column.codes, column.booleans):
        array.flags.writeable = False
    return column


def _coded(texts: Sequence[str | None]) -> tuple[Ints, list[str]]:
    places: dict[str, int] = {}
    codes = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
    return np.array(codes, np.int32), list(places)


def _column_of_items(items: Items, values: Values, path: Path) -> Column:
    if path == EVENT_TIME:
        said = items.values("event_time")
        return _column([None if time is None else Instant(time) for time in said])
    if path in CONTEXT:
        return column_of_words(items.batch.column(path[1]))
    name = format_path(path)
    if not items.has_attribute(name):
        return _blank(len(items))
    numbers, texts, others = items.batch.column(ATTRIBUTES).field(name).flatten()
    has_numbers, has_texts = (each.null_count < len(items) for each in (numbers, texts))
    has_others = others.null_count < len(items)
    is_time = values.vocabulary.is_time(path)
    if not has_others and not has_texts:
        return column_of_numbers(np.array(numbers.fill_null(np.nan)))
    if not has_others and not has_numbers and not is_time:
        return column_of_words(texts)
    return _column_of_raw(_merged(numbers, texts, others), values, path)


def column_of_words(texts: pa.StringArray) -> Column:
    coded = texts.dictionary_encode()
    codes = np.array(coded.indices.fill_null(-1), np.int32)
    return column_of_coded(codes, coded.dictionary.to_pylist())


def _merged(numbers: pa.DoubleArray, texts: pa.StringArray, others: pa.StringArray) -> list[Any]:
    """JSON values, of which each is a number, a text or something else."""
    found: list[Any] = numbers.to_pylist()
    for column in (texts.to_pylist(), _parsed(others)):
        if column.count(None) < len(column):
            found = [
                value if other is None else other
                for value, other in zip(found, column, strict=True)
            ]
    return found


def _parsed(others: pa.StringArray) -> list[Any]:
    """JSON texts as values; equal ones are read once, and all of them together."""
    coded = others.dictionary_encode()
    together = f"[{','.join(coded.dictionary.to_pylist())}]"
    try:
        known = orjson.loads(together)
    except orjson.JSONDecodeError:  # numbers beyond all doubles, or what is deep
        known = json.loads(together)
    known.append(None)
    return [known[code] for code in coded.indices.fill_null(-1).to_pylist()]
