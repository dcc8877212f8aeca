"""SHA-256 (FIPS 180-4) of many messages, some at a time, side by side in vector registers."""

from collections.abc import Iterable, Sequence
from math import cbrt, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint32]
DigitPairs = NDArray[np.uint16]

LANES = 32
"""Messages side by side. What each of them has stands in rows of so many."""
STEPS = 4
"""Rounds between loading a state and storing it: so few that LLVM unrolls them."""
GROUPS = 8
"""Messages of fewer blocks than this wait for others of as many, longer ones for each other."""
PAIRS = 16
"""Pairs of hexadecimal digits that are kept of a digest: its first half."""


def _fractions(roots: Iterable[float]) -> Words:
    """The first 32 bits behind the point."""
    return np.array([int(root % 1.0 * 2.0**32) for root in roots], np.uint32)


PRIMES = [n for n in range(2, 312) if all(n % factor for factor in range(2, n))]
START = _fractions(sqrt(prime) for prime in PRIMES[:8])
ROUNDS = _fractions(cbrt(prime) for prime in PRIMES)
HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)


class Texts(NamedTuple):
    """Byte strings as words, the first byte highest, with a zero before and behind each."""

    words: Words
    starts: Longs
    lengths: Longs
    """In bytes."""


def texts(strings: Sequence[bytes]) -> Texts:
    """
    >>> words, starts, lengths = texts([b"abcde", b""])
    >>> words.astype(">u4").tobytes(), starts.tolist(), lengths.tolist()
    (b'\\x00\\x00\\x00\\x00abcde\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00', [1, 4], [5, 0])
    """
    padded = [bytes(4), *(string + bytes(4 + -len(string) % 4) for string in strings)]
    sizes = np.array([len(string) // 4 for string in padded], np.int64)
    words = np.frombuffer(b"".join(padded), ">u4").astype(np.uint32)
    lengths = np.array([len(string) for string in strings], np.int64)
    return Texts(words, np.cumsum(sizes)[:-1], lengths)


class Messages(NamedTuple):
    """Message i is heads[of_head[i]] + tails[of_tail[i]]."""

    heads: Texts
    tails: Texts
    of_head: Ints
    of_tail: Ints


class Group(NamedTuple):
    """Messages, as many as there are lanes, that are hashed together."""

    numbers: Longs
    lengths: Longs
    """In bytes."""


@njit(cache=True)
def write_digests(messages: Messages, digits: DigitPairs) -> None:
    """The first half of each digest, in hexadecimal digits.

    >>> only = np.zeros(1, np.int32)
    >>> digits = np.empty(PAIRS, np.uint16)
    >>> write_digests(Messages(texts([b"a"]), texts([b"bc"]), only, only), digits)
    >>> digits.tobytes()
    b'ba7816bf8f01cfea414140de5dae2223'
    """
    numbers = np.empty((GROUPS, LANES), np.int64)
    lengths = np.empty((GROUPS, LANES), np.int64)
    counts = np.zeros(GROUPS, np.int64)
    schedule = np.empty(64 * LANES, np.uint32)
    state = np.empty(8 * LANES, np.uint32)
    heads, tails, of_head, of_tail = messages
    head_lengths, tail_lengths = heads.lengths, tails.lengths
    for number in range(of_head.size):
        length = head_lengths[of_head[number]] + tail_lengths[of_tail[number]]
        at = min(_blocks(length), GROUPS) - 1
        numbers[at, counts[at]] = number
        lengths[at, counts[at]] = length
        counts[at] += 1
        if counts[at] == LANES:
            _hash(messages, Group(numbers[at], lengths[at]), schedule, state, digits)
            counts[at] = 0
    for at, count in enumerate(counts):
        group = Group(numbers[at, :count], lengths[at, :count])
        _hash(messages, group, schedule, state, digits)


@njit(cache=True)
def _blocks(length: int) -> int:
    """Of a message with its end: a byte, and its length in eight."""
    return (length + 8) // 64 + 1


@njit(cache=True)
def _hash(
    messages: Messages, group: Group, schedule: Words, state: Words, digits: DigitPairs
) -> None:
    heads, tails, of_head, of_tail = messages
    numbers, lengths = group
    head_lengths = heads.lengths
    longest = 0
    for length in lengths:
        longest = max(longest, _blocks(length))
    for part in range(8):
        state[part * LANES : (part + 1) * LANES] = START[part]
    for block in range(longest):
        schedule[: 16 * LANES] = 0
        for lane in range(numbers.size):
            head, tail = of_head[numbers[lane]], of_tail[numbers[lane]]
            _place(heads, head, 0, block, lane, schedule)
            _place(tails, tail, head_lengths[head], block, lane, schedule)
            _end(lengths[lane], block, lane, schedule)
        _expand(schedule)
        _compress(schedule, state)
        for lane in range(numbers.size):
            if block + 1 == _blocks(lengths[lane]):
                _write(state, lane, numbers[lane], digits)


@njit(cache=True)
def _place(
    strings: Texts, number: int, offset: int, block: int, lane: int, schedule: Words
) -> None:
    """Puts down what a block has of a string that begins at an offset of the message."""
    place = offset // 4 - 16 * block
    shift = np.uint64(8 * (offset % 4))
    start = strings.starts[number] - place
    for at in range(max(0, place), min(16, place + (strings.lengths[number] + 3) // 4 + 1)):
        before, here = strings.words[start + at - 1], strings.words[start + at]
        both = (np.uint64(before) << np.uint64(32)) | np.uint64(here)
        schedule[at * LANES + lane] |= np.uint32(both >> shift)


@njit(cache=True)
def _end(length: int, block: int, lane: int, schedule: Words) -> None:
    """A bit behind the last one of the message, and in the last two words how many bits it has."""
    place = length // 4 - 16 * block
    if 0 <= place < 16:
        schedule[place * LANES + lane] |= np.uint32(0x80 << (24 - 8 * (length % 4)))
    if block + 1 == _blocks(length):
        schedule[14 * LANES + lane] = np.uint32(length >> 29)
        schedule[15 * LANES + lane] = np.uint32(length << 3)


@njit(cache=True)
def _rotated(word: int, bits: int) -> int:
    return np.uint32((word >> np.uint32(bits)) | (word << np.uint32(32 - bits)))


@njit(cache=True)
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


@njit(cache=True)
def _compress(schedule: Words, state: Words) -> None:
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


@njit(cache=True)
def _write(state: Words, lane: int, number: int, digits: DigitPairs) -> None:
    for at in range(PAIRS):
        word = state[(at // 4) * LANES + lane]
        digits[number * PAIRS + at] = HEX[(word >> np.uint32(24 - 8 * (at % 4))) & np.uint32(255)]
