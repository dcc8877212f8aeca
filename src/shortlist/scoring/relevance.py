"""Cosines: of the term vectors of two texts, and of two vectors."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from shortlist.matching.marks import has_too_many_marks

ASCII_RUN = re.compile("[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Maximal runs of letters, marks and numbers, after NFKC and then case folding; none of a text
    with too many marks in a row.

    >>> tokens("L'ÉTÉ de Tim-Burton, x2")
    ['l', 'été', 'de', 'tim', 'burton', 'x2']
    """
    if text.isascii():
        return ASCII_RUN.findall(text.lower())
    if has_too_many_marks(text):
        return []
    folded = unicodedata.normalize("NFKC", text).casefold()
    return ["".join(run) for is_word, run in groupby(folded, key=_is_word) if is_word]


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def term_weights(text: str, idf: Mapping[str, float]) -> dict[str, float]:
    """1 + ln(count), times what the vocabulary says of the term."""
    counts = Counter(tokens(text))
    return {term: (1.0 + math.log(count)) * idf.get(term, 1.0) for term, count in counts.items()}


def term_cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """
    >>> round(term_cosine(term_weights("the king", {}), term_weights("the Queen", {})), 6)
    0.5
    """
    shared = sorted(left.keys() & right.keys())
    products = (left[term] * right[term] for term in shared)
    return _cosine(products, left.values(), right.values())


def vector_cosine(left: Sequence[float], right: Sequence[float]) -> float | None:
    """None where the lengths differ, and not a number where products are beyond all doubles.

    >>> vector_cosine((1.0, 0.0), (2.0, 0.0)), vector_cosine((0.0,), (1.0,))
    (1.0, 0.0)
    >>> vector_cosine((1e200, 1e200), (1e200, -1e200))
    nan
    """
    if len(left) != len(right):
        return None
    return _cosine(map(float.__mul__, left, right), left, right)


def _cosine(products: Iterable[float], left: Iterable[float], right: Iterable[float]) -> float:
    lengths = math.hypot(*left) * math.hypot(*right)
    try:
        dot = math.fsum(products)
    except (OverflowError, ValueError):  # beyond all doubles
        return math.nan
    return dot / lengths if lengths else 0.0
