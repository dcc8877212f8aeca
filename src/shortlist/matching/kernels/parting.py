"""Texts of conditions with their numbers and strings taken out, many at a time."""

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Bools, Bytes, Floats, Longs
from shortlist.matching.kernels.compiling import kernel

NUMBER, STRING, NAME, NONE, UNCLEAR = 0, 1, 2, 3, 4
"""What stands at a place: a literal, a quoted name, something else, or nobody can tell here."""

_ZERO, _NINE, _DOT, _PLUS, _MINUS = 48, 57, 46, 43, 45
_QUOTE, _DOUBLE_QUOTE, _UNDERSCORE, _SPACE, _ONE = 39, 34, 95, 32, 49
_FIRST_BEYOND_ASCII = 128
_LARGEST_EXACT = 2**53
_MOST_TENS = 22
"""Powers of ten up to this one are doubles."""
_TENS = np.array([10.0**n for n in range(_MOST_TENS + 1)])

Letters = npt.NDArray[np.uint8]


@kernel
def _is_digit(letter: int) -> bool:
    return _ZERO <= letter <= _NINE


@kernel
def _is_word(letter: int) -> bool:
    """In ASCII."""
    is_letter = 97 <= letter <= 122 or 65 <= letter <= 90
    return is_letter or _ZERO <= letter <= _NINE or letter == _UNDERSCORE


@kernel
def _quoted_end(data: Letters, at: int, stop: int) -> int:
    """Behind the quote that closes the one at a place, where two of them stand for one; -1 if
    none does."""
    quote = data[at]
    at += 1
    while at < stop:
        if data[at] == quote:
            if at + 1 < stop and data[at + 1] == quote:
                at += 1
            else:
                return at + 1
        at += 1
    return -1


@kernel
def _number_end(data: Letters, at: int, stop: int) -> int:
    """Behind the number that begins at a place, where one does."""
    while at < stop and _is_digit(data[at]):
        at += 1
    if at < stop and data[at] == _DOT:
        at += 1
        while at < stop and _is_digit(data[at]):
            at += 1
    if at < stop and (data[at] == 101 or data[at] == 69):
        power = at + 1
        if power < stop and (data[power] == _PLUS or data[power] == _MINUS):
            power += 1
        if power < stop and _is_digit(data[power]):
            while power < stop and _is_digit(data[power]):
                power += 1
            return power
    return at


@kernel
def _found(data: Letters, first: int, at: int, stop: int) -> tuple[int, int]:
    """What begins at a place of a text, and where it ends."""
    letter = data[at]
    if letter in (_QUOTE, _DOUBLE_QUOTE):
        end = _quoted_end(data, at, stop)
        if end < 0:
            return UNCLEAR, at
        return STRING if letter == _QUOTE else NAME, end
    begins = _is_digit(letter)
    if letter == _DOT:
        begins = at + 1 < stop and _is_digit(data[at + 1])
    if not begins:
        return NONE, at + 1
    if at > first:
        before = data[at - 1]
        if before >= _FIRST_BEYOND_ASCII:
            return UNCLEAR, at
        if before == _DOT or _is_word(before):
            return NONE, at + 1
    return NUMBER, _number_end(data, at, stop)


@kernel
def _value(data: Letters, at: int, stop: int) -> float:
    """The number that is written there, where doubles compute it exactly; else not a number."""
    digits, tens, has_dot = 0, 0, False
    while at < stop and data[at] != 101 and data[at] != 69:
        if data[at] == _DOT:
            has_dot = True
        else:
            digits = 10 * digits + (data[at] - _ZERO)
            tens -= has_dot
            if digits >= _LARGEST_EXACT:
                return np.nan
        at += 1
    if at < stop:
        at += 1
        is_negative = data[at] == _MINUS
        if is_negative or data[at] == _PLUS:
            at += 1
        power = 0
        while at < stop:
            power = 10 * power + (data[at] - _ZERO)
            if power > 1000:
                return np.nan
            at += 1
        tens += -power if is_negative else power
    if tens > _MOST_TENS or tens < -_MOST_TENS:
        return np.nan
    number: float = digits * _TENS[tens] if tens >= 0 else digits / _TENS[-tens]
    return number


@kernel
def part_texts(
    data: Letters, offsets: Longs
) -> tuple[Letters, Longs, Longs, Bytes, Longs, Longs, Floats, Bools]:
    """The shapes of texts, one after the other, with where each starts; where each one's literals
    start among all, with the kind, the first and the last place and the value of each; and which
    texts are unclear."""
    count = offsets.size - 1
    is_unclear = np.zeros(count, np.bool_)
    literal_offsets = np.zeros(count + 1, np.int64)
    shape_offsets = np.zeros(count + 1, np.int64)
    for text in range(count):
        first, stop = offsets[text], offsets[text + 1]
        at, literals, length = first, 0, 0
        while at < stop:
            kind, end = _found(data, first, at, stop)
            if kind == UNCLEAR:
                is_unclear[text] = True
                literals, length = 0, 0
                break
            if kind == NUMBER:
                literals, length = literals + 1, length + 3
            elif kind == STRING:
                literals, length = literals + 1, length + 4
            else:
                length += end - at
            at = end
        literal_offsets[text + 1] = literal_offsets[text] + literals
        shape_offsets[text + 1] = shape_offsets[text] + length
    shapes = np.empty(shape_offsets[count], np.uint8)
    total = literal_offsets[count]
    kinds, starts, stops = (
        np.empty(total, np.int8),
        np.empty(total, np.int64),
        np.empty(total, np.int64),
    )
    values = np.empty(total, np.float64)
    for text in range(count):
        if is_unclear[text]:
            continue
        first, stop = offsets[text], offsets[text + 1]
        at, literal, to = first, literal_offsets[text], shape_offsets[text]
        while at < stop:
            kind, end = _found(data, first, at, stop)
            if kind in (NUMBER, STRING):
                kinds[literal], starts[literal], stops[literal] = kind, at, end
                shapes[to] = _SPACE
                to += 1
                if kind == NUMBER:
                    values[literal] = _value(data, at, end)
                    shapes[to] = _ONE
                else:
                    values[literal] = 0.0
                    shapes[to] = _QUOTE
                    to += 1
                    shapes[to] = _QUOTE
                shapes[to + 1] = _SPACE
                to += 2
                literal += 1
            else:
                while at < end:
                    shapes[to] = data[at]
                    at, to = at + 1, to + 1
            at = end
    return shapes, shape_offsets, literal_offsets, kinds, starts, stops, values, is_unclear
