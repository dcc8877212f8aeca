"""Lines of JSON that are simple publications, read in place.

Simple is `{"id": "…", "source": "…", "time": "…", "data": {"rent": 900, "city": "Oslo"}}`, perhaps
with `type`, `expirytime`, `"specversion": "1.0"` and extensions, which nobody looks at: what is
known each once, and in any order; texts without escapes; numbers of so few digits that they are
exact; nothing nested, but for `data` itself. Of anything else nothing is said but that it is not
simple: so whatever is doubtful is not.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

ABSENT, NUMBER, TEXT = range(3)
"""What an attribute is."""
MOST_DIGITS = 15
"""A whole number of so many is exact, and so is its quotient by a power of ten, once rounded."""
POWERS = np.array([float(10**digits) for digits in range(MOST_DIGITS + 1)])
QUOTE, BACKSLASH, SPACE, COMMA, COLON = (ord(letter) for letter in '"\\ ,:')
OPEN, CLOSE, MINUS, POINT, ZERO, NINE = (ord(letter) for letter in "{}-.09")
ASCII = 0x80
ID, SOURCE, TYPE, TIME, EXPIRY, DATA, VERSION, AUDIENCE, REPLACES = range(9)
SPANS, TIMES = range(ID, TIME), range(TIME, DATA)
"""The members of which it is noted where they are, and those that are times."""
EXTENSION = -1
MEMBER_NAMES = (
    *(b"id", b"source", b"type", b"time", b"expirytime", b"data", b"specversion"),
    *(b"audience", b"replaces"),
)
MEMBERS = np.frombuffer(b"".join(MEMBER_NAMES), np.uint8)
MEMBER_STOPS = np.cumsum([len(name) for name in MEMBER_NAMES])
USUAL_VERSION = np.frombuffer(b"1.0", np.uint8)
NEVER = -(2**63)
"""In place of a time."""
DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365])
"""The months of a year that has no leap day."""


class Rules(NamedTuple):
    """What makes a line simple beside its form."""

    payload_bytes: int
    attributes: int
    id_length: int
    """Of texts in bytes: one that has more bytes may still have few enough characters, and is
    judged by the rules."""
    needs_time: bool
    only_ascii: bool


class Names(NamedTuple):
    """Different texts in order: text j is content[stops[j - 1]:stops[j]]."""

    content: Bytes
    stops: Longs


class Found(NamedTuple):
    """What there is of each line, by member, and of each attribute that is wanted; texts as where
    they begin and end. Few arrays, since each takes time where kernels are called with them."""

    is_simple: NDArray[np.bool_]
    spans: Longs
    times: Longs
    kinds: NDArray[np.int8]
    numbers: NDArray[np.float64]
    texts: Longs


def room_for(lines: int, wanted: int) -> Found:
    return Found(
        is_simple=np.zeros(lines, np.bool_),
        spans=np.zeros((len(SPANS), lines, 2), np.int64),
        times=np.full((len(TIMES), lines), NEVER),
        kinds=np.zeros((wanted, lines), np.int8),
        numbers=np.zeros((wanted, lines)),
        texts=np.zeros((wanted, lines, 2), np.int64),
    )


@kernel(nogil=True)
def read_simple(
    content: Bytes, start: int, stops: Longs, wanted: Names, rules: Rules, found: Found
) -> None:
    """Reads the lines that begin at `start` and end where `stops` says."""
    # where the members of the last data were, and which attributes they are: mostly the same again
    known = np.empty((64, 3), np.int64)
    known[:, 0] = 0
    known[:, 1] = -1
    for line in range(stops.size):
        stop = stops[line]
        if stop - start <= rules.payload_bytes:
            found.is_simple[line] = _read(content, start, stop, line, wanted, rules, known, found)
        start = stop


@kernel(forceinline=True)
def _read(
    content: Bytes,
    at: int,
    stop: int,
    line: int,
    wanted: Names,
    rules: Rules,
    known: Longs,
    found: Found,
) -> bool:
    """One line; whether it is simple."""
    if at == stop or content[at] != OPEN:
        return False
    at += 1
    seen = 0
    while True:
        at = _skip(content, at, stop)
        end = _text_end(content, at, stop, rules.only_ascii)
        member = _place(content, at + 1, end, MEMBERS, MEMBER_STOPS)
        if end < 0:
            return False
        at = _value_start(content, end + 1, stop)
        if at < 0:
            return False
        if member == EXTENSION:
            at = _scalar_end(content, at, stop, rules.only_ascii)
        elif seen & (1 << member):
            return False
        elif member == DATA:
            at = _read_data(content, at, stop, line, wanted, rules, known, found)
        else:
            end = _text_end(content, at, stop, rules.only_ascii)
            if end <= at + 1 or not _keep(content, at + 1, end, line, member, found):
                return False
            if member <= SOURCE and end - at - 1 > rules.id_length:
                return False
            at = end + 1
        if at < 0:
            return False
        if member != EXTENSION:
            seen |= 1 << member
        at = _skip(content, at, stop)
        if at == stop:
            return False
        if content[at] == CLOSE:
            has_all = seen & (1 << ID) and seen & (1 << SOURCE)
            has_time = seen & (1 << TIME) or not rules.needs_time
            return at + 1 == stop and bool(has_all) and bool(has_time)
        if content[at] != COMMA:
            return False
        at += 1


@kernel(forceinline=True)
def _keep(content: Bytes, start: int, end: int, line: int, member: int, found: Found) -> bool:
    """Notes a member that is a text; whether it is as simple ones are."""
    if member < TIME:
        found.spans[member, line, 0], found.spans[member, line, 1] = start, end
        return True
    if member < DATA:
        time = time_of(content, start, end)
        found.times[member - TIME, line] = time
        return bool(time != NEVER)
    length = USUAL_VERSION.size
    return (
        member == VERSION
        and end - start == length
        and _is_same(content, start, USUAL_VERSION, 0, length)
    )


@kernel
def _read_data(
    content: Bytes,
    at: int,
    stop: int,
    line: int,
    wanted: Names,
    rules: Rules,
    known: Longs,
    found: Found,
) -> int:
    """Where data ends that begins here; -1 if it is not simple."""
    if content[at] != OPEN:
        return -1
    at = _skip(content, at + 1, stop)
    if at < stop and content[at] == CLOSE:
        return at + 1
    count = 0
    while True:
        at = _skip(content, at, stop)
        end = _text_end(content, at, stop, rules.only_ascii)
        if end < 0 or count == rules.attributes:
            return -1
        attribute = _attribute(content, at + 1, end, wanted, known[count % known.shape[0]])
        count += 1
        at = _value_start(content, end + 1, stop)
        if at < 0:
            return -1
        if content[at] == QUOTE:
            end = _text_end(content, at, stop, rules.only_ascii)
            if end < 0:
                return -1
            if attribute >= 0:
                found.kinds[attribute, line] = TEXT
                found.texts[attribute, line, 0] = at + 1
                found.texts[attribute, line, 1] = end
            at = end + 1
        else:
            at, number = _number(content, at, stop)
            if at < 0:
                return -1
            if attribute >= 0:
                found.kinds[attribute, line] = NUMBER
                found.numbers[attribute, line] = number
        at = _skip(content, at, stop)
        if at == stop:
            return -1
        if content[at] == CLOSE:
            return at + 1
        if content[at] != COMMA:
            return -1
        at += 1


@kernel(forceinline=True)
def _skip(content: Bytes, at: int, stop: int) -> int:
    while at < stop and content[at] == SPACE:
        at += 1
    return at


@kernel(forceinline=True)
def _text_end(content: Bytes, at: int, stop: int, only_ascii: bool) -> int:
    """Where the quote is behind a text that begins here with one; -1 if there is none such."""
    if at >= stop or content[at] != QUOTE:
        return -1
    at += 1
    while at < stop:
        byte = content[at]
        if byte == QUOTE:
            return at
        if byte < SPACE or byte == BACKSLASH or (only_ascii and byte >= ASCII):
            return -1
        at += 1
    return -1


@kernel(forceinline=True)
def _scalar_end(content: Bytes, at: int, stop: int, only_ascii: bool) -> int:
    """Behind a text or a number that begins here; -1 if it is not simple."""
    if content[at] != QUOTE:
        return _number(content, at, stop)[0]
    end = _text_end(content, at, stop, only_ascii)
    return end + 1 if end >= 0 else -1


@kernel(forceinline=True)
def _value_start(content: Bytes, at: int, stop: int) -> int:
    """Behind the colon; -1 if there is none, or nothing behind it."""
    at = _skip(content, at, stop)
    if at == stop or content[at] != COLON:
        return -1
    at = _skip(content, at + 1, stop)
    return at if at < stop else -1


@kernel(forceinline=True)
def _number(content: Bytes, at: int, stop: int) -> tuple[int, float]:
    """Where a number ends that begins here, and which; -1 if it is not simple."""
    is_negative = content[at] == MINUS
    at += is_negative
    first = at
    whole, digits, point = 0, 0, -1
    while at < stop:
        byte = content[at]
        if ZERO <= byte <= NINE:
            whole = 10 * whole + byte - ZERO
            digits += 1
            if digits > MOST_DIGITS:
                return -1, 0.0
        elif byte == POINT and point < 0 and digits:
            point = digits
        else:
            break
        at += 1
    if not digits or point == digits:
        return -1, 0.0
    # 01 is no number; nor is this one where its end is
    if content[first] == ZERO and digits > 1 and point != 1:
        return -1, 0.0
    if at == stop or not (content[at] == COMMA or content[at] == CLOSE or content[at] == SPACE):
        return -1, 0.0
    number = float(whole) if point < 0 else whole / POWERS[digits - point]
    # -0 is the whole number 0, and -0.0 is not
    return at, -number if is_negative and (whole or point >= 0) else number


@kernel(forceinline=True)
def _is_same(content: Bytes, start: int, other: Bytes, first: int, length: int) -> bool:
    at = 0
    while at < length and content[start + at] == other[first + at]:
        at += 1
    return at == length


@kernel(forceinline=True)
def _place(content: Bytes, start: int, end: int, texts: Bytes, stops: Longs) -> int:
    """Which of some texts stands here; -1 if none of them."""
    first = 0
    for place in range(stops.size):
        length = stops[place] - first
        if length == end - start and _is_same(content, start, texts, first, length):
            return place
        first = stops[place]
    return -1


@kernel(forceinline=True)
def _attribute(content: Bytes, start: int, end: int, wanted: Names, known: Longs) -> int:
    """Which attribute is named here; -1 if nobody wants it. `known` is where a name was found
    before, and which that is."""
    length = known[1] - known[0]
    if length != end - start or not _is_same(content, start, content, known[0], length):
        known[0], known[1] = start, end
        known[2] = _search(content, start, end, wanted)
    return int(known[2])


@kernel(forceinline=True)
def _search(content: Bytes, start: int, end: int, names: Names) -> int:
    """Return which of some names stands here; -1 if none of them. Halving keeps a line of many
    attributes from being compared with everything that a registry mentions."""
    low, high = 0, names.stops.size
    while low < high:
        middle = (low + high) // 2
        first = names.stops[middle - 1] if middle else 0
        length = names.stops[middle] - first
        at = 0
        while at < length and at < end - start and content[start + at] == names.content[first + at]:
            at += 1
        if at == length and at == end - start:
            return middle
        is_behind = at == length or (
            at < end - start and content[start + at] > names.content[first + at]
        )
        if is_behind:
            low = middle + 1
        else:
            high = middle
    return -1


@kernel(nogil=True)
def cut_out(content: Bytes, spans: Longs, rows: Longs) -> tuple[Bytes, NDArray[np.int32]]:
    """The texts of some rows, one after the other, and where each begins and the last one ends."""
    offsets = np.empty(rows.size + 1, np.int32)
    offsets[0] = 0
    for at in range(rows.size):
        row = rows[at]
        offsets[at + 1] = offsets[at] + spans[row, 1] - spans[row, 0]
    texts = np.empty(offsets[-1], np.uint8)
    for at in range(rows.size):
        start, first = spans[rows[at], 0], offsets[at]
        for place in range(offsets[at + 1] - first):
            texts[first + place] = content[start + place]
    return texts, offsets


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
    if not content[at + 4] == content[at + 7] == MINUS or content[at + 10] != ord("T"):
        return NEVER
    if not content[at + 13] == content[at + 16] == COLON:
        return NEVER
    year, month = _digits(content, at, 4), _digits(content, at + 5, 2)
    day, hour = _digits(content, at + 8, 2), _digits(content, at + 11, 2)
    minute, second = _digits(content, at + 14, 2), _digits(content, at + 17, 2)
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
