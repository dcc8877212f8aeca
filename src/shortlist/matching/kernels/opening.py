"""Degrees of pairs that open literals decide, each of them an entry of `levels`."""

import math

import numpy as np

from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.literals import BELOW, RANGE, TYPED, crisp_degrees
from shortlist.matching.kernels.meetings import FULL, SHAPES, no_meetings, put_off, settle
from shortlist.matching.kernels.rounding import round9

IS_FULL, IS_SOME = 1, 2
"""Flags of an entry: the condition is fully possible, and certain to some degree."""


@kernel(error_model="numpy")
def judge_open(fuzzy, entries, count, least, first_number):  # type: ignore[no-untyped-def]
    """Publications, conditions and degrees, in place of the entries.

    Conditions have least degrees by number, from a first one on.
    """
    fuzzy, degrees, pair = borrowed(fuzzy), np.empty((2, count)), -1
    meetings = no_meetings(3 * FULL)
    for first in range(0, count, FULL):
        last = min(first + FULL, count)
        pair = put_off_open(fuzzy, entries, first, last, pair, degrees, meetings)
        settle_open(fuzzy, entries, meetings, degrees)
    pairs = pair + 1
    for pair in range(pairs):
        high, low = round9(degrees[0, pair]), round9(degrees[1, pair])
        if least is not None:
            floors = least[entries[1, pair] - first_number]
            high = 0.0 if high < floors[0] or low < floors[1] else high
        entries[0, pair] >>= 2
        degrees[0, pair], degrees[1, pair] = high, low
    return entries[0, :pairs], entries[1, :pairs], degrees[:, :pairs]


@kernel(error_model="numpy")
def put_off_open(fuzzy, entries, first, last, pair, degrees, meetings):  # type: ignore[no-untyped-def]
    """Degrees of pairs before their open literals meet; the answer is the last of these pairs.

    Entries become pairs, of which there are no more.
    """
    kinds, rows = fuzzy.asked.kinds, fuzzy.asked.rows
    lows, highs = fuzzy.asked.lows, fuzzy.asked.highs
    numbers, whose, counts = meetings
    starts, is_usual = fuzzy.facts.starts, fuzzy.facts.is_usual
    corners, shapes = fuzzy.facts.corners, fuzzy.facts.shapes
    for entry in range(first, last):
        flagged, condition = entries[0, entry], entries[1, entry]
        slot, other = entries[2, entry], entries[3, entry]
        if pair < 0 or flagged != entries[0, pair] or condition != entries[1, pair]:
            pair += 1
            entries[0, pair], entries[1, pair] = flagged, condition
            degrees[0, pair], degrees[1, pair] = 1.0, 1.0 if flagged & IS_SOME else 0.0
        # most sets are ranges, or all but a range, as `set_of` tells them
        kind, until = kinds[slot], kinds[other]
        inverted = kind == TYPED and until == RANGE
        low = lows[slot] if kind == RANGE else lows[other]
        high = lows[slot] if kind == BELOW and other == 0 else highs[other if inverted else slot]
        ends = other == 0 or until == BELOW
        is_range = inverted or (kind == RANGE and other == 0)
        is_range |= ends and kind in (BELOW, TYPED)
        if not (is_usual and is_range and low < high) or math.isnan(lows[slot]):
            lower_open(fuzzy, slot, other, flagged, degrees, pair)
            continue
        fact = starts[rows[slot], flagged >> 2]
        m1, m2, m3, m4 = corners[fact, 0], corners[fact, 1], corners[fact, 2], corners[fact, 3]
        left, right = shapes[fact, 0], shapes[fact, 1]
        left_width, right_width = m2 - m1, m4 - m3
        below, above, inner, outer = m2 - high, low - m3, m2 - low, high - m3
        is_at_end = below == 0.0 or above == 0.0 or inner == 0.0 or outer == 0.0
        is_at_end |= math.isnan(inner) or math.isnan(outer)  # both have no end there
        if is_at_end or (inverted and inner < left_width and outer < right_width):
            lower_open(fuzzy, slot, other, flagged, degrees, pair)
            continue
        needs_high, needs_low = not flagged & IS_FULL, flagged & IS_SOME != 0
        if needs_low if inverted else needs_high:
            is_below = below > above
            gap, shape = max(below, above), left if is_below else right
            width = left_width if is_below else right_width
            put_off(numbers, whose, counts, shape, gap, 0.0, width, 2 * pair + inverted, entry)
            if inverted and gap < 0.0:
                degrees[1, pair] = 0.0
            elif not inverted and 0.0 < gap >= width:
                degrees[0, pair] = 0.0
        if needs_high if inverted else needs_low:
            whom = 2 * pair + (not inverted)
            put_off(numbers, whose, counts, left, inner, 0.0, left_width, whom, entry)
            put_off(numbers, whose, counts, right, outer, 0.0, right_width, whom, entry)
            if not inverted and (inner < 0.0 or outer < 0.0):
                degrees[1, pair] = 0.0
            elif inverted and inner >= left_width and outer >= right_width:
                degrees[0, pair] = 0.0
    return pair


@kernel(error_model="numpy")
def settle_open(fuzzy, entries, meetings, degrees):  # type: ignore[no-untyped-def]
    """Settles all that `put_off_open` has put off."""
    numbers, whose, counts = meetings
    for shape in range(SHAPES):
        for at in range(settle(numbers, whose, counts, shape, True, degrees)):
            pair, entry = whose[shape, 0, at] >> 1, whose[shape, 1, at]
            slot, other = entries[2, entry], entries[3, entry]
            lower_open(fuzzy, slot, other, entries[0, pair], degrees, pair)


@kernel(error_model="numpy")
def lower_open(fuzzy, slot, other, flagged, degrees, pair):  # type: ignore[no-untyped-def]
    """Lowers the degrees of a pair, as far as masks have not told them, by an open literal."""
    asked, facts, words = fuzzy.asked, fuzzy.facts, fuzzy.words
    row, publication = asked.rows[slot], flagged >> 2
    start, stop = facts.starts[row, publication], facts.starts[row, publication + 1]
    both = crisp_degrees(asked, facts, words, slot, other, start, stop)
    if not flagged & IS_FULL:
        degrees[0, pair] = min(degrees[0, pair], both[0])
    degrees[1, pair] = min(degrees[1, pair], both[1])
