"""Degrees of literals: one number on crisp values, possibility and necessity on fuzzy ones.

A literal is judged by its own set where the publication's value is fuzzy and of its type. Where the
value is crisp the masks have told already whether the literal holds, or its grade tells how far.
"""

import math
from typing import Any, NamedTuple

import numpy.typing as npt
from numba import uint64

from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.grades import (
    MIN,
    NECESSITY,
    POSSIBILITY,
    PRODUCT,
    beside_range,
    degree,
    linear,
    over_range,
    over_rest,
    over_set,
    read,
    widths,
)
from shortlist.matching.kernels.meetings import SHAPES, put_off, settle
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
    is_usual: bool
    """No corner is so far away that differences might overflow."""


class Words(NamedTuple):
    """Masks over the words of fuzzy texts, in place of publications, and their grades."""

    table: Array
    slots: Array
    grades: Array
    """By attribute of the segment's grades, and word."""


class Fuzzy(NamedTuple):
    """What was published that is fuzzy; kernels get None where that is nothing."""

    asked: Asked
    facts: Facts
    words: Words
    rows: Array
    """Of `facts`, by attribute of the segment's grades; -1 where nothing fuzzy was published."""


class Graded(NamedTuple):
    """The grades of a segment's literals, and the crisp values that they grade.

    Of attribute a, publication p has the `elements` from `starts[a, p]` to the next start: numbers,
    or the degrees of its words. `singles` has them where there is one, otherwise not a number.
    """

    attributes: Array
    is_text: Array
    parameters: Array
    starts: Array
    elements: Array
    singles: Array


@kernel(error_model="numpy", inline="always")
def set_of(asked, plus, minus):  # type: ignore[no-untyped-def]
    """The numbers of which a crisp literal holds: a range, or points, or all but these."""
    kinds, lows, highs = asked.kinds, asked.lows, asked.highs
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
        first = asked.offsets[slot - asked.first_any_of]
        last = asked.offsets[slot - asked.first_any_of + 1]
        slot = asked.members[first]
        if lows[slot] != highs[slot]:
            # what is before a number, and what is after it
            low, high = highs[slot], highs[slot]
            first, last, inverted, slot = 0, 0, not inverted, 0
    if first == last and kinds[slot] == RANGE:
        low, high = lows[slot], highs[slot]
        without_low, without_high = asked.low_open[slot], asked.high_open[slot]
    return low, high, without_low, without_high, first, last, inverted


@kernel(error_model="numpy", inline="always")
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
            inside, outside = beside_range(low, high, m1, m2, m3, m4, left, right)
            if math.isnan(inside):
                inside = over_range(low, high, low_open, high_open, m1, m2, m3, m4, left, right)
                outside = 1.0
                if inside == 1.0:  # otherwise the core has no part in it
                    before = over_range(
                        -math.inf, low, False, not low_open, m1, m2, m3, m4, left, right
                    )
                    after = over_range(
                        high, math.inf, not high_open, False, m1, m2, m3, m4, left, right
                    )
                    outside = max(before, after)
    if inverted:
        inside, outside = outside, inside
    return inside, 1 - outside


@kernel(error_model="numpy", inline="always")
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


@kernel(error_model="numpy", inline="always")
def crisp_degrees(asked, facts, words, plus, minus, start, stop):  # type: ignore[no-untyped-def]
    """Of a crisp literal on a fuzzy value."""
    if asked.kinds[plus] == TEXT:
        in_row, out_row = int(words.slots[plus]), int(words.slots[minus])
        return text_degrees(words.table, in_row, out_row, facts.words, facts.degrees, start, stop)
    what = set_of(asked, plus, minus)
    return number_degrees(asked.members, asked.lows, what, facts.corners, facts.shapes, start)


@kernel(error_model="numpy", inline="always")
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


@kernel(error_model="numpy", inline="always")
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


