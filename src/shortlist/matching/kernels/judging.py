"""Degrees of pairs of publications and conditions: of one number each where all values are crisp,
otherwise possibility and necessity, in two rows.
"""

import numpy as np
from numba import uint64

from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.grades import LUKASIEWICZ, MIN, WEIGHTED, combined
from shortlist.matching.kernels.literals import (
    TEXT,
    graded_degrees,
    lower_by,
    lower_by_grade,
    number_degrees,
    set_of,
    text_degrees,
)
from shortlist.matching.kernels.rounding import round9


@kernel(error_model="numpy")
def run_end(conditions, first):  # type: ignore[no-untyped-def]
    """Where the pairs of a condition end, which come together."""
    last = first + 1
    while last < conditions.size and conditions[last] == conditions[first]:
        last += 1
    return last


@kernel(error_model="numpy")
def finish(fuzzy, degrees, first, last, least):  # type: ignore[no-untyped-def]
    """Rounds the degrees of some pairs; they are 0 where that is no match."""
    if fuzzy is None:
        floor = max(least[0], least[1])
        for pair in range(first, last):
            one = round9(degrees[0, pair])
            degrees[0, pair] = one if one >= floor else 0.0
        return
    for pair in range(first, last):
        possibility, necessity = degrees[0, pair], degrees[1, pair]
        if possibility != 1.0:
            possibility = round9(possibility)
        if necessity != 0.0:
            necessity = round9(necessity)
        if possibility == 0.0 or possibility < least[0] or necessity < least[1]:
            possibility, necessity = 0.0, 0.0
        degrees[0, pair], degrees[1, pair] = possibility, necessity


@kernel(error_model="numpy")
def judge_plain(conjunctions, fuzzy, publications, conditions):  # type: ignore[no-untyped-def]
    """The degrees of pairs of publications and plain conjunctions, which come ascending."""
    degrees = np.ones((2, publications.size))
    group_slots, group_starts, offsets, plus, minus = conjunctions
    rows = fuzzy.asked.rows
    first, group = 0, 0
    while first < publications.size:
        condition, last = conditions[first], run_end(conditions, first)
        while group_starts[group + 1] <= condition:
            group += 1
        # the slot that a group begins with is a literal, too
        for literal in range(offsets[condition] - 1, offsets[condition + 1]):
            is_first = literal < offsets[condition]
            slot = group_slots[group] if is_first else plus[literal]
            if rows[slot] >= 0:
                other = 0 if is_first else minus[literal]
                lower_by(fuzzy, slot, other, MIN, first, last, publications, degrees)
        finish(fuzzy, degrees, first, last, (0.0, 0.0))
        first = last
    return degrees


@kernel
def judge_conjunctions(programs, graded, fuzzy, publications, which):  # type: ignore[no-untyped-def]
    """The degrees of pairs of publications and programs that are conjunctions.

    Literals that are crisp, on crisp values, hold: the masks have seen to that.
    """
    degrees = np.ones((1 if fuzzy is None else 2, publications.size))
    offsets, plus, minus = programs.literal_offsets, programs.plus, programs.minus
    grades, norms, least = programs.grades, programs.norms, programs.least
    first = 0
    while first < publications.size:
        program, last = which[first], run_end(which, first)
        for literal in range(offsets[program], offsets[program + 1]):
            norm, grade = norms[program], grades[literal]
            if grade >= 0:
                lower_by_grade(graded, grade, fuzzy, norm, first, last, publications, degrees)
            elif fuzzy is not None and fuzzy.asked.rows[plus[literal]] >= 0:
                slots = plus[literal], minus[literal]
                lower_by(fuzzy, slots[0], slots[1], norm, first, last, publications, degrees)
        finish(fuzzy, degrees, first, last, (least[program, 0], least[program, 1]))
        first = last
    return degrees


