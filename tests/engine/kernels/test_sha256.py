"""`write_digests` says what `hashlib.sha256` says."""

import hashlib
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.arrow import read_only
from shortlist.engine.kernels.sha256 import (
    GROUPS,
    LANES,
    PAIRS,
    Messages,
    Texts,
    texts,
    write_digests,
)
from tests.strategies import examples

EDGES = [0, 1, 3, 4, 5, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 64 * GROUPS, 5000]


def ready(strings: list[bytes]) -> Texts:
    content = np.array([*b"".join(strings)], np.uint8)
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    return texts(read_only(content), read_only(offsets))


def digests(heads: list[bytes], tails: list[bytes], pairs: list[tuple[int, int]]) -> list[str]:
    numbers = np.array(pairs, np.int32).reshape(-1, 2)
    digits = np.empty(len(pairs) * PAIRS, np.uint16)
    of_head, of_tail = numbers.T.copy()
    write_digests(Messages(ready(heads), ready(tails), of_head, of_tail), digits)
    text = digits.tobytes().decode()
    return [text[first : first + 2 * PAIRS] for first in range(0, len(text), 2 * PAIRS)]


def expected(heads: list[bytes], tails: list[bytes], pairs: list[tuple[int, int]]) -> list[str]:
    return [
        hashlib.sha256(heads[head] + tails[tail]).hexdigest()[: 2 * PAIRS] for head, tail in pairs
    ]


@pytest.mark.parametrize("length", EDGES)
def test_a_message_of_any_length_cut_anywhere(length: int) -> None:
    message = Random(length).randbytes(length)
    cuts = range(length + 1) if length < 600 else [0, 1, 63, 64, 65, length - 1, length]
    heads, tails = [message[:cut] for cut in cuts], [message[cut:] for cut in cuts]
    pairs = [(cut, cut) for cut in range(len(cuts))]
    assert digests(heads, tails, pairs) == expected(heads, tails, pairs)


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
@pytest.mark.parametrize("longest", [20, 130, 1500])
def test_messages_of_mixed_lengths(count: int, longest: int) -> None:
    """Long ones among them, which share a group with longer ones."""
    for seed in range(20):
        draw = Random(seed)
        heads = [draw.randbytes(draw.randint(0, longest)) for _ in range(9)]
        tails = [draw.randbytes(draw.randint(0, longest)) for _ in range(9)]
        pairs = [(draw.randrange(9), draw.randrange(9)) for _ in range(count)]
        assert digests(heads, tails, pairs) == expected(heads, tails, pairs)


def test_bytes_of_all_zeros_and_all_ones() -> None:
    strings = [fill * length for fill in (b"\0", b"\xff") for length in range(70)]
    pairs = [(head, tail) for head in range(140) for tail in range(140)]
    assert digests(strings, strings, pairs) == expected(strings, strings, pairs)


@examples(150)
@given(st.data(), st.lists(st.binary(max_size=150), min_size=1, max_size=6))
def test_any_messages(data: st.DataObject, strings: list[bytes]) -> None:
    number = st.integers(0, len(strings) - 1)
    pairs = data.draw(st.lists(st.tuples(number, number), max_size=40))
    assert digests(strings, strings, pairs) == expected(strings, strings, pairs)
