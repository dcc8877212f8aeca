"""Trees by example equal those of the full parser, and so do errors."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import example, given

from shortlist.language.conditions import read_condition
from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_score, parse_where
from shortlist.language.printer import print_score, print_where
from shortlist.language.scores import read_score
from shortlist.language.shapes import LITERAL, shape
from shortlist.language.templates import LONGEST, known_score, known_where
from shortlist.language.tree import Score, Where
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from tests.language.test_fixtures import CASES
from tests.language.test_limits import PIECES, mutated
from tests.language.test_round_trip import conditions, own_leaves, scores, vocabulary_for
from tests.strategies import PREDICATES, SCORES, examples, seeded, where

SAFE = Limits()
LIMITS = [
    SAFE,
    Limits(expression_depth=1),
    Limits(predicates=2),
    Limits(expression_length=30),
]
TERMS = {name: Term() for name in ("cheap", "dear", "not", "around", "quite cheap", "old")}
VOCABULARIES = [
    Vocabulary(),
    Vocabulary(
        {
            ("released",): Attribute(type="time"),
            ("film", "released"): Attribute(type="time"),
            ("rent",): Attribute(terms=TERMS),
            ("age",): Attribute(terms=TERMS),
        }
    ),
    Vocabulary(
        {("title",): Attribute(type="time"), ("rent",): Attribute(type="time", terms=TERMS)}
    ),
]
# fmt: off
NUMBERS = [
    "0", "1", "-1", "-0", "- 2", "+3", "2.", ".5", "0.5", "7.25", "1e3", "1E-3", "1234567890123456",
    "1e308", "1e999", "-1e400", "00", "1.2.3", "1..2", "1e5e5", "5x", "1and", "٣",
]
STRINGS = [
    "''", "'a'", "'it''s'", "''''", "' or '", "'('", "'\"'", "'x = 1 and (y'", "'0'", "'\n'",
    "'1970-01-01'", "'2026-03-01T09:30:00Z'", "'2026-02-30'", "time '1970-01-02'", "'a", "''a'",
]
# fmt: on
VALID_WHERES = [case.text for case in CASES if case.place.startswith("where.txt")]
VALID_SCORES = [case.text for case in CASES if case.place.startswith("score.txt")]
WRONG = [case.text for case in CASES if "_errors" in case.place]


def outcome(read: Callable[..., Any], *arguments: Any) -> Any:
    """What can be told apart of a result: 1 from True by its text, an error by its place."""
    try:
        return repr(read(*arguments))
    except LanguageError as error:
        return error.message, error.column


def assert_same(text: str, vocabulary: Vocabulary = VOCABULARIES[0], limits: Limits = SAFE) -> None:
    wheres = (text, vocabulary, limits)
    assert outcome(parse_where, *wheres) == outcome(read_condition, *wheres)
    assert outcome(parse_score, text, limits) == outcome(read_score, text, limits)


def with_other_literals(draw: Random, text: str) -> str:
    def other(literal: Any) -> str:
        if literal[1] is None or draw.random() < 0.3:
            return literal[0]
        alike = STRINGS if literal[0].startswith("'") else NUMBERS
        return draw.choice(NUMBERS + STRINGS if draw.random() < 0.1 else alike)

    return LITERAL.sub(other, text)


def combined(draw: Random, texts: list[str]) -> str:
    """Several conditions in one, not always with the parentheses that they need."""
    parts = [draw.choice(texts) for _ in range(draw.choice([1, 1, 2, 3, 4]))]
    text = parts[0]
    for part in parts[1:]:
        operand = draw.choice(["{}", "{}", "({})", "not {}", "NOT\n({})", "not({})"]).format(part)
        text = draw.choice(
            ["{} and {}", "{} or {}", "{}  AND {}", "({}) or {}", "({})and {}"]
        ).format(text, operand)
    return text


def broken(draw: Random, text: str) -> str:
    start = draw.randint(0, len(text))
    end = start + draw.choice([0, 0, 1, 2, 4])
    return text[:start] + draw.choice(["", *PIECES]) + text[end:]


@pytest.mark.parametrize("case", CASES, ids=[case.place for case in CASES])
def test_fixtures(case: Any) -> None:
    for vocabulary in (case.vocabulary, *VOCABULARIES):
        for limits in LIMITS:
            assert_same(case.text, vocabulary, limits)


@pytest.mark.parametrize("seed", range(4))
def test_conditions_like_the_fixtures(seed: int) -> None:
    draw = Random(seed)
    known = 0
    for _ in range(800):
        text = with_other_literals(draw, combined(draw, VALID_WHERES))
        vocabulary, limits = draw.choice(VOCABULARIES), draw.choice([SAFE, *LIMITS])
        known += known_where(text, vocabulary, limits) is not None
        assert_same(text, vocabulary, limits)
    assert known > 100


@pytest.mark.parametrize("seed", range(2))
def test_scores_like_the_fixtures(seed: int) -> None:
    draw = Random(seed)
    known = 0
    for _ in range(800):
        some = [draw.choice(VALID_SCORES) for _ in range(draw.choice([1, 1, 2, 3]))]
        text = with_other_literals(draw, draw.choice([" + ", "-", " / ", "^ "]).join(some))
        limits = draw.choice([SAFE, *LIMITS])
        known += known_score(text, limits) is not None
        assert_same(text, limits=limits)
    assert known > 100


@pytest.mark.parametrize("seed", range(4))
def test_broken_texts(seed: int) -> None:
    draw = Random(seed)
    for _ in range(400):
        text = combined(draw, draw.choice([VALID_WHERES, VALID_SCORES, WRONG]))
        assert_same(broken(draw, text), draw.choice(VOCABULARIES))


@examples(300)
@given(conditions)
def test_any_condition(tree: Where) -> None:
    text, vocabulary = print_where(tree), vocabulary_for(tree)
    assert_same(text, vocabulary)
    assert_same(text)


@examples(300)
@given(scores(own_leaves))
def test_any_score(tree: Score) -> None:
    assert_same(print_score(tree))


@examples(300)
@given(mutated())
@example("x = 1.2.3")
@example("distance(x: 1 weight.5)")
@example("\"1970-01-01\" = 'a'")
@example('not"_" exists')
@example('not"x exists" = 1')
@example("and = 1 and x = 2")
@example("x = 1and y = 2")
@example("_ exists and _ exists")
@example("and exists or or = 1")
@example("x between 1 and 2 and between between 'and' and 'or'")
@example("x = 0.25 and y is around(-1, 2) (necessity >= .5, possibility >= 0.25)")
@example("t is trapezoid(-4, -3, -2, 1) and t is trapezoid(null, null, -2, -3)")
def test_mutated_text(text: str) -> None:
    for vocabulary in VOCABULARIES:
        assert_same(text, vocabulary)


KNOWN = [
    *PREDICATES,
    "t is trapezoid(-4, -3, -2, 1) (necessity >= 0.5, possibility >= 1)",
    "x1 > 5 and not (event.time < '2026-03-01' or x2.y3 not between -1 and +2)",
    '"zip ""5"" code" = \'5\' AND mood IS NOT VERY bright',
]


@pytest.mark.parametrize("text", KNOWN)
def test_known_conditions(text: str) -> None:
    vocabulary = Vocabulary(
        {
            ("price",): Attribute(terms={name: Term() for name in ("cheap", "fair", "dear")}),
            ("mood",): Attribute(type="string", terms={"bright": Term()}),
            ("released",): Attribute(type="time"),
        }
    )
    pick = seeded(len(text))
    for condition in [text, *(where(pick, [text, *KNOWN])[0] for _ in range(5))]:
        assert known_where(condition, vocabulary, SAFE) is not None
        assert_same(condition, vocabulary)


@pytest.mark.parametrize("text", [score for score in SCORES if isinstance(score, str)])
def test_known_scores(text: str) -> None:
    assert known_score(text, SAFE) is not None


def test_one_shape_means_what_the_vocabulary_says() -> None:
    text = "seen > '2026-03-01' and seen is late"
    timed = Vocabulary({("seen",): Attribute(type="time", terms={"late": Term()})})
    plain = Vocabulary({("seen",): Attribute(terms={"late": Term()})})
    for vocabulary in (timed, plain, Vocabulary(), timed):
        assert_same(text, vocabulary)
    assert "Instant" in repr(parse_where(text, timed))
    assert "Instant" not in repr(parse_where(text, plain))


def test_numbers_strings_and_booleans_are_different_shapes() -> None:
    texts = ["x = 1", "x = '1'", "x = true", "x = TRUE", "x = -1", "x = time '1970-01-01'"]
    assert len({shape(text).text for text in texts}) == len(texts)
    for text in texts:
        assert_same(text)


def test_a_text_that_is_too_long_for_templates() -> None:
    text = f"x in ({', '.join(['7'] * LONGEST)})"
    assert known_where(text, Vocabulary(), SAFE) is None
    assert len(parse_where(text).values) == LONGEST
