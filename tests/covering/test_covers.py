"""Covering by example: a table of pairs of conditions, then subscriptions."""

import pytest

from shortlist.covering.covers import (
    covers,
    exactly_covers,
    intersects,
    where_covers,
    where_intersects,
)
from shortlist.language.parser import parse_where
from shortlist.model.subscription import AtLeast, Subscription, Weights
from shortlist.model.vocabulary import Attribute, Term, Vocabulary

CHEAP = Term(trapezoid=(None, None, 1200.0, 1500.0))
VOCABULARY = Vocabulary(
    {
        ("rent",): Attribute(type="number", terms={"cheap": CHEAP}),
        ("genre",): Attribute(type="string", many=True),
        ("released",): Attribute(type="time"),
        ("embedding",): Attribute(type="vector"),
    }
)

# covers with fuzzy values | covers with crisp values only | a | b
COVERS = """
yes | yes | x < 10 | x < 9
yes | yes | x < 10 | x < 10
no  | no  | x < 10 | x <= 10
yes | yes | x != 3 | x > 3
no  | yes | x > 3 | x != 3 and x >= 3
yes | yes | x = 3 | x >= 3 and x <= 3
yes | yes | x between 1 and 5 | x between 2 and 3
yes | yes | x in (1, 2, 3) | x in (3, 1)
no  | no  | x in (1, 2) | x between 1 and 2
yes | yes | x not between 2 and 3 | x in (1, 4)
no  | yes | x > 5 | x not between 2 and 5 and x > 2
no  | yes | y = 7 | x < 2 and x > 5
yes | yes | y = 7 | x between 5 and 2
yes | yes | x exists | x is around(3, 1)
yes | yes | x exists | not x = 3
no  | no  | x exists | y exists
no  | no  | x = 3 or not x = 3 | x exists
yes | yes | not x exists | not x exists and y = 1
yes | yes | y = 7 | x exists and not x exists
no  | no  | not x = 3 | not x exists
yes | yes | y = 7 | x = 1 and x = 'a'
yes | yes | y = 7 | x = true and x = 1
no  | no  | x = true | x = 1
yes | yes | x != false | x = true
no  | no  | x = 1 or y = 2 | x = true or y = 2
yes | yes | x >= '' | x = 'a'
no  | no  | x >= '' | x exists
yes | yes | x starts with 'a' | x starts with 'ab'
no  | no  | x starts with 'ab' | x starts with 'a'
yes | yes | x contains 'b' | x starts with 'ab'
yes | yes | x contains 'ana' | x ends with 'banana'
no  | yes | x = 'ab' | x starts with 'ab' and x <= 'ab'
yes | yes | x >= 'ab' | x starts with 'ab'
yes | yes | x < 'b' | x starts with 'a'
yes | yes | x between 'a' and 'b' | x starts with 'a'
yes | yes | x > 'abc' | x starts with 'abd'
yes | yes | x != 'abc' | x starts with 'b'
yes | yes | x not contains 'b' | x in ('a', 'ca')
no  | yes | y = 1 | x = 'a' and x = 'b'
yes | yes | y = 1 | x < ''
no  | yes | x < 'bb' | x starts with 'b' and x <= 'bb' and x != 'bb'
yes | yes | x = '' | x <= ''
yes | yes | event.source starts with 'a' | event.source between 'a' and 'ab'
yes | yes | y = 1 | event.source = 'a' and event.source = 'b'
yes | yes | event.id exists | x = 1
yes | yes | event.id >= '' | x = 1
no  | no  | event.type >= '' | x = 1
yes | yes | event.type >= '' | event.type exists
yes | yes | y = 1 | event.id = 3
yes | yes | y = 1 | not event.time exists
yes | yes | y = 1 | event.time contains 'a'
yes | yes | event.time >= '2026-01-02' | event.time > '2026-01-01T23:59:59.999999Z'
yes | yes | y = 1 | released > '2026-01-01' and released < '2026-01-01T00:00:00.000001Z'
no  | no  | y = 1 | released > '2026-01-01' and released < '2026-01-01T00:00:00.000002Z'
yes | yes | released != '2026-01-01' | released > '2026-01-01'
yes | yes | y = 1 | x = time '2026-01-01'
yes | yes | y = 1 | x = 5 and x.deep = 1
yes | yes | not x exists | x.deep = 1
yes | yes | not x.deep.er exists | x = 5
no  | yes | not x exists | x.term = 'cheap'
no  | no  | x.deep = 1 | not x exists
no  | no  | not event.id.x exists | x = 1
yes | yes | embedding exists | embedding exists and x = 1
yes | yes | genre = 'a' | genre = 'a' and genre = 'b'
yes | yes | genre exists | genre != 'a'
no  | no  | not genre = 'a' | genre = 'b'
no  | no  | y = 1 | genre = 'a' and not genre = 'b'
yes | yes | rent is cheap | rent is cheap and rent < 900
no  | no  | rent is cheap | rent < 900
no  | no  | rent is cheap | rent is very cheap
no  | no  | rent is cheap (possibility >= 0.5) | rent is cheap
yes | yes | x = 1 or y = 1 | y = 1
yes | yes | x < 3 | x = 1 or x = 2
no  | no  | x < 3 | x = 1 or x = 2 or x = 3
yes | yes | x < 3 or y < 3 | (x = 1 or y = 1) and z = 1
yes | yes | x < 3 and y < 3 | (x < 2 and y < 2) and (z = 1 or z = 2)
yes | yes | (x = 1 or y = 1) and z < 5 | (z = 1 or z = 2) and (y = 1 or x = 1)
"""

