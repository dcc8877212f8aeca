"""The best of very many candidates, digit by digit: what surely wins or loses is left aside."""

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.scoring.numbers import Spelled

Keys = npt.NDArray[np.uint64]

MAGNITUDE = np.uint64(2**63 - 1)
WORST = np.uint64(2**64 - 1)
BYTE = np.uint64(255)


@kernel
def round_all(values: Floats) -> None:
    for at in range(values.size):
        values[at] = round9(values[at])


@kernel
def around_border(scores: Floats, k: int) -> tuple[Longs, Longs]:
    """The places that are surely among the k best, and those that compete for what is left.

    There are more than k, which is not 0; what cannot be computed comes last.

    >>> around_border(np.array([0.5, np.nan, 0.75, 0.5]), 2)
    (array([2]), array([0, 3]))
    """
    costs = _costs(scores)
    border = _kth_smallest(costs.copy(), k)
    return np.flatnonzero(costs < border), np.flatnonzero(costs == border)


@kernel
def _costs(scores: Floats) -> Keys:
    """Whole numbers in the opposite order of the scores."""
    bits = scores.view(np.uint64)
    costs = np.empty_like(bits)
    for at in range(bits.size):
        if np.isnan(scores[at]):
            costs[at] = WORST
        else:
            costs[at] = bits[at] if bits[at] > MAGNITUDE else MAGNITUDE - bits[at]
    return costs


@kernel
def _kth_smallest(keys: Keys, k: int) -> np.uint64:
    """Keeps those keys that agree with it in the first digits; they are overwritten."""
    found, left, count = np.uint64(0), k, keys.size
    counts = np.empty(256, np.int64)
    for shift in range(56, -1, -8):
        counts[:] = 0
        for at in range(count):
            counts[(keys[at] >> np.uint64(shift)) & BYTE] += 1
        digit = np.uint64(0)
        while left > counts[digit]:
            left -= counts[digit]
            digit += np.uint64(1)
        found |= digit << np.uint64(shift)
        kept = 0
        for at in range(count):
            key = keys[at]
            keys[kept] = key
            kept += (key >> np.uint64(shift)) & BYTE == digit
        count = kept
    return found


@kernel
def with_smallest_ids(spelled: Spelled, numbers: Ints, count: int) -> Longs:
    """The places of so many of some numbers, those with the smallest ids, in any order."""
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
