"""Texts with long runs of combining marks, which take quadratic time to normalise.

NFKC sorts the marks behind a letter by insertion: 480 kB of U+0301 U+0327 take 19 seconds. Such a
text has no tokens, so that `relevance` never normalises it.
"""

import re
import unicodedata
from functools import cache

# Marks in a row that a text may have and still have tokens, as many as Unicode's stream-safe format
# allows (UAX #15).
MOST_MARKS = 30
# Where Unicode has marks: the first two planes, and variation selectors. A test compares these with
# all of Unicode, which takes 0.2 s to look through.
PLACES = (range(0x20000), range(0xE0000, 0xE1000))
# Halfwidth voicing marks: letters, of which NFKC makes marks before it sorts. Between real marks
# they would join short runs to a long one. No other letters become marks alone.
BECOME_MARKS = "\uff9e\uff9f"


def has_too_many_marks(text: str) -> bool:
    """Return whether more than 30 characters of a text in a row are marks (M*).

    >>> has_too_many_marks("e" + 30 * "\\u0301"), has_too_many_marks("e" + 31 * "\\u0301")
    (False, True)
    """
    if text.isascii():
        return False
    # every run that is too long holds one of these characters
    sample = text[MOST_MARKS :: MOST_MARKS + 1]
    return not _marks().isdisjoint(sample) and _long_run().search(text) is not None


@cache
def _marks() -> frozenset[str]:
    found = (chr(code) for place in PLACES for code in place)
    return frozenset(BECOME_MARKS).union(
        letter for letter in found if unicodedata.category(letter)[0] == "M"
    )


@cache
def _long_run() -> re.Pattern[str]:
    return re.compile(f"[{''.join(sorted(_marks()))}]{{{MOST_MARKS + 1}}}")
