"""Text that is too long, too deep or too much, and text that is no language at all."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score, parse_where
from shortlist.language.printer import print_score, print_where
from shortlist.model.settings import Limits
from tests.strategies import examples

MANY = 65_536
FOLDER = Path(__file__).parents[1] / "fixtures" / "language"


def around(opening: str, inside: str, closing: str, times: int) -> str:
    return opening * times + inside + closing * times


@pytest.mark.parametrize(
    "text",
    [
        around("(", "a = 1", ")", MANY // 2 - 5),
        around("not ", "a = 1", "", MANY // 4 - 5),
        around("not(", "a = 1", ")", MANY // 5 - 5),
        around("a=1 and(b=1 or(", "a = 1", "))", MANY // 20),
    ],
)
def test_deep_conditions(text: str) -> None:
    with pytest.raises(LanguageError, match="this is nested too deep; at most 64 levels"):
        parse_where(text)


@pytest.mark.parametrize(
    "text",
    [
        around("(", "1", ")", MANY // 2 - 5),
        around("-", "1", "", MANY - 5),
        around("1+", "1", "", MANY // 2 - 5),
        around("1^", "1", "", MANY // 2 - 5),
        around("abs(", "1", ")", MANY // 5 - 5),
        around("min(1,", "1", ")", MANY // 7 - 5),
    ],
)
def test_deep_scores(text: str) -> None:
    long = Limits(audience_length=MANY)
    for parse in (parse_any_score, parse_audience_score):
        with pytest.raises(LanguageError, match="this is nested too deep; at most 64 levels"):
            parse(text, long)


def test_scores_of_advertisements_have_a_length_of_their_own() -> None:
    limits = Limits(expression_length=20, audience_length=9)
    parse_any_score("1 + 2 + 3 + 4", limits)
    parse_audience_score("1 + 2 + 3", limits)
    with pytest.raises(LanguageError, match="the text has 10 characters; at most 9 are allowed"):
        parse_audience_score("1 + 2 + 30", limits)
    with pytest.raises(LanguageError, match="the text has 10 characters; at most 5 are allowed"):
        parse_audience_score("1 + 2 + 30", Limits(expression_length=5, audience_length=9))


@pytest.mark.parametrize("text", ["(" * MANY, "not " * (MANY // 4), "a=1 and(" * (MANY // 8)])
def test_deep_and_unfinished(text: str) -> None:
    with pytest.raises(LanguageError, match="this is nested too deep"):
        parse_where(text)


def test_depth_is_counted_exactly() -> None:
    assert parse_where(around("(", "a = 1", ")", 64)) == parse_where("a = 1")
    with pytest.raises(LanguageError) as caught:
        parse_where(around("(", "a = 1", ")", 65))
    assert caught.value.column == 66
    limits = Limits(expression_depth=3)
    parse_where("a = 1 and (b = 1 or not c = 1)", limits=limits)
    with pytest.raises(LanguageError):
        parse_where("a = 1 and (b = 1 or (c = 1))", limits=limits)
    parse_any_score("1 + 2 + 3 + 4", limits)
    with pytest.raises(LanguageError):
        parse_any_score("1 + 2 + 3 + 4 + 5", limits)


def test_wide_is_not_deep() -> None:
    where = parse_where(" and ".join(["a = 1"] * 1024))
    assert len(where.operands) == 1024
    assert len(parse_any_score(f"min({', '.join(['a'] * 5000)})").arguments) == 5000


@pytest.mark.parametrize(
    "text",
    [
        "x iſ around(1, 2)",
        "x ıs around(1, 2)",
        "x is ſomewhat around(1, 2)",
        "x is around(1, 2) (neceſſity >= 1)",
        "x ſtarts with 'a'",
        "x = falſe",
    ],
)
def test_keywords_are_plain_letters(text: str) -> None:
    with pytest.raises(LanguageError):
        parse_where(text)


def test_length() -> None:
    limits = Limits(expression_length=5)
    parse_where("a = 1", limits=limits)
    with pytest.raises(LanguageError) as caught:
        parse_where("a = 12", limits=limits)
    assert str(caught.value) == "column 6: the text has 6 characters; at most 5 are allowed"
    with pytest.raises(LanguageError, match="at most 5 are allowed"):
        parse_any_score("1 + 22", limits)


def test_predicates() -> None:
    limits = Limits(predicates=2)
    parse_where("a = 1 or not b = 2", limits=limits)
    with pytest.raises(LanguageError) as caught:
        parse_where("a = 1 or (b = 2 and c = 3)", limits=limits)
    assert str(caught.value) == "column 21: at most 2 predicates are allowed"


# fmt: off
PIECES = [
    "and", "or", "not", "in", "between", "contains", "starts", "with", "ends", "exists", "is",
    "very", "somewhat", "null", "true", "false", "time", "possibility", "necessity", "weight",
    "subscription.score", "x", "a.b", "event.time", "é", "trapezoid(", "around(", "min(",
    "distance(", "relevance(", "cosine(", "(", ")", "[", "]", ",", ":", ".", "1", "0.5", "1e999",
    "=", "!=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "^", "$", "'", "''", "'x'", '"',
    '"y"', "neceſſity", "ſomewhat", "ıs", " ", "\n", "\0", "\ud800", "\N{ZERO WIDTH SPACE}",
]
# fmt: on

VALID = [
    line
    for file in sorted(FOLDER.glob("*.txt"))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith(("#", "@ ", "=> ", "!! "))
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 4)))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text


def parsed(parse: Callable, text: str) -> tuple[object, LanguageError | None]:
    try:
        return parse(text), None
    except LanguageError as error:
        return None, error


def assert_only_language_errors(text: str) -> None:
    readers: list[tuple[Callable, Callable]] = [
        (parse_where, print_where),
        (parse_any_score, print_score),
        (parse_audience_score, print_score),
    ]
    for parse, print_tree in readers:
        tree, error = parsed(parse, text)
        if error:
            assert 1 <= error.column <= len(text) + 1
            assert error.message.isprintable()
        else:
            assert parse(print_tree(tree)) == tree


@examples(83)
@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_random_text(text: str) -> None:
    assert_only_language_errors(text)


@examples(250)
@given(mutated())
def test_mutated_text(text: str) -> None:
    assert_only_language_errors(text)


def test_every_cut_of_valid_text() -> None:
    for text in random.Random(0).sample(VALID, 60):
        for end in range(len(text)):
            assert_only_language_errors(text[:end])


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a = 1e999 and b = ", 5),
        ("a is nothing or (b = 1", 6),
        ("a < true and b in (1, 'x')", 5),
        ("a = 1 and (b = time 'noon' or", 21),
    ],
)
def test_the_first_fault_from_the_left_is_told(text: str, column: int) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_where(text)
    assert caught.value.column == column
