"""Texts of ASCII characters take a short cut, which must not show."""

import string
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from shortlist.scoring.relevance import tokens

MARK = "é"
"""Beyond ASCII: a text that holds it is read character by character."""


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_texts_have_the_same_tokens_as_beside_others(text):
    assert [*tokens(text), MARK] == tokens(f"{text} {MARK}")


def test_every_ascii_character_splits_or_joins_alike():
    for first, second in product(map(chr, range(128)), string.ascii_letters[::7] + "09_- "):
        text = f"a{first}b{second}"
        assert [*tokens(text), MARK] == tokens(f"{text} {MARK}")
