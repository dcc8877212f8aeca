"""What the parser returns, node by node; the fixtures check the text."""

import ast
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score, parse_where
from shortlist.language.tree import (
    And,
    Arithmetic,
    AroundTerm,
    AttributeValue,
    Axis,
    Between,
    Call,
    Comparison,
    Cosine,
    Degree,
    Distance,
    Exists,
    In,
    Is,
    NamedTerm,
    Negate,
    Number,
    OfSubscription,
    Or,
    Relevance,
    Score,
    TextMatch,
    TrapezoidTerm,
    Where,
)
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from tests.strategies import examples

VOCABULARY = Vocabulary(
    {
        ("rent",): Attribute(terms={"cheap": Term(trapezoid=(None, None, 1200, 1500))}),
        ("released",): Attribute(type="time"),
    }
)
A, B, C = Exists(("a",)), Exists(("b",)), Exists(("c",))
NOT_A, NOT_B, NOT_C = (Exists((name,), negated=True) for name in "abc")

CONDITIONS: dict[str, Where] = {
    "rent = 1": Comparison(("rent",), "=", 1.0),
    "rent <> true": Comparison(("rent",), "!=", True),
    "not (x != 1)": Comparison(("x",), "!=", 1.0, negated=True),
    "x.y >= 'it''s'": Comparison(("x", "y"), ">=", "it's"),
    "x < time '1970-01-02'": Comparison(("x",), "<", Instant(86_400_000_000)),
    "released > '1970-01-02'": Comparison(("released",), ">", Instant(86_400_000_000)),
    "event.time = '1970-01-01'": Comparison(("event", "time"), "=", Instant(0)),
    "x not in (1, -2)": In(("x",), (1.0, -2.0), negated=True),
    "not x not in ('a')": In(("x",), ("a",)),
    "released between '1970-01-01' and time '1970-01-01'": Between(
        ("released",), Instant(0), Instant(0)
    ),
    "released contains '1970-01-01'": TextMatch(("released",), "contains", "1970-01-01"),
    "x not STARTS \n WITH ''": TextMatch(("x",), "starts with", "", negated=True),
    "rent is not very somewhat cheap": Is(
        ("rent",), NamedTerm("cheap"), ("very", "somewhat"), negated=True
    ),
    "not rent is not cheap (necessity >= 0.5)": Is(("rent",), NamedTerm("cheap"), necessity=0.5),
    "x is around(1, 2) (possibility >= 1, necessity >= 0)": Is(
        ("x",), AroundTerm(1.0, 2.0), possibility=1.0, necessity=0.0
    ),
    "x is trapezoid(null, null, 3, 4)": Is(("x",), TrapezoidTerm((None, None, 3.0, 4.0))),
    "a exists and b exists and c exists": And((A, B, C)),
    "(a exists and b exists) and c exists": And((And((A, B)), C)),
    "a exists or (b exists or ((c exists)))": Or((A, Or((B, C)))),
    "a exists or b exists and c exists": Or((A, And((B, C)))),
    "not (a exists or b exists and c exists)": And((NOT_A, Or((NOT_B, NOT_C)))),
    "not (a exists and not (b exists and not c exists))": Or((NOT_A, And((B, NOT_C)))),
}

SCORES: dict[str, Score] = {
    "-1": Negate(Number(1.0)),
    "Possibility": Degree("possibility"),
    "distance": AttributeValue(("distance",)),
    "MIN(a)": Call("min", (AttributeValue(("a",)),)),
    "max_distance(a.b: -1, c: 2 weight 3)": Distance(
        "max_distance", (Axis(("a", "b"), -1.0), Axis(("c",), 2.0, 3.0))
    ),
    "relevance(event.type, 'x')": Relevance(("event", "type"), "x"),
    "cosine(v, [1, -2])": Cosine(("v",), (1.0, -2.0)),
    "subscription.score": AttributeValue(("subscription", "score")),
}

AUDIENCE_SCORES: dict[str, Score] = {
    "subscription.score": OfSubscription("score"),
    "subscription.volume": OfSubscription("volume"),
    "subscription.profile.age": OfSubscription("profile", "age"),
    '"subscription".score': AttributeValue(("subscription", "score")),
    "price": AttributeValue(("price",)),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_condition(text: str) -> None:
    # Representations tell 1 from True; values do not.
    assert repr(parse_where(text, VOCABULARY)) == repr(CONDITIONS[text])


@pytest.mark.parametrize("text", SCORES)
def test_score(text: str) -> None:
    assert repr(parse_any_score(text)) == repr(SCORES[text])


@pytest.mark.parametrize("text", AUDIENCE_SCORES)
def test_audience_score(text: str) -> None:
    assert parse_audience_score(text) == AUDIENCE_SCORES[text]


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_no_text(text: str) -> None:
    for parse in (parse_where, parse_any_score, parse_audience_score):
        with pytest.raises(LanguageError, match=r"^column 1: expected .*, found the end"):
            parse(text)


def test_columns_count_characters_also_over_lines() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_where("größe = 1\n  and 🎬 = 2")
    assert caught.value.column == 17


def test_messages_stay_on_one_line() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_where('x = 1 "a\nb\u200b"')
    assert caught.value.message.endswith(r'found "a\nb\u200b"')


def combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        parts.map("not {}".format),
        parts.map("({})".format),
        st.lists(parts, min_size=2, max_size=4).map(" and ".join),
        st.lists(parts, min_size=2, max_size=4).map(" or ".join),
    )


CRISP_TEXTS = st.recursive(st.sampled_from(["a", "b", "c"]), combined, max_leaves=12)


def holds(where: Where, true: dict[str, bool]) -> bool:
    match where:
        case And(operands):
            return all(holds(part, true) for part in operands)
        case Or(operands):
            return any(holds(part, true) for part in operands)
        case Exists((name,), negated):
            return true[name] != negated
    raise AssertionError(where)


@examples(50)
@given(CRISP_TEXTS)
def test_conditions_mean_what_python_means(text: str) -> None:
    where = parse_where(re.sub(r"\b[abc]\b", r"\g<0> exists", text))
    for values in product([False, True], repeat=3):
        true = dict(zip("abc", values, strict=True))
        assert holds(where, true) == eval(text, {}, true)


def arithmetic(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        parts.map("-{}".format),
        parts.map("({})".format),
        st.tuples(parts, st.sampled_from("+-*/^"), parts).map(" ".join),
        st.lists(parts, min_size=1, max_size=3).map(lambda some: f"min({', '.join(some)})"),
    )


def as_python_reads(node: ast.AST) -> Score:
    symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}
    match node:
        case ast.BinOp(left, operator, right):
            symbol = symbols[type(operator)]
            return Arithmetic(symbol, as_python_reads(left), as_python_reads(right))
        case ast.UnaryOp(_, operand):
            return Negate(as_python_reads(operand))
        case ast.Call(_, arguments):
            return Call("min", tuple(as_python_reads(argument) for argument in arguments))
        case ast.Name(name):
            return AttributeValue((name,))
        case ast.Constant(value):
            return Number(float(value))
    raise AssertionError(node)


@examples(83)
@given(st.recursive(st.sampled_from(["x", "2", "0.5"]), arithmetic, max_leaves=12))
def test_operators_bind_as_in_python(text: str) -> None:
    expected = as_python_reads(ast.parse(text.replace("^", "**"), mode="eval").body)
    assert parse_any_score(text) == expected
