"""Many texts are parted as one by one."""

from random import Random

import numpy as np

from shortlist.language.reader import parted, text_of
from shortlist.matching.index.parted import PartedTexts, texts_of

TOKENS = [
    *("rent", "x2", "a.b", "_7", "7_", "é5", "é 5", "<", "=", "and", "in (", "-", ".", " "),
    *("1", "0.1", "2.5", ".5", "5.", "1.2.3", "1e3", "1E-4", "1e22", "1e23", "3e-22", "5e-324"),
    *("9007199254740993", "123456789012345678901234567890", "1e999", "0.30000000000000004"),
    *("'a'", "'it''s'", "''", "'Ås 5'", '"q 5"', '"a""b"'),
]
UNCLOSED = ["'", '"']


def drawn(draw):
    tokens = [*TOKENS, *(UNCLOSED if draw.randrange(4) == 0 else [])]
    return "".join(draw.choice(tokens) + draw.choice(["", " "]) for _ in range(draw.randrange(9)))


def test_shapes_and_literals_are_those_of_single_texts():
    draw = Random(7)
    texts = [drawn(draw) for _ in range(20_000)]
    found = PartedTexts.of(texts_of(texts))
    known = np.flatnonzero(found.shape_of >= 0).tolist()
    assert len(known) > len(texts) / 2
    for place in known:
        shape, literals = parted(texts[place])
        assert found.shapes[found.shape_of[place]] == shape, texts[place]
        columns = [[*column] for column in found.columns(np.array([place]))]
        values = [text_of(one) if one[0] == "'" else float(one) for one in literals]
        assert columns == [[value] for value in values], texts[place]


def test_what_one_place_holds_of_many_texts():
    texts = [f"rent < {n} and city = 'c{n % 3}'" for n in range(50)]
    found = PartedTexts.of(texts_of(texts))
    rents, cities = found.columns(np.array([4, 2, 49]))
    assert rents.tolist() == [4, 2, 49]
    assert cities == ["c1", "c2", "c1"]


def test_texts_that_have_to_be_looked_at_alone():
    odd = ["rent < 1e999", "city = 'Oslo", '"rent < 5', "é5 < 4"]
    assert PartedTexts.of(texts_of(odd)).shape_of.tolist() == [-1] * 4
    assert PartedTexts.of(texts_of([])).shapes == []
