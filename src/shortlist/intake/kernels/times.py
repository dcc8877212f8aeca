"""Times as RFC 3339 writes them, read in place."""

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Bytes = NDArray[np.uint8]

NEVER = -(2**63)
"""In place of a time."""
MINUS, POINT, COLON, ZERO, NINE = (ord(letter) for letter in "-.:09")
DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365])
"""The months of a year that has no leap day."""


@kernel
def time_of(content: Bytes, at: int, stop: int) -> int:
    """Microseconds since 1970 of a time in UTC with whole seconds, milliseconds or microseconds;
    NEVER if it is written otherwise, or does not exist.

    >>> text = np.frombuffer(b"1970-01-02T00:00:01.500Z", np.uint8)
    >>> time_of(text, 0, 24), time_of(text, 0, 20) == NEVER
    (86401500000, True)
    """
    length = stop - at
    if length not in (20, 24, 27) or content[stop - 1] != ord("Z"):
        return NEVER
    if (
        content[at + 4] != MINUS
        or content[at + 7] != MINUS
        or content[at + 10] != ord("T")
        or content[at + 13] != COLON
        or content[at + 16] != COLON
    ):
        return NEVER
    year, month, day = (
        _digits(content, at, 4),
        _digits(content, at + 5, 2),
        _digits(content, at + 8, 2),
    )
    hour, minute = _digits(content, at + 11, 2), _digits(content, at + 14, 2)
    second = _digits(content, at + 17, 2)
    micros = 0
    if length > 20:
        micros = _digits(content, at + 20, length - 21)
        if content[at + 19] != POINT or micros < 0:
            return NEVER
        if length == 24:
            micros *= 1000
    if year < 1 or not 1 <= month <= 12 or not 0 <= hour <= 23:
        return NEVER
    if not 0 <= minute <= 59 or not 0 <= second <= 59:
        return NEVER
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = DAYS_BEFORE[month] - DAYS_BEFORE[month - 1] + (is_leap and month == 2)
    if not 1 <= day <= days:
        return NEVER
    before = year - 1
    since = 365 * before + before // 4 - before // 100 + before // 400 - 719162
    since += DAYS_BEFORE[month - 1] + (is_leap and month > 2) + day - 1
    return int(((since * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + micros)


@kernel(forceinline=True)
def _digits(content: Bytes, at: int, count: int) -> int:
    """A whole number; -1 if it is none."""
    number = 0
    for place in range(at, at + count):
        byte = content[place]
        if not ZERO <= byte <= NINE:
            return -1
        number = 10 * number + byte - ZERO
    return number
