"""Possibility and necessity of conditions where fuzzy values were published.

A literal is judged by its own set where the publication's value is fuzzy and of its type. Where the
value is crisp the masks have told already whether the literal holds, or its grade tells how far.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, uint64

from shortlist.matching.kernels.grades import (
    LUKASIEWICZ,
    MIN,
    NECESSITY,
    POSSIBILITY,
    PRODUCT,
    WEIGHTED,
    combined,
    degree,
    linear,
    read,
    widths,
)
from shortlist.matching.kernels.heights import over_range, over_rest, over_set
from shortlist.matching.kernels.rounding import round9

Array = npt.NDArray[Any]

OTHER, BELOW, RANGE, ANY_OF, TYPED, TEXT = range(6)
"""What a slot asks: nothing of fuzzy values, or something of numbers, or of texts."""


class Asked(NamedTuple):
    """What each slot of a segment asks of fuzzy values.

    `rows` are those of `Facts` where the slot looks, -1 where nothing fuzzy was published. A range
    is from `lows` to `highs`; of an end, these are the number after it and the one before it.
    """

    kinds: Array
    rows: Array
    lows: Array
    highs: Array
    low_open: Array
    high_open: Array
    first_any_of: int
    offsets: Array
    members: Array


class Facts(NamedTuple):
    """Fuzzy values: in row r, publication p has those from `starts[r, p]` to the next start.

    Of a row of numbers that is one value, by its corners and shapes; of a row of texts it is words
    and their degrees.
    """

    starts: Array
    corners: Array
    shapes: Array
    words: Array
    degrees: Array


class Words(NamedTuple):
    """Masks over the words of fuzzy texts, in place of publications, and their grades."""

    table: Array
    slots: Array
    grades: Array
    """By attribute of the segment's grades, and word."""


class Graded(NamedTuple):
    """The grades of a segment's literals, and the crisp values that they grade."""

    attributes: Array
    is_text: Array
    parameters: Array
    rows: Array
    """Of `Facts`, by attribute; -1 where nothing fuzzy was published."""
    starts: Array
    elements: Array
    singles: Array


@njit(cache=True, error_model="numpy")
def set_of(  # type: ignore[no-untyped-def]
    kinds, lows, highs, low_open, high_open, first_any_of, offsets, members, plus, minus
):
    """The numbers of which a crisp literal holds: a range, or points, or all but these."""
    first, last, inverted = 0, 0, False
    low, high, without_low, without_high = -math.inf, math.inf, False, False
    slot = plus
    if kinds[plus] == BELOW:
        if minus == 0:
            high, without_high = lows[plus], True
        elif math.isnan(lows[plus]):  # above all numbers
            low, without_low = highs[minus], True
        else:
            low, high = lows[minus], highs[plus]
        slot = 0
    elif kinds[plus] == TYPED:
        slot = minus
        if kinds[minus] == BELOW:
            low, slot = lows[minus], 0
        else:
            inverted = minus != 0
    if kinds[slot] == ANY_OF:
        first = offsets[slot - first_any_of]
        last = offsets[slot - first_any_of + 1]
        slot = members[first]
        if lows[slot] != highs[slot]:
            # what is before a number, and what is after it
            low, high = highs[slot], highs[slot]
            first, last, inverted, slot = 0, 0, not inverted, 0
    if first == last and kinds[slot] == RANGE:
        low, high = lows[slot], highs[slot]
        without_low, without_high = low_open[slot], high_open[slot]
    return low, high, without_low, without_high, first, last, inverted


@njit(cache=True, error_model="numpy", inline="always")
def number_degrees(members, lows, what, corners, shapes, at):  # type: ignore[no-untyped-def]
    """Of a crisp literal on a fuzzy number."""
    low, high, low_open, high_open, first, last, inverted = what
    m1, m2, m3, m4 = corners[at, 0], corners[at, 1], corners[at, 2], corners[at, 3]
    left, right = shapes[at, 0], shapes[at, 1]
    if first < last:
        inside, outside = 0.0, 1.0
        for member in range(first, last):
            point = lows[members[member]]
            one = over_range(point, point, False, False, m1, m2, m3, m4, left, right)
            inside = max(inside, one)
            if m1 == point and m4 == point:
                outside = 0.0
    else:
        inside, outside = 1.0, 0.0
        if not (low < m1 and m4 < high):
            inside = over_range(low, high, low_open, high_open, m1, m2, m3, m4, left, right)
            outside = 1.0
        if outside == 1.0 and inside == 1.0:  # otherwise the core has no part in it
            before = over_range(-math.inf, low, False, not low_open, m1, m2, m3, m4, left, right)
            after = over_range(high, math.inf, not high_open, False, m1, m2, m3, m4, left, right)
            outside = max(before, after)
    if inverted:
        inside, outside = outside, inside
    return inside, 1 - outside


