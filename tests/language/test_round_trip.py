"""Every tree the parser can return prints as text that parses to it."""

from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score, parse_where
from shortlist.language.printer import print_score, print_where
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
from shortlist.model.settings import Limits
from shortlist.model.times import Instant, parse_time
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from tests.strategies import examples

# fmt: off
WORDS = [
    "and", "or", "not", "in", "between", "contains", "starts", "with", "ends", "exists", "is",
    "very", "somewhat", "null", "true", "false", "time", "possibility", "necessity", "weight",
    "trapezoid", "around", "subscription", "score", "volume", "profile", "data", "min", "max",
    "distance", "relevance", "cosine", "NOT", "Very", "Possibility", "x", "größe", "_a", "a1",
]
# fmt: on
DEEP = Limits(expression_depth=500)

keys = st.sampled_from(WORDS) | st.text(max_size=4)
paths = st.lists(keys, min_size=1, max_size=3).map(tuple)
numbers = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0)
positive = numbers.map(abs)
texts = st.text(max_size=5)
times = st.integers(parse_time("0001-01-01T00:00:00Z"), parse_time("9999-12-31T23:59:59Z"))
instants = times.map(Instant)
flags = st.booleans()
degrees = st.none() | st.floats(0, 1).map(abs)
ordered = st.one_of([st.lists(some, min_size=2, max_size=3) for some in (numbers, texts, instants)])


def between(path: tuple[str, ...], ends: list[object], negated: bool) -> Between:
    return Between(path, ends[0], ends[1], negated)


@st.composite
def trapezoids(draw: st.DrawFn) -> TrapezoidTerm:
    corners: list[float | None] = sorted(draw(st.tuples(numbers, numbers, numbers, numbers)))
    if draw(flags):
        corners[:2] = None, None
    if draw(flags):
        corners[2:] = None, None
    return TrapezoidTerm(tuple(corners))


half = st.floats(-8e307, 8e307).map(lambda value: value + 0.0)
terms = st.builds(NamedTerm, keys) | trapezoids() | st.builds(AroundTerm, half, half.map(abs))
predicates = st.one_of(
    st.builds(
        Comparison, paths, st.sampled_from(["=", "!="]), numbers | texts | flags | instants, flags
    ),
    st.builds(
        Comparison,
        paths,
        st.sampled_from(["<", "<=", ">", ">="]),
        numbers | texts | instants,
        flags,
    ),
    st.builds(In, paths, ordered.map(tuple), flags),
    st.builds(between, paths, ordered, flags),
    st.builds(
        TextMatch, paths, st.sampled_from(["contains", "starts with", "ends with"]), texts, flags
    ),
    st.builds(Exists, paths, flags),
    st.builds(
        Is,
        paths,
        terms,
        st.lists(st.sampled_from(["very", "somewhat"]), max_size=2).map(tuple),
        flags,
        degrees,
        degrees,
    ),
)


def levels(parts: st.SearchStrategy[Where]) -> st.SearchStrategy[Where]:
    operands = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.builds(And, operands) | st.builds(Or, operands)


conditions = st.recursive(predicates, levels, max_leaves=8)

own_leaves = st.builds(Degree, st.sampled_from(["possibility", "necessity"]))
audience_leaves = st.sampled_from([OfSubscription("score"), OfSubscription("volume")]) | st.builds(
    OfSubscription, st.just("profile"), keys
)
axes = st.builds(Axis, paths, numbers, positive)
leaves = st.one_of(
    st.builds(Number, positive),
    st.builds(AttributeValue, paths),
    st.builds(
        Distance,
        st.sampled_from(["distance", "max_distance"]),
        st.lists(axes, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(Relevance, paths, texts),
    st.builds(Cosine, paths, st.lists(numbers, min_size=1, max_size=3).map(tuple)),
)


def operations(parts: st.SearchStrategy[Score]) -> st.SearchStrategy[Score]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Negate, parts),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/", "^"]), parts, parts),
        st.builds(Call, st.sampled_from(["min", "max"]), several),
        st.builds(Call, st.sampled_from(["abs", "sqrt", "log", "exp"]), st.tuples(parts)),
    )


def scores(own: st.SearchStrategy[Score]) -> st.SearchStrategy[Score]:
    return st.recursive(leaves | own, operations, max_leaves=8)


def named_terms(where: Where) -> list[Is]:
    if isinstance(where, And | Or):
        return [found for part in where.operands for found in named_terms(part)]
    return [where] if isinstance(where, Is) and isinstance(where.term, NamedTerm) else []


def vocabulary_for(where: Where) -> Vocabulary:
    attributes: dict[tuple[str, ...], dict[str, Term]] = {}
    for predicate in named_terms(where):
        attributes.setdefault(predicate.path, {})[predicate.term.name] = Term()
    return Vocabulary({path: Attribute(terms=terms) for path, terms in attributes.items()})


@examples(166)
@given(conditions)
def test_conditions(where: Where) -> None:
    vocabulary = vocabulary_for(where)
    text = print_where(where)
    again = parse_where(text, vocabulary, DEEP)
    # Representations tell 1 from True; values do not.
    assert again == where
    assert repr(again) == repr(where)
    assert print_where(again) == text


@examples(116)
@given(scores(own_leaves))
def test_scores(score: Score) -> None:
    text = print_score(score)
    assert parse_any_score(text, DEEP) == score
    assert print_score(parse_any_score(text, DEEP)) == text


@examples(116)
@given(scores(audience_leaves))
def test_audience_scores(score: Score) -> None:
    text = print_score(score)
    assert parse_audience_score(text, DEEP) == score
    assert print_score(parse_audience_score(text, DEEP)) == text


def nested(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        parts.map("not {}".format),
        parts.map("({})".format),
        parts.map("not ({})".format),
        st.lists(parts, min_size=2, max_size=3).map(" and ".join),
        st.lists(parts, min_size=2, max_size=3).map(" or ".join),
    )


def depth_of(text: str) -> int:
    for depth in range(200):
        try:
            parse_where(text, limits=Limits(expression_depth=depth))
        except LanguageError:
            continue
        return depth
    raise AssertionError(text)


@examples(66)
@given(st.recursive(st.sampled_from(["a = 1", "b not in (2)"]), nested, max_leaves=10))
@example("a = 1 and not (a = 1 or a = 1 and a = 1)")
def test_canonical_text_is_never_deeper(text: str) -> None:
    assert depth_of(print_where(parse_where(text, limits=DEEP))) <= depth_of(text)
