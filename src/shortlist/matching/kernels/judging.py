"""Possibility and necessity of conditions where fuzzy values were published."""

import numpy as np
from numba import njit, uint64

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


@njit(cache=True, error_model="numpy")
def run_end(conditions, first):  # type: ignore[no-untyped-def]
    """Where the pairs of a condition end, which come together."""
    last = first + 1
    while last < conditions.size and conditions[last] == conditions[first]:
        last += 1
    return last


@njit(cache=True, error_model="numpy")
def finish(degrees, first, last, least):  # type: ignore[no-untyped-def]
    """Rounds the degrees of some pairs; both are 0 where that is no match."""
    for pair in range(first, last):
        possibility, necessity = degrees[pair, 0], degrees[pair, 1]
        if possibility != 1.0:
            possibility = round9(possibility)
        if necessity != 0.0:
            necessity = round9(necessity)
        if possibility == 0.0 or possibility < least[0] or necessity < least[1]:
            possibility, necessity = 0.0, 0.0
        degrees[pair, 0], degrees[pair, 1] = possibility, necessity


@njit(cache=True, error_model="numpy")
def judge_plain(  # type: ignore[no-untyped-def]
    group_slots, group_starts, offsets, plus, minus, asked, facts, words, publications, conditions
):
    """The degrees of pairs of publications and plain conjunctions, which come ascending."""
    degrees = np.ones((publications.size, 2))
    rows = asked.rows
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
                run = MIN, first, last, publications, degrees
                lower_by(asked, facts, words, slot, other, *run)
        finish(degrees, first, last, (0.0, 0.0))
        first = last
    return degrees


@njit(cache=True, error_model="numpy")
def judge_conjunctions(  # type: ignore[no-untyped-def]
    literal_offsets,
    plus,
    minus,
    grades,
    norms,
    least,
    graded,
    asked,
    facts,
    words,
    publications,
    programs,
):
    """The degrees of pairs of publications and programs that are conjunctions."""
    degrees = np.ones((publications.size, 2))
    rows = asked.rows
    first = 0
    while first < publications.size:
        program, last = programs[first], run_end(programs, first)
        norm = norms[program]
        for literal in range(literal_offsets[program], literal_offsets[program + 1]):
            grade = grades[literal]
            run = norm, first, last, publications, degrees
            if grade >= 0:
                lower_by_grade(words, facts, graded, grade, *run)
            elif rows[plus[literal]] >= 0:
                lower_by(asked, facts, words, plus[literal], minus[literal], *run)
        finish(degrees, first, last, (least[program, 0], least[program, 1]))
        first = last
    return degrees


@njit(cache=True, error_model="numpy")
def judge_programs(  # type: ignore[no-untyped-def]
    table,
    plus_rows,
    minus_rows,
    code_offsets,
    code,
    plus,
    minus,
    grades,
    weights,
    norms,
    least,
    depth,
    graded,
    asked,
    facts,
    words,
    publications,
    programs,
):
    """The degrees of pairs of publications and programs of any kind."""
    degrees = np.empty((publications.size, 2))
    stack, kept = np.empty((depth, 2)), np.empty((2, depth))
    holds, fails = np.empty(depth, np.bool_), np.empty(depth, np.bool_)
    no_weights = np.empty(0)
    # a tuple's arrays are counted every time that they are taken out of it
    slot_rows, kinds, lows, highs = asked.rows, asked.kinds, asked.lows, asked.highs
    low_open, high_open = asked.low_open, asked.high_open
    offsets, members = asked.offsets, asked.members
    starts, corners, shapes = facts.starts, facts.corners, facts.shapes
    text_words, possible = facts.words, facts.degrees
    word_table, word_rows = words.table, words.slots
    for pair in range(publications.size):
        publication, program = publications[pair], programs[pair]
        word, bit = publication >> 6, uint64(publication & 63)
        norm = norms[program]
        strict = norm <= LUKASIEWICZ
        top = 0
        for at in range(code_offsets[program], code_offsets[program + 1]):
            step = code[at]
            if step >= 0:
                holds[top], fails[top] = False, False
                if grades[step] >= 0:
                    one = graded_degrees(words, facts, graded, grades[step], publication)
                    stack[top, 0], stack[top, 1], fails[top] = one
                else:
                    mask = table[plus_rows[plus[step]], word]
                    mask &= ~table[minus_rows[minus[step]], word]
                    is_possible = (mask >> bit) & uint64(1) != 0
                    stack[top, 0] = stack[top, 1] = 1.0 if is_possible else 0.0
                    row, start, stop = slot_rows[plus[step]], 0, 0
                    if row >= 0:
                        start, stop = starts[row, publication], starts[row, publication + 1]
                    holds[top] = is_possible and start == stop
                    if is_possible and start < stop:
                        if kinds[plus[step]] == TEXT:
                            in_row, out_row = word_rows[plus[step]], word_rows[minus[step]]
                            both = text_degrees(
                                word_table, in_row, out_row, text_words, possible, start, stop
                            )
                        else:
                            what = set_of(
                                kinds,
                                lows,
                                highs,
                                low_open,
                                high_open,
                                asked.first_any_of,
                                offsets,
                                members,
                                plus[step],
                                minus[step],
                            )
                            both = number_degrees(members, lows, what, corners, shapes, start)
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
                    kept[0, count], kept[1, count] = stack[operand, 0], stack[operand, 1]
                    count += 1
            holds[under], fails[under] = not is_lost and count == 0, False
            if is_lost or count == 0:
                stack[under, 0] = stack[under, 1] = 0.0 if is_lost else 1.0
            elif norm == MIN:
                high, low = kept[0, 0], kept[1, 0]
                for one in range(1, count):
                    if is_or:
                        high, low = max(high, kept[0, one]), max(low, kept[1, one])
                    else:
                        high, low = min(high, kept[0, one]), min(low, kept[1, one])
                stack[under, 0], stack[under, 1] = high, low
            else:
                given = no_weights
                if norm == WEIGHTED:
                    start = code[code_offsets[program]]
                    given = weights[start : start + operands]
                for which in range(2):
                    stack[under, which] = combined(norm, is_or, kept[which, :count], given)
            top = under + 1
        degrees[pair, 0], degrees[pair, 1] = stack[0, 0], stack[0, 1]
        finish(degrees, pair, pair + 1, (least[program, 0], least[program, 1]))
    return degrees


@njit(cache=True)
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


@njit(cache=True)
def share_out(publications, conditions, degrees, heads, following):  # type: ignore[no-untyped-def]
    """Pairs that are possible, one for each subscription that shares the condition."""
    count = 0
    for pair in range(publications.size):
        if degrees[pair, 0] > 0.0:
            number = heads[conditions[pair]]
            while number >= 0:
                count += 1
                number = following[number]
    whose, numbers = np.empty(count, np.int32), np.empty(count, np.int32)
    possibilities, necessities = np.empty(count), np.empty(count)
    at = 0
    for pair in range(publications.size):
        if degrees[pair, 0] > 0.0:
            number = heads[conditions[pair]]
            while number >= 0:
                whose[at], numbers[at] = publications[pair], number
                possibilities[at], necessities[at] = degrees[pair, 0], degrees[pair, 1]
                at += 1
                number = following[number]
    return whose, numbers, possibilities, necessities