@njit(cache=True, error_model="numpy", inline="always")
def text_degrees(table, plus_row, minus_row, words, possible, start, stop):  # type: ignore[no-untyped-def]
    """Of a crisp literal on a fuzzy text, whose words are so possible."""
    inside, outside = 0.0, 0.0
    for at in range(start, stop):
        word = words[at]
        mask = table[plus_row, word >> 6] & ~table[minus_row, word >> 6]
        if (mask >> uint64(word & 63)) & uint64(1) != 0:
            inside = max(inside, possible[at])
        else:
            outside = max(outside, possible[at])
    return 1 - (1 - inside), 1 - outside


@njit(cache=True, error_model="numpy", inline="always")
def graded_number(rest, corners, shapes, at, needs_necessity):  # type: ignore[no-untyped-def]
    """Of a fuzzy literal on a fuzzy number; a necessity that is not needed is 0."""
    t1, t2, t3, t4, t_left, t_right, power, negated = rest
    target = t1, t2, t3, t4, t_left, t_right
    m1, m2, m3, m4 = corners[at, 0], corners[at, 1], corners[at, 2], corners[at, 3]
    left, right = shapes[at, 0], shapes[at, 1]
    root = 1 / power
    inside, outside = 1.0, 1.0
    if needs_necessity or not negated:
        inside = over_set(target, root, m1, m2, m3, m4, left, right)
    if needs_necessity or negated:
        outside = over_rest(target, root, m1, m2, m3, m4, left, right)
    if negated:
        inside, outside = outside, inside
    return inside, 1 - outside


@njit(cache=True, error_model="numpy", inline="always")
def graded_text(rest, grades, attribute, words, possible, start, stop):  # type: ignore[no-untyped-def]
    """Of a fuzzy literal on a fuzzy text, whose words are so possible."""
    power, negated = rest[6], rest[7]
    high, low = 0.0, 1.0
    for at in range(start, stop):
        one = grades[attribute, words[at]]
        if power != 1.0:
            one = math.pow(one, power)
        high, low = max(high, min(one, possible[at])), min(low, max(one, 1 - possible[at]))
    if negated:
        high, low = 1 - low, 1 - high
    return high, low


@njit(cache=True, error_model="numpy")
def graded_degrees(words, facts, graded, grade, publication):  # type: ignore[no-untyped-def]
    """Of a fuzzy literal, rounded; 0 where there is no value, and where one is under its threshold.

    The last of three answers is whether it is.
    """
    attribute = graded.attributes[grade]
    on_text, rest = graded.is_text[attribute], read(graded.parameters, grade)
    row = graded.rows[attribute]
    start, stop = 0, 0
    if row >= 0:
        start, stop = facts.starts[row, publication], facts.starts[row, publication + 1]
    if start < stop:
        if on_text:
            possibility, necessity = graded_text(
                rest, words.grades, attribute, facts.words, facts.degrees, start, stop
            )
        else:
            possibility, necessity = graded_number(rest, facts.corners, facts.shapes, start, True)
        possibility, necessity = round9(possibility), round9(necessity)
    else:
        start = graded.starts[attribute, publication]
        stop = graded.starts[attribute, publication + 1]
        one = degree(start, stop, graded.elements, on_text, *rest) if start < stop else 0.0
        possibility = necessity = round9(one)
    least = graded.parameters[grade, POSSIBILITY], graded.parameters[grade, NECESSITY]
    if possibility < least[0] or necessity < least[1]:
        return 0.0, 0.0, True
    return possibility, necessity, False