@kernel(error_model="numpy")
def graded_degrees(graded, grade, fuzzy, publication):  # type: ignore[no-untyped-def]
    """Of a fuzzy literal, rounded; 0 where there is no value, and where one is under its threshold.

    The last of three answers is whether it is.
    """
    attribute = graded.attributes[grade]
    on_text, rest = graded.is_text[attribute], read(graded.parameters, grade)
    start, stop = graded.starts[attribute, publication], graded.starts[attribute, publication + 1]
    possibility, necessity = 0.0, 0.0
    if start < stop:
        possibility = necessity = degree(start, stop, graded.elements, on_text, *rest)
    if fuzzy is not None:
        row, facts = fuzzy.rows[attribute], fuzzy.facts
        first = facts.starts[row, publication] if row >= 0 else 0
        last = facts.starts[row, publication + 1] if row >= 0 else 0
        if first < last:
            if on_text:
                possibility, necessity = graded_text(
                    rest, fuzzy.words.grades, attribute, facts.words, facts.degrees, first, last
                )
            else:
                pair = graded_number(rest, facts.corners, facts.shapes, first, True)
                possibility, necessity = pair
    possibility, necessity = round9(possibility), round9(necessity)
    least = graded.parameters[grade, POSSIBILITY], graded.parameters[grade, NECESSITY]
    if possibility < least[0] or necessity < least[1]:
        return 0.0, 0.0, True
    return possibility, necessity, False


@kernel(inline="always")
def lower_by_grade(graded, grade, fuzzy, norm, first, last, publications, degrees):  # type: ignore[no-untyped-def]
    """Adds a fuzzy literal to a conjunction under a strict norm, for some publications."""
    attribute = graded.attributes[grade]
    on_text, rest = graded.is_text[attribute], read(graded.parameters, grade)
    least = graded.parameters[grade, POSSIBILITY], graded.parameters[grade, NECESSITY]
    floor = max(least[0], least[1])
    rounds = norm != MIN or floor > 0.0
    m1, m2, m3, m4, left, right, power, negated = rest
    left_width, right_width = widths(m1, m2, m3, m4, left, right)
    is_plain = not (on_text or negated or math.isnan(left_width)) and power == 1.0
    singles, element_starts, elements = graded.singles, graded.starts, graded.elements
    high, low, start, stop = degrees[0], degrees[-1], 0, 0
    if fuzzy is not None:
        row, starts, words = fuzzy.rows[attribute], fuzzy.facts.starts, fuzzy.words.grades
        corners, shapes = fuzzy.facts.corners, fuzzy.facts.shapes
        text_words, possible = fuzzy.facts.words, fuzzy.facts.degrees
    for pair in range(first, last):
        publication = publications[pair]
        if fuzzy is not None and row >= 0:
            start, stop = starts[row, publication], starts[row, publication + 1]
        if start == stop:
            single = singles[attribute, publication]
            if is_plain and not math.isnan(single):
                possibility = linear(single, m1, m2, m3, m4, left_width, right_width)
            else:
                at = element_starts[attribute, publication]
                end = element_starts[attribute, publication + 1]
                possibility = degree(at, end, elements, on_text, *rest)
            necessity = possibility
        elif fuzzy is not None:
            if on_text:
                possibility, necessity = graded_text(
                    rest, words, attribute, text_words, possible, start, stop
                )
            else:
                # what is not at all necessary stays so
                needed = low[pair] > 0.0 or least[1] > 0.0
                possibility, necessity = graded_number(rest, corners, shapes, start, needed)
        if fuzzy is None:
            if rounds:
                possibility = round9(possibility)
            lower(norm, high, pair, possibility if possibility >= floor else 0.0)
        else:
            if rounds:
                possibility, necessity = round9(possibility), round9(necessity)
            if possibility < least[0] or necessity < least[1]:
                possibility = 0.0
            lower(norm, high, pair, possibility)
            lower(norm, low, pair, necessity if possibility > 0.0 else 0.0)


@kernel(error_model="numpy", inline="always")
def lower_by_singles(what, singles, attribute, first, last, publications, high, low, some):  # type: ignore[no-untyped-def]
    """Lowers degrees by a grade with straight edges of those who have one crisp number.

    The answer is how many are left, which are `some`.
    """
    t1, t2, t3, t4, left_width, right_width = what
    count = 0
    for pair in range(first, last):
        single = singles[attribute, publications[pair]]
        is_known = not math.isnan(single)
        # of others, where it is 1: this spares a branch
        number = single if is_known else t2
        one = linear(number, t1, t2, t3, t4, left_width, right_width)
        high[pair], low[pair] = min(high[pair], one), min(low[pair], one)
        some[count] = pair
        count += 0 if is_known else 1
    return count


