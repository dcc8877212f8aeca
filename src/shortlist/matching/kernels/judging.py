"""Degrees of pairs of publications and conditions: of one number each where all values are crisp,
otherwise possibility and necessity, in two rows.
"""

import numpy as np
from numba import uint64

from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.conditions import with_room
from shortlist.matching.kernels.grades import (
    LUKASIEWICZ,
    MIN,
    WEIGHTED,
    combined,
    degree,
    read,
    straight_edges,
)
from shortlist.matching.kernels.literals import (
    crisp_degrees,
    graded_degrees,
    lower_by,
    lower_by_grade,
    lower_by_singles,
    put_off_grade,
    settle_grades,
)
from shortlist.matching.kernels.meetings import FULL, no_meetings
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
        possibility, necessity = round9(degrees[0, pair]), round9(degrees[1, pair])
        if possibility == 0.0 or possibility < least[0] or necessity < least[1]:
            possibility, necessity = 0.0, 0.0
        degrees[0, pair], degrees[1, pair] = possibility, necessity


@kernel
def judge_conjunctions(programs, graded, fuzzy, publications, which):  # type: ignore[no-untyped-def]
    """The degrees of pairs of publications and programs that are conjunctions.

    Literals that are crisp, on crisp values, hold: the masks have seen to that.
    """
    degrees = np.ones((1 if fuzzy is None else 2, publications.size))
    offsets, plus, minus = programs.literal_offsets, programs.plus, programs.minus
    grades, norms, least = programs.grades, programs.norms, programs.least
    if fuzzy is not None:
        # a tuple's arrays are counted every time that they are taken out of it
        attributes, is_text, parameters = graded.attributes, graded.is_text, graded.parameters
        singles, element_starts, elements = graded.singles, graded.starts, graded.elements
        facts = borrowed((fuzzy.facts.starts, fuzzy.facts.corners, fuzzy.facts.shapes))
        is_usual, rows, asked_rows = fuzzy.facts.is_usual, fuzzy.rows, fuzzy.asked.rows
        most = fuzzy.facts.starts.shape[1]
        _, _, counts = meetings = no_meetings(3 * most)
        some = np.empty(most, np.int32)
        high, low = degrees[0], degrees[1]
    first, done = 0, 0
    while first < publications.size:
        program, last = which[first], run_end(which, first)
        norm = norms[program]
        for literal in range(offsets[program], offsets[program + 1]):
            grade = grades[literal]
            if fuzzy is None:
                if grade >= 0:
                    lower_by_grade(graded, grade, fuzzy, norm, first, last, publications, degrees)
                continue
            if grade < 0:
                if asked_rows[plus[literal]] >= 0:
                    slots = plus[literal], minus[literal]
                    lower_by(fuzzy, slots[0], slots[1], norm, first, last, publications, degrees)
                continue
            attribute = attributes[grade]
            straight = straight_edges(parameters, grade)
            if norm != MIN or is_text[attribute] or not is_usual or np.isnan(straight[4]):
                lower_by_grade(graded, grade, fuzzy, norm, first, last, publications, degrees)
                continue
            left = lower_by_singles(
                straight, singles, attribute, first, last, publications, high, low, some
            )
            row = rows[attribute]
            if row >= 0:
                left = put_off_grade(
                    straight, grade, row, facts, some, left, publications, high, low, meetings
                )
                if max(counts[0], counts[1], counts[2]) > FULL:
                    settle_grades(graded, fuzzy, meetings, publications, degrees)
            for at in range(left):
                pair = some[at]
                start = element_starts[attribute, publications[pair]]
                stop = element_starts[attribute, publications[pair] + 1]
                one = degree(start, stop, elements, False, *read(parameters, grade))
                high[pair], low[pair] = min(high[pair], one), min(low[pair], one)
        first = last
        if fuzzy is not None:
            if last < publications.size and last - done < FULL:
                continue
            settle_grades(graded, fuzzy, meetings, publications, degrees)
        while done < last:
            program, end = which[done], run_end(which, done)
            finish(fuzzy, degrees, done, end, (least[program, 0], least[program, 1]))
            done = end
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
    code_offsets, code = programs.code_offsets, programs.code
    plus, minus = programs.plus, programs.minus
    grades, weights, least = programs.grades, programs.weights, programs.least
    if fuzzy is not None:
        asked, facts, words = borrowed((fuzzy.asked, fuzzy.facts, fuzzy.words))
        slot_rows, starts = asked.rows, facts.starts
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
                    stack[top, 0] = stack[top, columns - 1] = 1.0 if holds[top] else 0.0
                    if fuzzy is not None and holds[top] and slot_rows[plus[step]] >= 0:
                        surely = table[minus_rows[plus[step]], word]
                        surely &= ~table[plus_rows[minus[step]], word]
                        row = slot_rows[plus[step]]
                        if (surely >> bit) & uint64(1) != 0:
                            top += 1
                            continue
                        start, stop = starts[row, publication], starts[row, publication + 1]
                        if start < stop:
                            slot, other = plus[step], minus[step]
                            both = crisp_degrees(asked, facts, words, slot, other, start, stop)
                            holds[top] = False
                            stack[top, 0], stack[top, 1] = round9(both[0]), round9(both[1])
                top += 1
                continue
            operands = -step >> 1
            under = top - operands
            is_or = -step & 1 == 1
            if norm == MIN:
                is_lost = False
                for operand in range(under, top):
                    is_lost |= fails[operand] and not is_or
                for column in range(columns):
                    one = stack[under, column]
                    for operand in range(under + 1, top):
                        other = stack[operand, column]
                        one = max(one, other) if is_or else min(one, other)
                    stack[under, column] = 0.0 if is_lost else one
                fails[under] = False
                top = under + 1
                continue
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
def share_out(publications, conditions, degrees, lists, found):  # type: ignore[no-untyped-def]
    """Adds pairs that are possible to those found, one for each who shares the condition."""
    heads, following = lists
    pairs, shared, count = found
    needed = count + 1
    for condition in conditions:
        number = heads[condition]
        while number >= 0:
            needed += 1
            number = following[number]
    pairs, shared = with_room(pairs, needed), with_room(shared, needed)
    for pair in range(publications.size):
        number = heads[conditions[pair]]
        while number >= 0:
            pairs[0, count], pairs[1, count] = publications[pair], number
            shared[0, count] = degrees[0, pair]
            if degrees.shape[0] == 2:
                shared[1, count] = degrees[1, pair]
            count += 1 if degrees[0, pair] > 0.0 else 0
            number = following[number]
    return pairs, shared, count
