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


@njit(cache=True, error_model="numpy", inline="always")
def set_of(asked, plus, minus):  # type: ignore[no-untyped-def]
    """The numbers of which a crisp literal holds: a range, or points, or all but these."""
    first, last, inverted = 0, 0, False
    low, high, low_open, high_open = -math.inf, math.inf, False, False
    slot = plus
    if asked.kinds[plus] == BELOW:
        if minus == 0:
            high, high_open = asked.lows[plus], True
        elif math.isnan(asked.lows[plus]):  # above all numbers
            low, low_open = asked.highs[minus], True
        else:
            low, high = asked.lows[minus], asked.highs[plus]
        slot = 0
    elif asked.kinds[plus] == TYPED:
        slot = minus
        if asked.kinds[minus] == BELOW:
            low, slot = asked.lows[minus], 0
        else:
            inverted = minus != 0
    if asked.kinds[slot] == ANY_OF:
        first = asked.offsets[slot - asked.first_any_of]
        last = asked.offsets[slot - asked.first_any_of + 1]
        slot = asked.members[first]
        if asked.lows[slot] != asked.highs[slot]:
            # what is before a number, and what is after it
            low, high = asked.highs[slot], asked.highs[slot]
            first, last, inverted, slot = 0, 0, not inverted, 0
    if first == last and asked.kinds[slot] == RANGE:
        low, high = asked.lows[slot], asked.highs[slot]
        low_open, high_open = asked.low_open[slot], asked.high_open[slot]
    return low, high, low_open, high_open, first, last, inverted


@njit(cache=True, error_model="numpy", inline="always")
def number_degrees(members, lows, what, facts, at):  # type: ignore[no-untyped-def]
    """Of a crisp literal on a fuzzy number."""
    low, high, low_open, high_open, first, last, inverted = what
    m1, m2, m3, m4 = (
        facts.corners[at, 0],
        facts.corners[at, 1],
        facts.corners[at, 2],
        facts.corners[at, 3],
    )
    left, right = facts.shapes[at, 0], facts.shapes[at, 1]
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
def text_degrees(words, facts, plus, minus, start, stop):  # type: ignore[no-untyped-def]
    """Of a crisp literal on a fuzzy text."""
    inside, outside = 0.0, 0.0
    plus_row, minus_row = words.slots[plus], words.slots[minus]
    for at in range(start, stop):
        word = facts.words[at]
        mask = words.table[plus_row, word >> 6] & ~words.table[minus_row, word >> 6]
        if (mask >> uint64(word & 63)) & uint64(1) != 0:
            inside = max(inside, facts.degrees[at])
        else:
            outside = max(outside, facts.degrees[at])
    return 1 - (1 - inside), 1 - outside


@njit(cache=True, error_model="numpy", inline="always")
def fact_degrees(words, facts, attribute, on_text, rest, start, stop, needs_necessity):  # type: ignore[no-untyped-def]
    """Of a fuzzy literal on a fuzzy value; a necessity that is not needed is 0."""
    m1, m2, m3, m4, left, right, power, negated = rest
    if on_text:
        possibility, necessity = 0.0, 1.0
        for at in range(start, stop):
            one = words.grades[attribute, facts.words[at]]
            if power != 1.0:
                one = math.pow(one, power)
            possibility = max(possibility, min(one, facts.degrees[at]))
            necessity = min(necessity, max(one, 1 - facts.degrees[at]))
        return (1 - necessity, 1 - possibility) if negated else (possibility, necessity)
    target = m1, m2, m3, m4, left, right
    published = (
        facts.corners[start, 0],
        facts.corners[start, 1],
        facts.corners[start, 2],
        facts.corners[start, 3],
        facts.shapes[start, 0],
        facts.shapes[start, 1],
    )
    root = 1 / power
    inside, outside = 1.0, 1.0
    if needs_necessity or not negated:
        inside = over_set(target, root, *published)
    if needs_necessity or negated:
        outside = over_rest(target, root, *published)
    return (outside, 1 - inside) if negated else (inside, 1 - outside)


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
        both = fact_degrees(words, facts, attribute, on_text, rest, start, stop, True)
        possibility, necessity = round9(both[0]), round9(both[1])
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
    start, stop = 0, 0
    for pair in range(first, last):
        publication = publications[pair]
        if row >= 0:
            start, stop = facts.starts[row, publication], facts.starts[row, publication + 1]
        if start < stop:
            # what is not at all necessary stays so
            needed = degrees[pair, 1] > 0.0 or least[1] > 0.0
            possibility, necessity = fact_degrees(
                words, facts, attribute, on_text, rest, start, stop, needed
            )
        else:
            single = graded.singles[attribute, publication]
            if is_plain and not math.isnan(single):
                possibility = linear(single, m1, m2, m3, m4, left_width, right_width)
            else:
                at = graded.starts[attribute, publication]
                end = graded.starts[attribute, publication + 1]
                possibility = degree(at, end, graded.elements, on_text, *rest)
            necessity = possibility
        if rounds:
            possibility, necessity = round9(possibility), round9(necessity)
        if possibility < least[0] or necessity < least[1]:
            possibility = 0.0
        lower(norm, degrees, pair, possibility, necessity)