@kernel(error_model="numpy", inline="always")
def put_off_grade(what, grade, row, facts, some, count, publications, high, low, meetings):  # type: ignore[no-untyped-def]
    """Puts off what a grade with straight edges adds to some pairs; others may be among them.

    The answer is how many these are, which stay among `some`.
    """
    t1, t2, t3, t4, left_width, right_width = what
    starts, corners, shapes = facts
    numbers, whose, counts = meetings
    others = 0
    for at in range(count):
        pair = some[at]
        publication = publications[pair]
        fact = starts[row, publication]
        if fact == starts[row, publication + 1]:
            some[others] = pair
            others += 1
            continue
        m1, m2, m3, m4 = corners[fact, 0], corners[fact, 1], corners[fact, 2], corners[fact, 3]
        left, right = shapes[fact, 0], shapes[fact, 1]
        below, above = m2 - t3, t2 - m3
        is_below = below > above
        gap = max(below, above)
        straight = right_width if is_below else left_width
        published = m2 - m1 if is_below else m4 - m3
        shape = left if is_below else right
        if gap > 0.0:
            put_off(numbers, whose, counts, shape, gap, straight, published, 2 * pair, grade)
            high[pair] = 0.0 if gap >= straight + published else high[pair]
        inner, outer = m2 - t1, t4 - m3
        if inner < 0.0 or outer < 0.0:
            low[pair] = 0.0
        elif low[pair] > 0.0:
            whom = 2 * pair + 1
            put_off(numbers, whose, counts, left, inner, left_width, m2 - m1, whom, grade)
            put_off(numbers, whose, counts, right, outer, right_width, m4 - m3, whom, grade)
    return others


@kernel(error_model="numpy")
def settle_grades(graded, fuzzy, meetings, publications, degrees):  # type: ignore[no-untyped-def]
    """Settles all that `put_off_grade` has put off."""
    numbers, whose, counts = meetings
    for shape in range(SHAPES):
        for at in range(settle(numbers, whose, counts, shape, False, degrees)):
            pair, grade = whose[shape, 0, at] >> 1, whose[shape, 1, at]
            row = fuzzy.rows[graded.attributes[grade]]
            fact = fuzzy.facts.starts[row, publications[pair]]
            rest = read(graded.parameters, grade)
            both = graded_number(rest, fuzzy.facts.corners, fuzzy.facts.shapes, fact, True)
            for column in range(2):
                degrees[column, pair] = min(degrees[column, pair], both[column])


@kernel(error_model="numpy")
def lower_by(fuzzy, plus, minus, norm, first, last, publications, degrees):  # type: ignore[no-untyped-def]
    """Adds a crisp literal, which looks where something fuzzy was published, to a conjunction.

    Where a value is crisp the literal holds: otherwise the masks would not have let it pass.
    """
    asked, facts, words = fuzzy.asked, fuzzy.facts, fuzzy.words
    row, lows, members, starts = asked.rows[plus], asked.lows, asked.members, facts.starts
    on_text, what = asked.kinds[plus] == TEXT, set_of(asked, plus, minus)
    table, text_words, possible = words.table, facts.words, facts.degrees
    corners, shapes = facts.corners, facts.shapes
    high, low, in_row, out_row = degrees[0], degrees[1], 0, 0
    if on_text:
        in_row, out_row = int(words.slots[plus]), int(words.slots[minus])
    for pair in range(first, last):
        publication = publications[pair]
        start, stop = starts[row, publication], starts[row, publication + 1]
        if start < stop:
            if on_text:
                both = text_degrees(table, in_row, out_row, text_words, possible, start, stop)
            else:
                both = number_degrees(members, lows, what, corners, shapes, start)
            if norm != MIN:
                both = round9(both[0]), round9(both[1])
            lower(norm, high, pair, both[0])
            lower(norm, low, pair, both[1] if both[0] > 0.0 else 0.0)


@kernel(error_model="numpy")
def lower(norm, degrees, pair, degree):  # type: ignore[no-untyped-def]
    """Adds one rounded degree to a conjunction; 0 decides it.

    As rounding keeps the order, the least of several may be rounded once, in the end.
    """
    if norm == MIN or degree == 0.0:
        degrees[pair] = min(degrees[pair], degree)
    elif norm == PRODUCT:
        degrees[pair] *= degree
    else:
        degrees[pair] = max(0.0, degrees[pair] + degree - 1)