# intersects with fuzzy values | intersects with crisp values only | a | b
INTERSECTS = """
yes | no  | x < 2 | x > 5
no  | no  | x < 2 | x between 5 and 4
yes | no  | x = 'a' | x = 'b'
no  | no  | x = 'a' | x = 1
no  | no  | x exists | not x exists
yes | yes | x exists | not y exists
no  | no  | event.source = 'a' | event.source = 'b'
yes | yes | genre = 'a' | genre = 'b'
no  | no  | event.source = 'a' or event.source = 'b' | event.source > 'c' or event.source < 'a'
yes | yes | event.source = 'a' or event.source = 'd' | event.source > 'c' or event.source < 'a'
yes | yes | x is around(3, 1) | x > 9
yes | yes | x contains 'abc' | x ends with 'cab'
yes | no  | x starts with 'b' | x < 'ab'
"""


def rows(table: str) -> list[tuple[bool, bool, str, str]]:
    cells = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(fuzzy == "yes", crisp == "yes", a, b) for fuzzy, crisp, a, b in cells]


@pytest.mark.parametrize(("fuzzy", "crisp", "a", "b"), rows(COVERS))
def test_covers(fuzzy: bool, crisp: bool, a: str, b: str) -> None:
    general, special = parse_where(a, VOCABULARY), parse_where(b, VOCABULARY)
    assert where_covers(general, special, VOCABULARY) == fuzzy
    assert where_covers(general, special, VOCABULARY, crisp_values_only=True) == crisp


