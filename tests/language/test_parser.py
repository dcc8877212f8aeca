"""A condition that is asked for again means what it would mean if it were read anew."""

import pytest

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_where
from shortlist.language.tree import Comparison
from shortlist.model.settings import Limits
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Attribute, LiveVocabulary, Term, Vocabulary

RENT = ("rent",)


def test_a_condition_is_read_once_for_those_who_ask_for_it_in_turn():
    vocabulary = Vocabulary()
    assert parse_where("rent < 5", vocabulary) is parse_where("rent < 5", vocabulary, Limits())


def test_another_vocabulary_gives_another_meaning():
    text = "rent = '1970-01-01'"
    timed = Vocabulary({RENT: Attribute(type="time")})
    assert parse_where(text, Vocabulary()) == Comparison(RENT, "=", "1970-01-01")
    assert parse_where(text, timed) == Comparison(RENT, "=", Instant(0))
    assert parse_where(text, Vocabulary()) == Comparison(RENT, "=", "1970-01-01")


def test_terms_that_are_gone_are_missed():
    live = LiveVocabulary.copied(Vocabulary())
    live.declare(RENT, Attribute(terms={"cheap": Term(trapezoid=(None, None, 5, 9))}))
    parse_where("rent is cheap", live)
    live.declare(RENT, Attribute())
    with pytest.raises(LanguageError, match="'cheap' is not a term"):
        parse_where("rent is cheap", live)


def test_narrower_limits_hold():
    vocabulary = Vocabulary()
    parse_where("rent < 5 and rent > 3", vocabulary)
    with pytest.raises(LanguageError, match="at most 1 predicates"):
        parse_where("rent < 5 and rent > 3", vocabulary, Limits(predicates=1))
