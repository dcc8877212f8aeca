"""SHA-256 (FIPS 180-4) of many messages, some at a time, side by side in vector registers."""

from collections.abc import Iterable
from math import cbrt, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel

Words = NDArray[np.uint32]
Octets = NDArray[np.uint8]
DigitPairs = NDArray[np.uint16]

LANES = 32
"""Messages side by side: word i of the one in a lane is at i · LANES + lane."""
STEPS = 4
"""Rounds between loading a state and storing it: so few that LLVM unrolls them, and then makes
vectors of the lanes."""
GROUPS = 8
"""Messages of fewer blocks than this wait for others of as many, longer ones for each other."""
PAIRS = 16
"""Pairs of hexadecimal digits that are kept of a digest: its first half."""


def _fractions(roots: Iterable[float]) -> Words:
    """The first 32 bits behind the point."""
    return np.array([int(root % 1.0 * 2.0**32) for root in roots], np.uint32)


PRIMES = [n for n in range(2, 312) if all(n % factor for factor in range(2, n))]
START = _fractions(sqrt(prime) for prime in PRIMES[:8])
"""The state before the first block."""
ROUNDS = _fractions(cbrt(prime) for prime in PRIMES)
"""What each round adds."""
HEX = np.frombuffer(bytes(range(256)).hex().encode(), np.uint16)
"""The two digits of each byte."""


class Texts(NamedTuple):
    """Byte strings as words, the first byte highest, with a zero before and behind each."""

    words: Words
    starts: Longs
    lengths: Longs
    """In bytes."""


