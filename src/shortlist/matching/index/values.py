"""The values of one type at a path, over a whole block: sorted, and told apart."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shortlist.matching.blocks import Block, Column, Ints, Longs
from shortlist.matching.index.literals import key
from shortlist.matching.index.slots import KINDS, Attribute, Kind, number_keys
from shortlist.matching.index.texts import Texts
from shortlist.matching.values import Element, Many

TYPES: dict[Kind, type] = {kind: python for python, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Order:
    """Keys ascending, and whose they are."""

    keys: Longs
    places: Ints

    @classmethod
    def of(cls, keys: Longs, places: Ints) -> "Order":
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], places[order].astype(np.int32))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Every value once: those who have value n are `places[starts[n] : starts[n + 1]]`."""

    starts: Ints
    places: Ints

    @classmethod
    def of(cls, numbers: Ints, places: Ints, count: int) -> "Distinct":
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], np.arange(count + 1))
        return cls(starts.astype(np.int32), places[order].astype(np.int32))


class AttributeValues:
    """An attribute's values in a block; words of a fuzzy text count as elements.

    With `only_crisp`, fuzzy values are left out.
    """

    def __init__(self, attribute: Attribute, block: Block, only_crisp: bool = False) -> None:
        column = block.column(attribute.path)
        self._words: list[str] = []
        self._lows = self._highs = np.empty(0, np.int64)
        """Of fuzzy numbers."""
        self.fuzzy = np.empty(0, np.int32)
        """Who has a fuzzy value of the type, some more than once."""
        places, keys = self._singles(attribute.kind, column)
        more_places, more_keys = self._elements(attribute.kind, column)
        if attribute.kind == "text":
            texts = column.fuzzy_texts
            is_possible = texts.degrees > (1.0 if only_crisp else 0.0)
            self.fuzzy = texts.places[is_possible]
            places = np.concatenate([places, column.element_places, self.fuzzy])
            keys = np.concatenate([keys, column.element_codes, texts.codes[is_possible]])
        elif attribute.kind == "number" and not only_crisp:
            self.fuzzy = column.fuzzy_numbers.places
            self._lows = number_keys(column.fuzzy_numbers.corners[:, 0])
            self._highs = number_keys(column.fuzzy_numbers.corners[:, 3])
        several = column.element_places.size + self.fuzzy.size if attribute.kind == "text" else 0
        self.is_single = not (more_places or several)
        self._places = np.append(places, np.array(more_places, np.int32))
        self._keys = np.append(keys, np.array(more_keys, np.int64))

    @property
    def places(self) -> Ints:
        """Who has a value of the type."""
        return np.append(self._places, self.fuzzy)

    @cached_property
    def texts(self) -> Texts:
        return Texts.of(self._words)

    @property
    def words(self) -> list[str]:
        return self._words

    @cached_property
    def distinct(self) -> tuple[Longs, Distinct]:
        """The values as keys, ascending (texts: as places in `words`), and who has them.

        Fuzzy numbers are left out.
        """
        if self._words:
            numbers = self._keys.astype(np.int32)
            return self._keys, Distinct.of(numbers, self._places, len(self._words))
        keys, numbers = np.unique(self._keys, return_inverse=True)
        return keys, Distinct.of(numbers.astype(np.int32), self._places, keys.size)

    @cached_property
    def order(self) -> Order:
        """Without fuzzy numbers."""
        return Order.of(self._keys, self._places)

    @cached_property
    def lows(self) -> Order:
        """The order of what is least possible for each."""
        return self._with_fuzzy(self._lows)

    @cached_property
    def highs(self) -> Order:
        """The order of what is most possible for each."""
        return self._with_fuzzy(self._highs)

    def text_order(self, places_among: Longs) -> Order:
        """Of texts, given the place of every word among the ends that are asked for."""
        return Order.of(places_among[self._keys], self._places)

    def _with_fuzzy(self, keys: Longs) -> Order:
        if not keys.size:
            return self.order
        return Order.of(np.append(self._keys, keys), np.append(self._places, self.fuzzy))

    def _singles(self, kind: Kind, column: Column) -> tuple[Ints, Longs]:
        match kind:
            case "number":
                places = np.flatnonzero(~np.isnan(column.numbers))
                keys = number_keys(column.numbers[places])
            case "time":
                places = np.flatnonzero(column.is_time)
                keys = column.times[places]
            case "boolean":
                places = np.flatnonzero(column.booleans >= 0)
                keys = column.booleans[places].astype(np.int64)
            case "text":
                places = np.flatnonzero(column.codes >= 0)
                keys = column.codes[places].astype(np.int64)
                self._words = list(column.words)
        return places.astype(np.int32), keys

    def _elements(self, kind: Kind, column: Column) -> tuple[list[int], list[int]]:
        """The elements of multi-valued attributes that are not all texts."""
        places, keys = [], []
        numbers: dict[Element, int] = {}
        if kind == "text" and column.special:
            numbers = {word: number for number, word in enumerate(self._words)}
        for place, value in column.special.items():
            if not isinstance(value, Many):
                continue
            for element in value.elements:
                if type(element) is not TYPES[kind]:
                    continue
                places.append(place)
                if kind == "text":
                    keys.append(numbers.setdefault(element, len(numbers)))
                else:
                    keys.append(key(element))  # type: ignore[arg-type]
        if numbers:
            self._words = list(numbers)  # type: ignore[arg-type]
        return places, keys
