"""Conditions over masks: which publications may meet which condition.

Results grow in two arrays, publications and numbers side by side. What is written is the numbers of
the subscriptions that share a condition, a linked list from `heads` along `following`; or, where
degrees are still to be computed, the number of the condition itself.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from shortlist.matching.arrays import Ints
from shortlist.matching.kernels.compiling import kernel

Pairs = tuple[Ints, Ints, int]
"""Publications, numbers, and how many of both there are."""


def _typed_lowest_bit(_context: Any, _word: Any) -> Any:
    """The place of the lowest bit that is set; 64 where there is none."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        is_never_zero = ir.Constant(ir.IntType(1), 0)
        return builder.cttz(arguments[0], is_never_zero)

    return types.int64(types.uint64), generate


def _typed_bits(_context: Any, _word: Any) -> Any:
    """How many bits are set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


lowest_bit: Any = intrinsic(_typed_lowest_bit)
count_bits: Any = intrinsic(_typed_bits)


@kernel
def _grown(publications: Ints, numbers: Ints, least: int) -> tuple[Ints, Ints]:
    """The arrays with room for at least so many."""
    size = max(least, 2 * publications.size)
    more_publications, more_numbers = np.empty(size, np.int32), np.empty(size, np.int32)
    more_publications[: publications.size] = publications
    more_numbers[: numbers.size] = numbers
    return more_publications, more_numbers


@kernel
def with_room(rows, needed):  # type: ignore[no-untyped-def]
    """The same with room for so many columns."""
    if needed <= rows.shape[1]:
        return rows
    larger = np.empty((rows.shape[0], max(needed, 2 * rows.shape[1])), rows.dtype)
    larger[:, : rows.shape[1]] = rows
    return larger


_AT_ONCE = 4
"""So many bits of a word are written without asking whether they are there."""


@kernel
def write_held(words, firsts, whose, held, publications, numbers, count):  # type: ignore[no-untyped-def]
    """Writes the pairs of some words of masks, none of them 0."""
    needed = count + _AT_ONCE
    for at in range(held):
        needed += count_bits(words[at])
    if needed > publications.size:
        publications, numbers = _grown(publications, numbers, needed)
    for at in range(held):
        word, first, number = words[at], firsts[at], whose[at]
        bits = count_bits(word)
        for n in range(_AT_ONCE):
            publications[count + n] = first + lowest_bit(word)
            numbers[count + n] = number
            word &= word - uint64(1)
        place = count + _AT_ONCE
        while word != 0:
            publications[place] = first + lowest_bit(word)
            numbers[place] = number
            place += 1
            word &= word - uint64(1)
        count += bits
    return publications, numbers, count


HELD = 2048
"""Words of masks that are held back and then written together, which spares many a branch."""


@kernel
def hold(low, high, mask, number, some, firsts, whose, held):  # type: ignore[no-untyped-def]
    for word in range(low, high):
        some[held], firsts[held], whose[held] = mask[word], word * 64, number
        held += 1 if mask[word] != 0 else 0
    return held


NARROW = 8
"""Masks of more words than these are looked at between bounds."""


@kernel
def bounds_of(table):  # type: ignore[no-untyped-def]
    """How many words at the beginning of each row are full, and behind how many it is empty."""
    rows, words = table.shape
    full, used = np.empty(rows, np.int32), np.empty(rows, np.int32)
    for row in range(rows):
        low, high = 0, words
        while low < words and ~table[row, low] == 0:
            low += 1
        while high > 0 and table[row, high - 1] == 0:
            high -= 1
        full[row], used[row] = low, high
    return full, used


@cache
def kernels(words: int) -> tuple[Callable[..., Pairs], Callable[..., Pairs]]:
    """What matches conjunctions, and what matches programs, over masks of so many words.

    Both hold nothing but that number: a kernel of another process in them would keep numba from
    finding them in its cache.
    """

    @kernel
    def match_conjunctions(masks, conjunctions, first, lists, expand, pairs):  # type: ignore[no-untyped-def]
        """Groups begin with one slot each, and end early where that is empty."""
        table, plus_rows, minus_rows = masks
        group_slots, group_starts, offsets, plus, minus = conjunctions
        heads, following = lists
        publications, numbers, count = pairs
        mask = np.empty(words, np.uint64)
        some, held = np.empty(HELD + words, np.uint64), 0
        firsts, whose = np.empty(some.size, np.int32), np.empty(some.size, np.int32)
        full, used = bounds_of(table if words > NARROW else table[:0])
        for group in range(group_slots.size):
            start = plus_rows[group_slots[group]]
            if start == 0:
                continue
            for at in range(group_starts[group], group_starts[group + 1]):
                number = heads[first + at]
                if number < 0:
                    continue
                low, high, found = 0, words, uint64(0)
                if words > NARROW:
                    high = used[start]
                    for literal in range(offsets[at], offsets[at + 1]):
                        low = max(low, full[minus_rows[minus[literal]]])
                        high = min(high, used[plus_rows[plus[literal]]])
                if words > NARROW and high <= low + NARROW:
                    for word in range(low, high):
                        rest = table[start, word]
                        for literal in range(offsets[at], offsets[at + 1]):
                            in_row, out_row = plus_rows[plus[literal]], minus_rows[minus[literal]]
                            rest &= table[in_row, word] & ~table[out_row, word]
                        mask[word] = rest
                        found |= rest
                else:
                    low, high = 0, words
                    for word in range(words):
                        mask[word] = table[start, word]
                    for literal in range(offsets[at], offsets[at + 1]):
                        in_row, out_row = plus_rows[plus[literal]], minus_rows[minus[literal]]
                        for word in range(words):
                            mask[word] &= table[in_row, word]
                        if out_row != 0:
                            for word in range(words):
                                mask[word] &= ~table[out_row, word]
                    for word in range(words):
                        found |= mask[word]
                while found != 0 and number >= 0:
                    whom = number if expand else first + at
                    held = hold(low, high, mask, whom, some, firsts, whose, held)
                    if held >= HELD:
                        publications, numbers, count = write_held(
                            some, firsts, whose, held, publications, numbers, count
                        )
                        held = 0
                    number = following[number] if expand else -1
        return write_held(some, firsts, whose, held, publications, numbers, count)

    @kernel
    def match_programs(masks, programs, depth, wanted, first, lists, expand, pairs):  # type: ignore[no-untyped-def]
        table, plus_rows, minus_rows = masks
        code_offsets, code, plus, minus, is_strict = programs
        heads, following = lists
        publications, numbers, count = pairs
        stack = np.empty((depth, words), np.uint64)
        some, held = np.empty(HELD + words, np.uint64), 0
        firsts, whose = np.empty(some.size, np.int32), np.empty(some.size, np.int32)
        for program in wanted:
            number = heads[first + program]
            if number < 0:
                continue
            top = 0
            for at in range(code_offsets[program], code_offsets[program + 1]):
                step = code[at]
                if step >= 0:
                    in_row, out_row = plus_rows[plus[step]], minus_rows[minus[step]]
                    for word in range(words):
                        stack[top, word] = table[in_row, word] & ~table[out_row, word]
                    top += 1
                    continue
                operands = -step >> 1
                under = top - operands
                if -step & 1 or not is_strict[program]:
                    for operand in range(under + 1, top):
                        for word in range(words):
                            stack[under, word] |= stack[operand, word]
                else:
                    for operand in range(under + 1, top):
                        for word in range(words):
                            stack[under, word] &= stack[operand, word]
                top = under + 1
            found = uint64(0)
            for word in range(words):
                found |= stack[0, word]
            while found != 0 and number >= 0:
                written = number if expand else first + program
                held = hold(0, words, stack[0], written, some, firsts, whose, held)
                if held >= HELD:
                    publications, numbers, count = write_held(
                        some, firsts, whose, held, publications, numbers, count
                    )
                    held = 0
                number = following[number] if expand else -1
        return write_held(some, firsts, whose, held, publications, numbers, count)

    return match_conjunctions, match_programs


@kernel
def settle(heads, following, segment, segment_of, condition_of):  # type: ignore[no-untyped-def]
    """Writes down for everyone on the lists where their condition is."""
    for condition in range(heads.size):
        number = heads[condition]
        while number >= 0:
            segment_of[number], condition_of[number] = segment, condition
            number = following[number]
