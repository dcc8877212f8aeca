"""Automata of string predicates against what the predicates say of strings."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from shortlist.covering.text_sets import (
    is_member,
    may_share_a_string,
    outside,
    representatives,
    text_set,
)
from shortlist.language.tree import Between, Comparison, In, Operator, TextMatch, TextOperator
from shortlist.matching.predicates import holding
from tests.strategies import examples

PATH = ("t",)
literals = st.text("ab", max_size=6)
strings = st.text("ab`c", max_size=12)
either = st.booleans()
text_predicates = st.one_of(
    st.builds(Comparison, st.just(PATH), st.sampled_from(get_args(Operator)), literals, either),
    st.builds(In, st.just(PATH), st.lists(literals, min_size=1).map(tuple), either),
    st.builds(Between, st.just(PATH), literals, literals, either),
    st.builds(TextMatch, st.just(PATH), st.sampled_from(get_args(TextOperator)), literals, either),
)


@examples(166)
@given(text_predicates, st.data())
def test_an_automaton_accepts_what_satisfies_its_predicate(
    predicate: Comparison | In | Between | TextMatch, data: st.DataObject
) -> None:
    parts = st.lists(st.sampled_from([*text_set(predicate).literals, ""]) | strings, max_size=3)
    text = "".join(data.draw(parts))
    expected = holding(predicate)(text) != predicate.negated
    assert is_member(text_set(predicate), text) == expected
    assert is_member(outside(text_set(predicate)), text) != expected


@examples(66)
@given(st.lists(text_predicates, min_size=1, max_size=3), strings)
def test_sets_that_share_a_string_are_found_to(
    predicates: list[Comparison | In | Between | TextMatch], text: str
) -> None:
    sets = [text_set(predicate) for predicate in predicates]
    around = [one if is_member(one, text) else outside(one) for one in sets]
    assert may_share_a_string(around)


@examples(33)
@given(st.lists(literals, min_size=1, max_size=5), strings)
def test_only_words_of_all_lists_are_shared(words: list[str], text: str) -> None:
    given = text_set(In(PATH, tuple(words)))
    assert may_share_a_string([given, text_set(In(PATH, (text,)))]) == (text in words)
    assert not may_share_a_string([given, outside(given)])


def test_the_ends_of_the_alphabet_leave_no_gap() -> None:
    assert representatives(["\x00\U0010ffff"]) == ["\x00", "\x01", "\U0010ffff"]
    assert representatives([]) == ["\x00"]


def test_surrogates_are_no_characters() -> None:
    assert representatives(["\ud7ff\ue000"]) == ["\x00", "\ud7ff", "\ue000", "\ue001"]
    above = text_set(Comparison(PATH, ">=", "\ud7ff\U0010ffff"))
    below = text_set(Comparison(PATH, "<", "\ue000"))
    longer = outside(text_set(TextMatch(PATH, "starts with", "\ud7ff\U0010ffff")))
    assert may_share_a_string([above, below])
    assert not may_share_a_string([above, below, longer])


def test_nothing_comes_before_the_empty_string() -> None:
    before = text_set(Comparison(PATH, "<", ""))
    assert not may_share_a_string([before])
    assert may_share_a_string([outside(before)])
