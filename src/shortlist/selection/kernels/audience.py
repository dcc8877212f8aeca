"""The best of very many candidates: scores are rounded, and of equal ones the ids compared."""

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.scoring.numbers import Spelled


@kernel
def round_all(values: Floats) -> None:
    for at in range(values.size):
        values[at] = round9(values[at])


@kernel
def with_smallest_ids(spelled: Spelled, numbers: Ints, count: int) -> Longs:
    """The places of so many of some numbers, those with the smallest ids, in any order:
    letter by letter, so that what surely wins or loses is left aside."""
    places = np.arange(numbers.size)
    first, end, depth = 0, numbers.size, 0
    counts = np.empty(257, np.int64)
    while first < count < end:
        depth = _agree_until(spelled, numbers[places[first:end]], depth)
        counts[:] = 0
        for at in range(first, end):
            counts[_letter(spelled, numbers[places[at]], depth)] += 1
        border, before = 0, first
        while before + counts[border] < count:
            before += counts[border]
            border += 1
        first, end = _parted(spelled, numbers, places, first, end, depth, border)
        depth += 1
    return places[:count]


@kernel
def _agree_until(spelled: Spelled, numbers: Ints, depth: int) -> int:
    """Where the ids of some numbers first differ, all being the same up to a place."""
    starts, ends, letters = spelled
    first, end = starts[numbers[0]], ends[numbers[0]]
    for number in numbers:
        at, other = first + depth, starts[number] + depth
        while at < end and other < ends[number] and letters[at] == letters[other]:
            at += 1
            other += 1
        end = at
    return int(end - first)


@kernel
def _parted(
    spelled: Spelled, numbers: Ints, places: Longs, first: int, end: int, depth: int, border: int
) -> tuple[int, int]:
    """Moves those to the left and right whose letter is smaller or larger; where the others are."""
    at = first
    while at < end:
        letter = _letter(spelled, numbers[places[at]], depth)
        if letter < border:
            places[first], places[at] = places[at], places[first]
            first += 1
            at += 1
        elif letter > border:
            end -= 1
            places[end], places[at] = places[at], places[end]
        else:
            at += 1
    return first, end


@kernel
def _letter(spelled: Spelled, number: int, depth: int) -> int:
    """One more than the byte at a place of an id; 0 behind its end."""
    at = spelled.starts[number] + depth
    return spelled.letters[at] + 1 if at < spelled.ends[number] else 0