@kernel
def texts(content: Octets, offsets: Longs) -> Texts:
    """Strings, of which each begins at an offset; the last one ends at the last offset.

    >>> abcde = np.frombuffer(b"abcde", np.uint8)
    >>> [hex(word) for word in texts(abcde, np.array([0, 5])).words]
    ['0x0', '0x61626364', '0x65000000', '0x0']
    """
    lengths = offsets[1:] - offsets[:-1]
    ends = np.cumsum((lengths + 3) // 4 + 1)
    starts = np.ones_like(ends)
    starts[1:] += ends[:-1]
    words = np.zeros(ends[-1] + 1 if ends.size else 1, np.uint32)
    for string in range(lengths.size):
        for at in range(lengths[string]):
            octet = np.uint32(content[offsets[string] + at])
            words[starts[string] + at // 4] |= octet << np.uint32(24 - 8 * (at % 4))
    return Texts(words, starts, lengths)


class Messages(NamedTuple):
    """Message i is heads[of_head[i]] + tails[of_tail[i]]."""

    heads: Texts
    tails: Texts
    of_head: Ints
    of_tail: Ints


class Group(NamedTuple):
    """Messages that are hashed together, at most as many as there are lanes."""

    numbers: Longs
    middles: Longs
    """Where the tail begins, in bytes."""
    ends: Longs


@kernel
def write_digests(messages: Messages, digits: DigitPairs) -> None:
    """The first half of each digest, in hexadecimal digits.

    >>> only, abc = np.zeros(1, np.int32), np.frombuffer(b"abc", np.uint8)
    >>> a, bc = texts(abc, np.array([0, 1])), texts(abc, np.array([1, 3]))
    >>> digits = np.empty(PAIRS, np.uint16)
    >>> write_digests(Messages(a, bc, only, only), digits)
    >>> digits.tobytes()
    b'ba7816bf8f01cfea414140de5dae2223'
    """
    head_lengths, tail_lengths = messages.heads.lengths, messages.tails.lengths
    of_head, of_tail = messages.of_head, messages.of_tail
    numbers = np.empty((GROUPS, LANES), np.int64)
    middles = np.empty((GROUPS, LANES), np.int64)
    ends = np.empty((GROUPS, LANES), np.int64)
    counts = np.zeros(GROUPS, np.int64)
    schedule = np.empty(64 * LANES, np.uint32)
    state = np.empty(8 * LANES, np.uint32)
    for number in range(of_head.size):
        middle = head_lengths[of_head[number]]
        end = middle + tail_lengths[of_tail[number]]
        at = min(_blocks(end), GROUPS) - 1
        numbers[at, counts[at]] = number
        middles[at, counts[at]] = middle
        ends[at, counts[at]] = end
        counts[at] += 1
        if counts[at] == LANES:
            group = Group(numbers[at], middles[at], ends[at])
            _hash(messages, group, schedule, state, digits)
            counts[at] = 0
    for at in range(GROUPS):
        if counts[at]:
            count = counts[at]
            group = Group(numbers[at, :count], middles[at, :count], ends[at, :count])
            _hash(messages, group, schedule, state, digits)


@kernel
def _blocks(length: int) -> int:
    """Of a message with its end: a byte, and its length in eight."""
    return (length + 8) // 64 + 1


@kernel
def _hash(
    messages: Messages, group: Group, schedule: Words, state: Words, digits: DigitPairs
) -> None:
    for part in range(8):
        state[part * LANES : (part + 1) * LANES] = START[part]
    heads_begin = np.zeros_like(group.middles)
    for block in range(_blocks(group.ends.max())):
        schedule[: 16 * LANES] = 0
        _place(messages.heads, messages.of_head, group.numbers, heads_begin, block, schedule)
        _place(messages.tails, messages.of_tail, group.numbers, group.middles, block, schedule)
        _close(group.ends, block, schedule)
        _expand(schedule)
        _compress(schedule, state)
        _write(state, group, block, digits)


@kernel
def _place(
    strings: Texts, of_message: Ints, numbers: Longs, offsets: Longs, block: int, schedule: Words
) -> None:
    """Puts down what a block has of strings that begin at these offsets of their messages.

    All lanes at once: a call with so many arrays costs as much as its work for one of them.
    """
    words, starts, lengths = strings
    for lane in range(numbers.size):
        string = of_message[numbers[lane]]
        place = offsets[lane] // 4 - 16 * block
        shift = np.uint64(8 * (offsets[lane] % 4))
        start = starts[string] - place
        for at in range(max(0, place), min(16, place + (lengths[string] + 3) // 4 + 1)):
            before, here = np.uint64(words[start + at - 1]), np.uint64(words[start + at])
            both = (before << np.uint64(32)) | here
            schedule[at * LANES + lane] |= np.uint32(both >> shift)


@kernel
def _close(ends: Longs, block: int, schedule: Words) -> None:
    """A bit behind the last one of a message, and in the last two words how many bits it has."""
    for lane in range(ends.size):
        end = ends[lane]
        place = end // 4 - 16 * block
        if 0 <= place < 16:
            schedule[place * LANES + lane] |= np.uint32(0x80 << (24 - 8 * (end % 4)))
        if block + 1 == _blocks(end):
            schedule[14 * LANES + lane] = np.uint32(end >> 29)
            schedule[15 * LANES + lane] = np.uint32(end << 3)


@kernel
def _rotated(word: np.uint32, bits: int) -> np.uint32:
    return np.uint32((word >> np.uint32(bits)) | (word << np.uint32(32 - bits)))


@kernel
def _expand(schedule: Words) -> None:
    """From the words of a block to a word for each round."""
    for at in range(16 * LANES, 64 * LANES):
        far = schedule[at - 15 * LANES]
        near = schedule[at - 2 * LANES]
        schedule[at] = (
            schedule[at - 16 * LANES]
            + (_rotated(far, 7) ^ _rotated(far, 18) ^ (far >> np.uint32(3)))
            + schedule[at - 7 * LANES]
            + (_rotated(near, 17) ^ _rotated(near, 19) ^ (near >> np.uint32(10)))
        )


@kernel
def _compress(schedule: Words, state: Words) -> None:
    """From the state before a block to the state behind it."""
    before = state.copy()
    for first in range(0, 64, STEPS):
        for lane in range(LANES):
            a = state[lane]
            b = state[LANES + lane]
            c = state[2 * LANES + lane]
            d = state[3 * LANES + lane]
            e = state[4 * LANES + lane]
            f = state[5 * LANES + lane]
            g = state[6 * LANES + lane]
            h = state[7 * LANES + lane]
            for step in range(first, first + STEPS):
                mixed = np.uint32(
                    h
                    + (_rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25))
                    + (g ^ (e & (f ^ g)))
                    + ROUNDS[step]
                    + schedule[step * LANES + lane]
                )
                h, g, f, e = g, f, e, np.uint32(d + mixed)
                majority = (a & b) | (c & (a | b))
                sums = _rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)
                d, c, b, a = c, b, a, np.uint32(mixed + sums + majority)
            state[lane] = a
            state[LANES + lane] = b
            state[2 * LANES + lane] = c
            state[3 * LANES + lane] = d
            state[4 * LANES + lane] = e
            state[5 * LANES + lane] = f
            state[6 * LANES + lane] = g
            state[7 * LANES + lane] = h
    state += before


@kernel
def _write(state: Words, group: Group, block: int, digits: DigitPairs) -> None:
    """The digits of those messages that this was the last block of."""
    numbers, ends = group.numbers, group.ends
    for lane in range(numbers.size):
        if block + 1 == _blocks(ends[lane]):
            first = numbers[lane] * PAIRS
            for at in range(PAIRS):
                word = state[at // 4 * LANES + lane]
                digits[first + at] = HEX[(word >> np.uint32(24 - 8 * (at % 4))) & np.uint32(255)]