@pytest.mark.parametrize(("fuzzy", "crisp", "a", "b"), rows(INTERSECTS))
def test_intersects(fuzzy: bool, crisp: bool, a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        left, right = parse_where(one, VOCABULARY), parse_where(other, VOCABULARY)
        assert where_intersects(left, right, VOCABULARY) == fuzzy
        assert where_intersects(left, right, VOCABULARY, crisp_values_only=True) == crisp


def test_no_condition_holds_of_everything() -> None:
    some, none = parse_where("x = 1"), parse_where("x = 1 and x = 'a'")
    assert where_covers(None, None, VOCABULARY)
    assert where_covers(None, some, VOCABULARY)
    assert not where_covers(some, None, VOCABULARY)
    assert where_intersects(None, some, VOCABULARY)
    assert not where_intersects(None, none, VOCABULARY)
    assert exactly_covers(None, some, VOCABULARY)
    assert not exactly_covers(some, None, VOCABULARY)


@pytest.mark.parametrize(
    ("expected", "a", "b"),
    [
        (True, "x < 3", "x < 2 and (y = 1 and z = 1)"),
        (False, "x < 2", "x < 3"),
        (False, "x < 3 or y = 1", "x < 2"),
        (True, "x < 3 or y = 1", "x<3.0 OR (y = 1)"),
        (False, "x < 3 or y = 1", "y = 1 or x < 3"),
        (False, "x < 3", "x < 3 and genre = 'a'"),
        (True, "genre = 'a'", "genre = 'a'"),
        (True, "rent is cheap", "rent is cheap"),
        (False, "rent is cheap", "rent is cheap and x = 1"),
        (False, "x = 1", "rent is cheap and rent = 'a'"),
    ],
)
def test_what_users_see_is_exact_or_false(expected: bool, a: str, b: str) -> None:
    general, special = parse_where(a, VOCABULARY), parse_where(b, VOCABULARY)
    assert exactly_covers(general, special, VOCABULARY) == expected


def test_a_search_that_grows_too_large_is_given_up_on_the_safe_side() -> None:
    words = [f"{first}{'a' * 30}{second}" for first in "bcdefg" for second in "hijklm"]
    text = " and ".join(f"event.id contains '{word}'" for word in words)
    all_words, last = parse_where(text), parse_where("event.id ends with 'b' and event.id < 'a'")
    assert where_intersects(all_words, last, VOCABULARY)
    assert not where_covers(last, all_words, VOCABULARY)


def test_alternatives_that_are_too_many_are_compared_as_they_stand() -> None:
    choices = " and ".join(f"(x{n} = 1 or y{n} = 1)" for n in range(20))
    many, more = parse_where(choices), parse_where(f"z < 1 and ({choices})")
    assert where_covers(many, more, VOCABULARY)
    assert where_covers(parse_where("x1 = 1 or y1 = 1"), more, VOCABULARY)
    assert where_covers(parse_where("x19 = 1 or y19 = 1"), more, VOCABULARY)
    assert where_intersects(many, more, VOCABULARY)


def subscription(where: str | None = "x < 3", **fields: object) -> Subscription:
    return Subscription(id="s", where=where, **fields)  # type: ignore[arg-type]


HALF = AtLeast(possibility=0.5)
FULL = AtLeast(possibility=1.0)
SCORED = AtLeast(score=0.5)
EITHER = "x < 3 or y < 3"
BOTH = "x < 3 and y < 3"


@pytest.mark.parametrize(
    ("expected", "a", "b"),
    [
        (True, subscription(), subscription("x < 2")),
        (False, subscription("x < 2"), subscription()),
        (True, subscription(None), subscription()),
        (True, subscription(None, at_least=FULL), subscription()),
        # norms
        (True, subscription(), subscription("x < 2 and y < 2", norm="product")),
        (False, subscription(), subscription("x < 2 and y < 2", norm="average")),
        (False, subscription(), subscription("x < 2 and y < 2", norm=Weights((1.0, 2.0)))),
        (True, subscription(), subscription("x < 2 and x < 1", norm="max")),
        (True, subscription(EITHER), subscription("x < 2 and y < 1", norm="average")),
        (True, subscription(BOTH, norm="average"), subscription(BOTH)),
        (True, subscription(BOTH, norm="max"), subscription(BOTH)),
        (False, subscription(EITHER, norm="average"), subscription("x < 3")),
        (False, subscription(BOTH, norm="product"), subscription(BOTH)),
        (True, subscription(BOTH, norm="product"), subscription(BOTH, norm="product")),
        (True, subscription(norm="product"), subscription("x < 2")),
        # thresholds
        (False, subscription(at_least=HALF), subscription("x < 2")),
        (False, subscription(at_least=HALF), subscription("x < 3")),
        (True, subscription(at_least=HALF), subscription("x  <  3.0", at_least=FULL)),
        (False, subscription(at_least=FULL), subscription(at_least=HALF)),
        (True, subscription(), subscription("x < 2", at_least=HALF)),
        (True, subscription(at_least=FULL), subscription("x < 2 and x = 'a'")),
        # scores
        (True, subscription(score=0.5), subscription("x < 2", score="x / y")),
        (True, subscription(score="1 - 2 * possibility"), subscription("x < 2")),
        (False, subscription(score="1 / possibility"), subscription("x < 2")),
        (False, subscription(score="y"), subscription("x < 2")),
        (False, subscription(score="y"), subscription("x < 2 and y = 1")),
        (True, subscription(score="-y"), subscription("x < 2", score="distance(x: 1, y: 2)")),
        (False, subscription(score="-y"), subscription("x < 2", score="relevance(y, 'a')")),
        (False, subscription(score="y + y"), subscription("x < 2", score="y")),
        (False, subscription(score="max(1, 0 * (1 / y))"), subscription("x < 2", score="y")),
        (True, subscription(score="y + y"), subscription("x < 2", score="(y+y)")),
        (
            False,
            subscription(score="1 / possibility"),
            subscription("x < 2", score="1 / possibility"),
        ),
        (True, subscription(score="1 / possibility"), subscription(score="1 / possibility")),
        # thresholds on scores
        (False, subscription(score=0.9, at_least=SCORED), subscription("x < 2")),
        (
            True,
            subscription(score="y", at_least=SCORED),
            subscription("x < 2", score="y", at_least=AtLeast(score=0.75)),
        ),
        (
            False,
            subscription(at_least=SCORED),
            subscription("x < 2", at_least=SCORED),
        ),
        (
            False,
            subscription(score="y", at_least=SCORED, shortlist="l"),
            subscription("x < 2", score="y", at_least=SCORED),
        ),
        (
            True,
            subscription(score="y", at_least=SCORED, shortlist="l"),
            subscription(score="y", at_least=SCORED, shortlist="l"),
        ),
    ],
)
def test_subscriptions(expected: bool, a: Subscription, b: Subscription) -> None:
    assert covers(a, b, VOCABULARY) == expected


@pytest.mark.parametrize(
    ("expected", "a", "b"),
    [
        (False, subscription("event.id < 'b'"), subscription("event.id > 'c'")),
        (True, subscription(None), subscription("event.id > 'c'")),
        (False, subscription(None), subscription("x = 1 and x = 'a'", norm="lukasiewicz")),
        (True, subscription(None), subscription("x = 1 and x = 'a'", norm="max")),
        (
            False,
            subscription("event.id = 'b'"),
            subscription("event.id < 'b' and x < ''", norm="max"),
        ),
    ],
)
def test_subscriptions_that_may_meet(expected: bool, a: Subscription, b: Subscription) -> None:
    assert intersects(a, b, VOCABULARY) == expected
    assert intersects(b, a, VOCABULARY) == expected
