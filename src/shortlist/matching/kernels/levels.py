"""Conditions of crisp literals over masks where fuzzy values were published.

Every literal has four masks, and so has every condition, by the same `and` and `or`: who is
possible at all, fully possible, certain to some degree, and sure. All who are sure match, with the
degrees (1, 1); who is fully possible and not at all certain has the degrees (1, 0). Of the others
something is to be computed. Most of them have one literal only that is **open**, so that one of
its degrees is neither 0 nor 1: under a strict norm it decides the degrees of the condition.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import uint64

from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.conditions import (
    HELD,
    NARROW,
    bounds_of,
    lowest_bit,
    with_room,
    write_held,
)
from shortlist.matching.kernels.grades import MIN

LEVELS = 4
FEW = 1024
"""Of so many conjunctions it does not pay to look where masks begin and end."""
BY_ANYTHING = 1
"""The slot that lets everything pass."""
SURE, UNSURE, UNDECIDED = range(3)
"""Kinds of pairs that are held back: of the degrees (1, 1), of (1, 0), and of unknown ones."""


@kernel(inline="always")
def hold(held_words, held_whose, counts, kind, mask, word, condition):  # type: ignore[no-untyped-def]
    """Holds a word of a mask back, unless it is empty."""
    at = counts[kind]
    held_words[kind, at] = mask
    held_whose[kind, 0, at], held_whose[kind, 1, at] = word * 64, condition
    counts[kind] = at + (mask != 0)


@kernel
def held_back(words):  # type: ignore[no-untyped-def]
    """Room for words of masks, by kind, with their first publications and their conditions."""
    room = HELD + words
    return np.empty((3, room), np.uint64), np.empty((3, 2, room), np.int32), np.zeros(3, np.int64)


@kernel
def written(held, kind, lists, pairs):  # type: ignore[no-untyped-def]
    """Writes the pairs of what is held back of a kind, for all who share their condition.

    Without lists, they are written by condition.
    """
    words, firsts, whose = held[0][kind], held[1][kind, 0], held[1][kind, 1]
    publications, numbers, count = pairs
    left = held[2][kind]
    held[2][kind] = 0
    if lists is None:
        return write_held(words, firsts, whose, left, publications, numbers, count)
    heads, following = lists
    most = -1
    for at in range(left):
        whose[at] = heads[whose[at]]
        most = max(most, following[whose[at]])
    while True:
        publications, numbers, count = write_held(
            words, firsts, whose, left, publications, numbers, count
        )
        if most < 0 or left == 0:
            break
        sharing = 0
        for at in range(left):
            number = following[whose[at]]
            words[sharing], firsts[sharing], whose[sharing] = words[at], firsts[at], number
            sharing += 1 if number >= 0 else 0
        left = sharing
    return publications, numbers, count


@kernel(inline="always")
def note_entry(entries, entry, bit, word, fully, somewhat, condition, plus, minus):  # type: ignore[no-untyped-def]
    flags = ((fully >> bit) & uint64(1)) + 2 * ((somewhat >> bit) & uint64(1))
    entries[0, entry] = ((word * 64 + int(bit)) << 2) + int(flags)
    entries[1, entry], entries[2, entry], entries[3, entry] = condition, plus, minus


@kernel(inline="always")
def note_open(entries, entry, found, condition, plus, minus, start, literals, opened):  # type: ignore[no-untyped-def]
    """Writes an entry for every open literal of some publications, of whom `several` may have more
    than one; the answer is the next entry. There is room for one more than there are."""
    left, several, word, fully, somewhat = found
    for literal in range(literals):
        mine = opened[literal] & left & ~several
        slot, other = plus[start + literal], minus[start + literal]
        while True:  # most literals have one or none, which is written without asking
            bit = uint64(lowest_bit(mine))
            note_entry(entries, entry, bit, word, fully, somewhat, condition, slot, other)
            entry += int(mine != 0)
            mine &= mine - uint64(1)
            if mine == 0:
                break
    several &= left
    while several != 0:
        bit = uint64(lowest_bit(several))
        several &= several - uint64(1)
        for literal in range(literals):
            slot, other = plus[start + literal], minus[start + literal]
            note_entry(entries, entry, bit, word, fully, somewhat, condition, slot, other)
            entry += int((opened[literal] >> bit) & uint64(1))
    return entry


@cache
def telling_conjunctions(words: int) -> Callable[..., Any]:
    """What judges conjunctions over masks of so many words; it holds nothing but that number, as
    `conditions.kernels`."""

    @kernel
    def tell_conjunctions(masks, conjunctions, most, lists, sure, unsure, open_ones):  # type: ignore[no-untyped-def]
        """Conjunctions under the norm `min`, of so many literals at most.

        The pairs that are sure and those with the degrees (1, 0) go to `sure` and `unsure`.
        `open_ones` are four times a publication, + 1 where the condition is fully possible, + 2
        where it is certain to some degree; its condition; and the slots of an open literal. Each of
        a condition's open literals has its own, one after the other.
        """
        table, possible, full, some, certain, first_mask = masks
        group_slots, group_starts, offsets, plus, minus = conjunctions
        heads, _ = lists
        entries, entry = open_ones
        held = held_back(words)
        held_words, held_whose, counts = held
        levels, opened = np.empty((LEVELS, words), np.uint64), np.empty(most, np.uint64)
        in_slots, out_slots = np.empty(most, np.uint32), np.empty(most, np.uint32)
        rows = np.empty((most, 2 * LEVELS), np.uint32)
        is_bounded = words > NARROW and offsets.size > FEW
        before, behind = bounds_of(table if is_bounded else table[:0])
        for group in range(group_slots.size):
            if possible[group_slots[group]] == 0:
                continue
            for condition in range(group_starts[group], group_starts[group + 1]):
                if heads[condition] < 0:
                    continue
                literals, low, high = 0, 0, words
                is_alone = offsets[condition] == offsets[condition + 1]
                if group_slots[group] != BY_ANYTHING or is_alone:
                    in_slots[0], out_slots[0], literals = group_slots[group], 0, 1
                for literal in range(offsets[condition], offsets[condition + 1]):
                    in_slots[literals], out_slots[literals] = plus[literal], minus[literal]
                    literals += 1
                for literal in range(literals):
                    slot, other = in_slots[literal], out_slots[literal]
                    if 1 < slot <= other < first_mask:  # a range that ends before it starts
                        high = 0
                    rows[literal, 0], rows[literal, 1] = possible[slot], certain[other]
                    rows[literal, 2], rows[literal, 3] = full[slot], some[other]
                    rows[literal, 4], rows[literal, 5] = some[slot], full[other]
                    rows[literal, 6], rows[literal, 7] = certain[slot], possible[other]
                    if is_bounded:
                        low = max(low, before[rows[literal, 1]])
                        high = min(high, behind[rows[literal, 0]])
                if high <= low + NARROW and words > NARROW:
                    for word in range(low, high):
                        may = fully = somewhat = surely = ~uint64(0)
                        for literal in range(literals):
                            may &= table[rows[literal, 0], word] & ~table[rows[literal, 1], word]
                            fully &= table[rows[literal, 2], word] & ~table[rows[literal, 3], word]
                            somewhat &= (
                                table[rows[literal, 4], word] & ~table[rows[literal, 5], word]
                            )
                            surely &= table[rows[literal, 6], word] & ~table[rows[literal, 7], word]
                        levels[0, word], levels[1, word] = may, fully
                        levels[2, word], levels[3, word] = somewhat, surely
                else:
                    for level in range(LEVELS):
                        in_row, out_row = rows[0, 2 * level], rows[0, 2 * level + 1]
                        for word in range(words):
                            levels[level, word] = table[in_row, word] & ~table[out_row, word]
                    for literal in range(1, literals):
                        for level in range(LEVELS):
                            in_row, out_row = rows[literal, 2 * level], rows[literal, 2 * level + 1]
                            for word in range(words):
                                levels[level, word] &= table[in_row, word] & ~table[out_row, word]
                needed = entry + 64 * words * literals + 1
                if needed > entries.shape[1]:
                    entries = with_room(entries, needed)
                for word in range(low, high):
                    may, fully = levels[0, word], levels[1, word]
                    somewhat, surely = levels[2, word], levels[3, word]
                    if may == 0:
                        continue
                    half = fully & ~somewhat
                    left = may & ~(surely | half)
                    hold(held_words, held_whose, counts, SURE, surely, word, condition)
                    hold(held_words, held_whose, counts, UNSURE, half, word, condition)
                    if left == 0:
                        continue
                    once, several = uint64(0), uint64(0)
                    for literal in range(literals):
                        of_full = table[rows[literal, 2], word] & ~table[rows[literal, 3], word]
                        of_some = table[rows[literal, 4], word] & ~table[rows[literal, 5], word]
                        of_sure = table[rows[literal, 6], word] & ~table[rows[literal, 7], word]
                        # who is possible is so by every literal
                        opened[literal] = ~of_full | (of_some & ~of_sure)
                        several |= once & opened[literal]
                        once |= opened[literal]
                    found = left, several, word, fully, somewhat
                    entry = note_open(
                        entries, entry, found, condition, in_slots, out_slots, 0, literals, opened
                    )
                if counts[SURE] >= HELD:
                    sure = written(held, SURE, lists, sure)
                if counts[UNSURE] >= HELD:
                    unsure = written(held, UNSURE, lists, unsure)
        sure, unsure = written(held, SURE, lists, sure), written(held, UNSURE, lists, unsure)
        return sure, unsure, (entries, entry)

    return tell_conjunctions


@kernel(inline="always")
def untied(masks, programs, program, literals, word, fully, several, stack, opened):  # type: ignore[no-untyped-def]
    """Of publications of a word, for whom several literals are open, those with whom it takes the
    program to tell the degree.

    What is looked for is the possibility, or the necessity if `fully` possible. Let one of two open
    literals be true and the other one false, in turn. Where the condition is true both times it has
    the higher of their degrees, where it is false both times the lesser one, otherwise it goes by
    the one alone. For all but the first case, only literals that count remain `opened`.
    """
    table, possible, full, some, certain, first_mask = masks
    offsets, plus, minus, code_offsets, code, norms, _, _ = programs
    start = offsets[program]
    once, twice, thrice, top = uint64(0), uint64(0), uint64(0), 0
    for at in range(code_offsets[program], code_offsets[program + 1]):
        step = code[at]
        if step >= 0:
            slot, other = plus[step], minus[step]
            of_may = table[possible[slot], word] & ~table[certain[other], word]
            of_full = table[full[slot], word] & ~table[some[other], word]
            of_some = table[some[slot], word] & ~table[full[other], word]
            of_sure = table[certain[slot], word] & ~table[possible[other], word]
            if 1 < slot <= other < first_mask:
                of_may, of_full, of_some, of_sure = uint64(0), uint64(0), uint64(0), uint64(0)
            known = (fully & of_sure) | (~fully & of_full)
            between = several & ~known & ((fully & of_some) | (~fully & of_may))
            thrice |= twice & between
            stack[top, 0], stack[top, 1] = known | (between & ~once), known | (between & once)
            twice |= once & between
            once |= between
            mine = step - start
            opened[mine, word] = (opened[mine, word] & ~several) | between
            top += 1
            continue
        under = top - (-step >> 1)
        for operand in range(under + 1, top):
            for which in range(2):
                if -step & 1:
                    stack[under, which] |= stack[operand, which]
                else:
                    stack[under, which] &= stack[operand, which]
        top = under + 1
    by_first, by_second = stack[0, 0] & twice, stack[0, 1] & twice
    tied = thrice | (by_first & by_second)
    if norms[program] != MIN:
        tied |= twice & ~(by_first | by_second)
    before = uint64(0)
    for literal in range(literals):
        between = opened[literal, word] & several
        kept = between & ~(before & by_first) & ~(~before & by_second)
        before |= between
        opened[literal, word] = (opened[literal, word] & ~several) | kept
    return tied & several


@cache
def telling_programs(words: int) -> Callable[..., Any]:
    """What judges other programs of crisp literals, over masks of so many words.

    It holds nothing but that number, as `conditions.kernels`.
    """

    @kernel
    def tell_programs(masks, programs, depth, wanted, lists, sure, unsure, undecided, open_ones):  # type: ignore[no-untyped-def]
        """As `tell_conjunctions`, of some programs by number, under a strict norm.

        What a pair's open literals do not decide one by one is `undecided`, by condition.
        """
        masks, programs = borrowed(masks), borrowed(programs)
        table, possible, full, some, certain, first_mask = masks
        offsets, plus, minus, code_offsets, code, _, least, first_number = programs
        heads, _ = lists
        entries, entry = open_ones
        stack, masks_of = np.empty((depth, LEVELS * words), np.uint64), LEVELS * words
        opened, open_here = np.empty((depth, words), np.uint64), np.empty(depth, np.uint64)
        pair_stack = np.empty((depth, 2), np.uint64)
        once, twice = np.empty(words, np.uint64), np.empty(words, np.uint64)
        held = held_back(words)
        held_words, held_whose, counts = held
        for program in wanted:
            condition, start = first_number + program, offsets[program]
            if heads[condition] < 0:
                continue
            for word in range(words):
                once[word] = 0
                twice[word] = 0
            top = 0
            for at in range(code_offsets[program], code_offsets[program + 1]):
                step = code[at]
                if step >= 0:
                    slot, other, mine = plus[step], minus[step], step - start
                    if 1 < slot <= other < first_mask:  # a range that ends before it starts
                        stack[top] = 0
                        opened[mine] = 0
                        top += 1
                        continue
                    rows = possible[slot], full[slot], some[slot], certain[slot]
                    others = possible[other], full[other], some[other], certain[other]
                    for word in range(words):
                        may = table[rows[0], word] & ~table[others[3], word]
                        fully = table[rows[1], word] & ~table[others[2], word]
                        somewhat = table[rows[2], word] & ~table[others[1], word]
                        surely = table[rows[3], word] & ~table[others[0], word]
                        stack[top, word], stack[top, words + word] = may, fully
                        stack[top, 2 * words + word] = somewhat
                        stack[top, 3 * words + word] = surely
                        between = (may & ~fully) | (somewhat & ~surely)
                        opened[mine, word] = between
                        twice[word] |= once[word] & between
                        once[word] |= between
                    top += 1
                    continue
                operands = -step >> 1
                under = top - operands
                for operand in range(under + 1, top):
                    if -step & 1:
                        for place in range(masks_of):
                            stack[under, place] |= stack[operand, place]
                    else:
                        for place in range(masks_of):
                            stack[under, place] &= stack[operand, place]
                top = under + 1
            literals = offsets[program + 1] - start
            needed = entry + 64 * words * literals + 1
            if needed > entries.shape[1]:
                entries = with_room(entries, needed)
            for word in range(words):
                may, fully = stack[0, word], stack[0, words + word]
                if may == 0:
                    continue
                somewhat, surely = stack[0, 2 * words + word], stack[0, 3 * words + word]
                half = fully & ~somewhat & may
                rest = may & ~(surely | half)
                hold(held_words, held_whose, counts, SURE, surely, word, condition)
                if least[program, 1] == 0.0:
                    hold(held_words, held_whose, counts, UNSURE, half, word, condition)
                left = once[word] & rest
                if left == 0:
                    continue
                several = twice[word] & rest
                if several != 0:
                    tied = untied(
                        masks, programs, program, literals, word, fully, several, pair_stack, opened
                    )
                    tied |= several & somewhat & ~fully
                    hold(held_words, held_whose, counts, UNDECIDED, tied, word, condition)
                    left &= ~tied
                for literal in range(literals):
                    open_here[literal] = opened[literal, word]
                found = left, several, word, fully, somewhat
                entry = note_open(
                    entries, entry, found, condition, plus, minus, start, literals, open_here
                )
            if counts[SURE] >= HELD:
                sure = written(held, SURE, lists, sure)
            if counts[UNSURE] >= HELD:
                unsure = written(held, UNSURE, lists, unsure)
            if counts[UNDECIDED] >= HELD:
                undecided = written(held, UNDECIDED, None, undecided)
        sure, unsure = written(held, SURE, lists, sure), written(held, UNSURE, lists, unsure)
        return sure, unsure, written(held, UNDECIDED, None, undecided), (entries, entry)

    return tell_programs
