"""Crisp conditions as boxes in columns: what scans of arrays and joins of tables work on."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .conditions import All, Condition, Not, Range, Some, Word
from .movies import ANY_GENRE, CERTIFICATES, genre_mask


class Denied(NamedTuple):
    """A genre that a film with genres must not have."""

    genre: Word


Literal = Range | Word | Denied
Case = tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where an attribute must lie, box by box; infinite where nothing is asked."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    low_open: NDArray[np.bool_]
    high_open: NDArray[np.bool_]

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which boxes do not hold where the attribute is absent."""
        return np.isfinite(self.low) | np.isfinite(self.high)

    def closed(self, dtype: type) -> tuple[NDArray[Any], NDArray[Any]]:
        """The ends as numbers of a type; one that is left out moves to the next number."""
        low, high = self.low.astype(dtype), self.high.astype(dtype)
        return (
            np.where(self.low_open, np.nextafter(low, dtype(inf)), low),
            np.where(self.high_open, np.nextafter(high, dtype(-inf)), high),
        )


@dataclass(frozen=True, slots=True)
class Boxes:
    """One row for each case of each subscription, which matches where one of its boxes holds.

    A box holds where every attribute is within its `bounds`, where the film's genres under the
    mask `genres_seen` are `genres`, and where the title meets its words: each of `word_slots` has
    a place in `words` or NO_WORD for each box.
    """

    owners: NDArray[np.int32]
    bounds: dict[str, Bounds]
    genres: NDArray[np.uint8]
    genres_seen: NDArray[np.uint8]
    words: tuple[Word, ...]
    word_slots: tuple[NDArray[np.int32], ...]

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def one_each(self) -> bool:
        """Whether every subscription has a single box."""
        return bool((np.diff(self.owners) > 0).all())


NO_WORD = -1


def boxes_of(conditions: Sequence[Condition]) -> Boxes:
    """The boxes of crisp conditions.

    >>> drama = All((Range("year", 1990, 1999), Word("genre", "=", "drama")))
    >>> boxes = boxes_of([drama, Not(Range("year", 1990, 1999))])
    >>> boxes.owners.tolist(), boxes.bounds["year"].closed(np.float64)[1].tolist()
    ([0, 1, 1], [1999.0, 1989.9999999999998, inf])
    """
    alternatives = [list(filter(_is_possible, cases(condition))) for condition in conditions]
    numbers = np.arange(len(conditions), dtype=np.int32)
    owners = np.repeat(numbers, [len(found) for found in alternatives])
    ranges: dict[str, list[tuple[int, Range]]] = defaultdict(list)
    genres, denied = np.zeros((2, len(owners)), dtype=np.uint8)
    words: list[tuple[int, Word]] = []
    for place, case in enumerate(chain.from_iterable(alternatives)):
        for literal in case:
            match literal:
                case Range(attribute):
                    ranges[attribute].append((place, literal))
                case Word("genre", _, genre):
                    genres[place] |= genre_mask([genre])
                case Denied(Word(_, _, genre)):
                    genres[place] |= ANY_GENRE
                    denied[place] |= genre_mask([genre]) ^ ANY_GENRE
                case Word():
                    words.append((place, literal))
    bounds = {attribute: _bounds(found, len(owners)) for attribute, found in ranges.items()}
    return Boxes(owners, bounds, genres, genres | denied, *_word_columns(words, len(owners)))


def cases(condition: Condition, negated: bool = False) -> list[Case]:
    """Conjunctions, one of which holds where the condition does.

    >>> year, genre = Range("year", low=1990), Word("genre", "=", "drama")
    >>> cases(All((year, genre)), negated=True)
    [(Range(attribute='year', low=-inf, high=1990, is_open=True),), (Denied(genre=Word(\
attribute='genre', operator='=', text='drama')),)]
    """
    match condition:
        case Not(operand):
            return cases(operand, not negated)
        case All(operands) | Some(operands):
            parts = [cases(operand, negated) for operand in operands]
            if isinstance(condition, All) == negated:
                return list(chain.from_iterable(parts))
            return [tuple(chain.from_iterable(chosen)) for chosen in product(*parts)]
        case Word("mpaa", "=", certificate):
            place = CERTIFICATES.index(certificate)
            return cases(Range("mpaa", place, place), negated)
        case Word("genre"):
            return [(Denied(condition) if negated else condition,)]
        case Range():
            return [(part,) for part in (_beside(condition) if negated else (condition,))]
        case Word() if not negated:
            return [(condition,)]
    raise ValueError(f"no boxes for {condition}")


def _is_possible(case: Case) -> bool:
    return not any(isinstance(literal, Denied) and literal.genre in case for literal in case)


def _beside(one: Range) -> Iterable[Range]:
    if one.low > -inf:
        yield Range(one.attribute, high=one.low, is_open=not one.is_open)
    if one.high < inf:
        yield Range(one.attribute, low=one.high, is_open=not one.is_open)


def _bounds(ranges: Sequence[tuple[int, Range]], count: int) -> Bounds:
    """Of several ranges of one box the narrowest ends count: they are assigned last."""
    places = np.array([place for place, _ in ranges])
    low, high = np.array([(one.low, one.high) for _, one in ranges], dtype=np.float64).T
    is_open = np.array([one.is_open for _, one in ranges])
    low_open, high_open = is_open & np.isfinite(low), is_open & np.isfinite(high)
    made = Bounds(np.full(count, -inf), np.full(count, inf), *np.zeros((2, count), dtype=np.bool_))
    rising, falling = np.lexsort((low_open, low)), np.lexsort((high_open, -high))
    made.low[places[rising]], made.low_open[places[rising]] = low[rising], low_open[rising]
    made.high[places[falling]], made.high_open[places[falling]] = high[falling], high_open[falling]
    return made


def _word_columns(
    words: Sequence[tuple[int, Word]], count: int
) -> tuple[tuple[Word, ...], tuple[NDArray[np.int32], ...]]:
    numbers = {word: number for number, word in enumerate(dict.fromkeys(word for _, word in words))}
    slots: list[NDArray[np.int32]] = []
    used = np.zeros(count, dtype=np.int64)
    for place, word in words:
        if used[place] == len(slots):
            slots.append(np.full(count, NO_WORD, dtype=np.int32))
        slots[used[place]][place] = numbers[word]
        used[place] += 1
    return tuple(numbers), tuple(slots)