@njit(cache=True, error_model="numpy")
def lower_by_grade(words, facts, graded, grade, norm, first, last, publications, degrees):  # type: ignore[no-untyped-def]
    """Adds a fuzzy literal to a conjunction under a strict norm, for some publications."""
    attribute = graded.attributes[grade]
    on_text, rest = graded.is_text[attribute], read(graded.parameters, grade)
    row = graded.rows[attribute]
    least = graded.parameters[grade, POSSIBILITY], graded.parameters[grade, NECESSITY]
    m1, m2, m3, m4, left, right, power, negated = rest
    left_width, right_width = widths(m1, m2, m3, m4, left, right)
    is_plain = not (on_text or negated or math.isnan(left_width)) and power == 1.0
    rounds = norm != MIN or least[0] > 0.0 or least[1] > 0.0
    starts, corners, shapes = facts.starts, facts.corners, facts.shapes
    text_words, possible, word_grades = facts.words, facts.degrees, words.grades
    element_starts, elements, singles = graded.starts, graded.elements, graded.singles
    start, stop = 0, 0
    for pair in range(first, last):
        publication = publications[pair]
        if row >= 0:
            start, stop = starts[row, publication], starts[row, publication + 1]
        if start < stop:
            if on_text:
                possibility, necessity = graded_text(
                    rest, word_grades, attribute, text_words, possible, start, stop
                )
            else:
                # what is not at all necessary stays so
                needed = degrees[pair, 1] > 0.0 or least[1] > 0.0
                possibility, necessity = graded_number(rest, corners, shapes, start, needed)
        else:
            single = singles[attribute, publication]
            if is_plain and not math.isnan(single):
                possibility = linear(single, m1, m2, m3, m4, left_width, right_width)
            else:
                at = element_starts[attribute, publication]
                end = element_starts[attribute, publication + 1]
                possibility = degree(at, end, elements, on_text, *rest)
            necessity = possibility
        if rounds:
            possibility, necessity = round9(possibility), round9(necessity)
        if possibility < least[0] or necessity < least[1]:
            possibility = 0.0
        lower(norm, degrees, pair, possibility, necessity)


@njit(cache=True, error_model="numpy")
def lower_by_number(  # type: ignore[no-untyped-def]
    what, members, lows, row, starts, corners, shapes, norm, first, last, publications, degrees
):
    """Adds a crisp literal to a conjunction under a strict norm, for some publications.

    Where a value is crisp the literal holds: otherwise the masks would not have let it pass.
    """
    for pair in range(first, last):
        publication = publications[pair]
        at = starts[row, publication]
        if at < starts[row, publication + 1]:
            one = number_degrees(members, lows, what, corners, shapes, at)
            lower_rounded(norm, degrees, pair, one[0], one[1])


@njit(cache=True, error_model="numpy")
def lower_by_text(  # type: ignore[no-untyped-def]
    table,
    plus_row,
    minus_row,
    row,
    starts,
    words,
    possible,
    norm,
    first,
    last,
    publications,
    degrees,
):
    """As `lower_by_number`, of a literal on texts."""
    for pair in range(first, last):
        publication = publications[pair]
        start, stop = starts[row, publication], starts[row, publication + 1]
        if start < stop:
            one = text_degrees(table, plus_row, minus_row, words, possible, start, stop)
            lower_rounded(norm, degrees, pair, one[0], one[1])


@njit(cache=True, error_model="numpy")
def lower_by(asked, facts, words, plus, minus, norm, first, last, publications, degrees):  # type: ignore[no-untyped-def]
    """Adds a crisp literal, which looks where something fuzzy was published."""
    row, lows, members, starts = asked.rows[plus], asked.lows, asked.members, facts.starts
    if asked.kinds[plus] == TEXT:
        rows = words.slots[plus], words.slots[minus], row
        run = norm, first, last, publications, degrees
        lower_by_text(words.table, *rows, starts, facts.words, facts.degrees, *run)
    else:
        what = set_of(
            asked.kinds,
            lows,
            asked.highs,
            asked.low_open,
            asked.high_open,
            asked.first_any_of,
            asked.offsets,
            members,
            plus,
            minus,
        )
        run = norm, first, last, publications, degrees
        lower_by_number(what, members, lows, row, starts, facts.corners, facts.shapes, *run)


@njit(cache=True, error_model="numpy")
def lower_rounded(norm, degrees, pair, possibility, necessity):  # type: ignore[no-untyped-def]
    if norm != MIN:
        possibility, necessity = round9(possibility), round9(necessity)
    lower(norm, degrees, pair, possibility, necessity)


@njit(cache=True, error_model="numpy")
def lower(norm, degrees, pair, possibility, necessity):  # type: ignore[no-untyped-def]
    """Adds one pair of rounded degrees to a conjunction; what is impossible decides it.

    As rounding keeps the order, the least of several may be rounded once, in the end.
    """
    if possibility == 0.0:
        degrees[pair, 0], degrees[pair, 1] = 0.0, 0.0
    elif norm == MIN:
        degrees[pair, 0] = min(degrees[pair, 0], possibility)
        degrees[pair, 1] = min(degrees[pair, 1], necessity)
    elif norm == PRODUCT:
        degrees[pair, 0] *= possibility
        degrees[pair, 1] *= necessity
    else:
        degrees[pair, 0] = max(0.0, degrees[pair, 0] + possibility - 1)
        degrees[pair, 1] = max(0.0, degrees[pair, 1] + necessity - 1)


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
