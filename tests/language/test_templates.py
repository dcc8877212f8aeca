"""What a template says of a condition is what the parser says of it."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_where
from shortlist.language.permissive import with_any_terms
from shortlist.language.printer import print_where
from shortlist.language.reader import LITERALS
from shortlist.language.templates import Templates
from shortlist.language.tree import Where
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Attribute, Vocabulary
from tests.language.test_round_trip import conditions

ANY = with_any_terms(Vocabulary())
LIMITS = Limits(expression_length=400)
NUMBERS = ["0", "5", ".5", "7.", "1e3", "1.5.2", "1e999", "12x", "3 4", "-0", "1_000"]
STRINGS = ["''", "'a'", "'it''s'", "'\"'", "'2020-01-01'", "'5'", "'a' 'b'"]
pieces = st.sampled_from([*NUMBERS, *STRINGS, "", " ", "(", ")", "and", "'", '"', ".", "-", "not "])


def read(templates: Templates, text: str) -> Where | str:
    try:
        found = templates.read(text)
        outline = templates.outline(text)
    except LanguageError as error:
        return str(error)
    if not isinstance(found, tuple):
        assert outline == found
        return found
    template, literals = found
    assert template.where == outline
    return template.filled(literals)


def parsed(text: str) -> Where | str:
    try:
        return parse_where(text, ANY, LIMITS)
    except LanguageError as error:
        return str(error)


@given(conditions, st.data())
def test_texts_of_one_shape_are_read_as_the_parser_reads_them(where: Where, data: st.DataObject):
    text = print_where(where)
    templates = Templates(ANY, LIMITS)
    assert read(templates, text) == parsed(text)

    def other(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return data.draw(st.sampled_from(STRINGS if found[1][0] == "'" else NUMBERS))

    alike = LITERALS.sub(other, text)
    assert read(templates, alike) == parsed(alike)
    at = data.draw(st.integers(0, len(alike)))
    mangled = alike[:at] + data.draw(pieces) + alike[at + data.draw(st.integers(0, 2)) :]
    assert read(templates, mangled) == parsed(mangled)


@given(st.lists(st.sampled_from(["x", " = ", " < ", " and ", *NUMBERS, *STRINGS]), max_size=8))
@example(["x", " < ", "5", ".5"])
@example(["x", " = ", "'a'", "'b'"])
def test_any_pieces_are_read_as_the_parser_reads_them(some: list[str]):
    templates = Templates(ANY, LIMITS)
    read(templates, "x < 5 and x < 5")
    read(templates, "x = 'a' and x < 5")
    assert read(templates, "".join(some)) == parsed("".join(some))


def test_a_text_that_is_no_time_is_found_where_another_was_one():
    vocabulary = Vocabulary({("since",): Attribute(type="time")})
    templates = Templates(vocabulary, LIMITS)
    templates.read("since > '2020-01-01'")
    with pytest.raises(LanguageError, match="column 9: 'once' is not"):
        templates.read("since > 'once'")