@njit(cache=True, error_model="numpy")
def lower_by(asked, facts, words, plus, minus, norm, first, last, publications, degrees):  # type: ignore[no-untyped-def]
    """Adds a crisp literal to a conjunction under a strict norm, for some publications.

    Where it is judged by what is crisp it holds: otherwise the masks would not have let it pass.
    """
    row = asked.rows[plus]
    if row < 0:
        return
    on_text = asked.kinds[plus] == TEXT
    what = set_of(asked, plus, minus)
    for pair in range(first, last):
        publication = publications[pair]
        start, stop = facts.starts[row, publication], facts.starts[row, publication + 1]
        if start == stop:
            continue
        if on_text:
            one = text_degrees(words, facts, plus, minus, start, stop)
        else:
            one = number_degrees(asked.members, asked.lows, what, facts, start)
        if norm == MIN:
            lower(norm, degrees, pair, one[0], one[1])
        else:
            lower(norm, degrees, pair, round9(one[0]), round9(one[1]))


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
        possibility, necessity = round9(degrees[pair, 0]), round9(degrees[pair, 1])
        if possibility == 0.0 or possibility < least[0] or necessity < least[1]:
            possibility, necessity = 0.0, 0.0
        degrees[pair, 0], degrees[pair, 1] = possibility, necessity


@njit(cache=True, error_model="numpy")
def judge_plain(  # type: ignore[no-untyped-def]
    group_slots, group_starts, offsets, plus, minus, asked, facts, words, publications, conditions
):
    """The degrees of pairs of publications and plain conjunctions, which come ascending."""
    degrees = np.ones((publications.size, 2))
    first, group = 0, 0
    while first < publications.size:
        condition, last = conditions[first], run_end(conditions, first)
        while group_starts[group + 1] <= condition:
            group += 1
        run = MIN, first, last, publications, degrees
        lower_by(asked, facts, words, group_slots[group], 0, *run)
        for literal in range(offsets[condition], offsets[condition + 1]):
            lower_by(asked, facts, words, plus[literal], minus[literal], *run)
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
    first = 0
    while first < publications.size:
        program, last = programs[first], run_end(programs, first)
        norm = norms[program]
        for literal in range(literal_offsets[program], literal_offsets[program + 1]):
            grade = grades[literal]
            if grade < 0:
                run = norm, first, last, publications, degrees
                lower_by(asked, facts, words, plus[literal], minus[literal], *run)
                continue
            run = norm, first, last, publications, degrees
            lower_by_grade(words, facts, graded, grade, *run)
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
                    stack[top] = 1.0 if is_possible else 0.0
                    row, start, stop = asked.rows[plus[step]], 0, 0
                    if row >= 0:
                        start = facts.starts[row, publication]
                        stop = facts.starts[row, publication + 1]
                    holds[top] = is_possible and start == stop
                    if is_possible and start < stop:
                        if asked.kinds[plus[step]] == TEXT:
                            both = text_degrees(words, facts, plus[step], minus[step], start, stop)
                        else:
                            what = set_of(asked, plus[step], minus[step])
                            both = number_degrees(asked.members, asked.lows, what, facts, start)
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
            if is_lost:
                stack[under] = 0.0
            elif count == 0:
                stack[under] = 1.0
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