@kernel(error_model="numpy")
def judge_programs(masks, programs, depth, graded, fuzzy, publications, which):  # type: ignore[no-untyped-def]
    """The degrees of pairs of publications and programs of any kind."""
    columns = 1 if fuzzy is None else 2
    degrees = np.empty((columns, publications.size))
    stack, kept = np.empty((depth, columns)), np.empty((columns, depth))
    holds, fails = np.empty(depth, np.bool_), np.empty(depth, np.bool_)
    no_weights = np.empty(0)
    # a tuple's arrays are counted every time that they are taken out of it
    table, plus_rows, minus_rows = masks
    code_offsets, code, plus, minus = (
        programs.code_offsets,
        programs.code,
        programs.plus,
        programs.minus,
    )
    grades, weights, least = programs.grades, programs.weights, programs.least
    if fuzzy is not None:
        asked, slot_rows, kinds = fuzzy.asked, fuzzy.asked.rows, fuzzy.asked.kinds
        lows, members, starts = fuzzy.asked.lows, fuzzy.asked.members, fuzzy.facts.starts
        corners, shapes = fuzzy.facts.corners, fuzzy.facts.shapes
        text_words, possible = fuzzy.facts.words, fuzzy.facts.degrees
        word_table, word_rows = fuzzy.words.table, fuzzy.words.slots
    for pair in range(publications.size):
        publication, program = publications[pair], which[pair]
        word, bit = publication >> 6, uint64(publication & 63)
        norm = programs.norms[program]
        strict = norm <= LUKASIEWICZ
        top = 0
        for at in range(code_offsets[program], code_offsets[program + 1]):
            step = code[at]
            if step >= 0:
                holds[top], fails[top] = False, False
                if grades[step] >= 0:
                    one = graded_degrees(graded, grades[step], fuzzy, publication)
                    stack[top, 0], stack[top, columns - 1], fails[top] = one
                else:
                    mask = table[plus_rows[plus[step]], word]
                    mask &= ~table[minus_rows[minus[step]], word]
                    holds[top] = (mask >> bit) & uint64(1) != 0
                    stack[top, :] = 1.0 if holds[top] else 0.0
                    if fuzzy is not None and holds[top] and slot_rows[plus[step]] >= 0:
                        row = slot_rows[plus[step]]
                        start, stop = starts[row, publication], starts[row, publication + 1]
                        if start < stop:
                            if kinds[plus[step]] == TEXT:
                                in_row, out_row = word_rows[plus[step]], word_rows[minus[step]]
                                both = text_degrees(
                                    word_table, in_row, out_row, text_words, possible, start, stop
                                )
                            else:
                                what = set_of(asked, plus[step], minus[step])
                                both = number_degrees(members, lows, what, corners, shapes, start)
                            holds[top] = False
                            stack[top, 0], stack[top, 1] = round9(both[0]), round9(both[1])
                top += 1
                continue
            operands = -step >> 1
            under = top - operands
            is_or = -step & 1 == 1
            count, is_lost = 0, False
            for operand in range(under, top):
                if not is_or and (fails[operand] or (strict and stack[operand, 0] == 0.0)):
                    is_lost = True
                if is_or or not (strict and holds[operand]):
                    for column in range(columns):
                        kept[column, count] = stack[operand, column]
                    count += 1
            holds[under], fails[under] = not is_lost and count == 0, False
            given = no_weights
            if norm == WEIGHTED:
                start = code[code_offsets[program]]
                given = weights[start : start + operands]
            for column in range(columns):
                if is_lost or count == 0:
                    stack[under, column] = 0.0 if is_lost else 1.0
                else:
                    stack[under, column] = combined(norm, is_or, kept[column, :count], given)
            top = under + 1
        for column in range(columns):
            degrees[column, pair] = stack[0, column]
        finish(fuzzy, degrees, pair, pair + 1, (least[program, 0], least[program, 1]))
    return degrees


@kernel
def split(publications, conditions, sure_publications, sure_conditions, heads, following):  # type: ignore[no-untyped-def]
    """Pairs that are not among those that are sure, which come in the same order; and these.

    Of those that are sure there is one pair for each subscription that shares the condition.
    """
    count = publications.size - sure_publications.size
    others, theirs = np.empty(count, np.int32), np.empty(count, np.int32)
    room = 0
    for condition in sure_conditions:
        number = heads[condition]
        while number >= 0:
            room += 1
            number = following[number]
    whose, numbers = np.empty(room, np.int32), np.empty(room, np.int32)
    at, sure, written = 0, 0, 0
    for pair in range(publications.size):
        publication, condition = publications[pair], conditions[pair]
        if (
            sure < sure_publications.size
            and publication == sure_publications[sure]
            and condition == sure_conditions[sure]
        ):
            sure += 1
            number = heads[condition]
            while number >= 0:
                whose[written], numbers[written] = publication, number
                written += 1
                number = following[number]
        else:
            others[at], theirs[at] = publication, condition
            at += 1
    return others, theirs, whose, numbers


@kernel
def share_out(publications, conditions, degrees, heads, following):  # type: ignore[no-untyped-def]
    """Pairs that are possible, one for each subscription that shares the condition."""
    rows, count, condition, length = degrees.shape[0], 0, -1, 0
    for pair in range(publications.size):
        if conditions[pair] != condition:  # the pairs of a condition come together
            condition, length = conditions[pair], 0
            number = heads[condition]
            while number >= 0:
                length += 1
                number = following[number]
        count += length if degrees[0, pair] > 0.0 else 0
    whose, numbers = np.empty(count, np.int32), np.empty(count, np.int32)
    shared, at = np.empty((rows, count)), 0
    for pair in range(publications.size):
        if degrees[0, pair] > 0.0:
            number = heads[conditions[pair]]
            while number >= 0:
                whose[at], numbers[at] = publications[pair], number
                shared[0, at] = degrees[0, pair]
                if rows == 2:
                    shared[1, at] = degrees[1, pair]
                at += 1
                number = following[number]
    return whose, numbers, shared[0], shared[-1]
