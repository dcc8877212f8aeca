"""Covering and intersecting: what holds of every publication, known before there is one.

`covers` is never true when it should be false, and `intersects` never false when it should be true.
Both are exact for conjunctions of crisp predicates on attributes that are not `many`. Published
values may be fuzzy, and that matters: `x = 2 and x = 3` can hold, of a fuzzy number.
"""

from dataclasses import dataclass

from shortlist.covering.conjunctions import Conjunction, cases
from shortlist.language.parser import parse_any_score, parse_any_where
from shortlist.language.printer import print_where
from shortlist.language.tree import And, Is, Or, Score, Where, predicates
from shortlist.matching.computable import computable_with, uses_degrees
from shortlist.model.settings import UNLIMITED, Limits
from shortlist.model.subscription import Norm, Subscription
from shortlist.model.vocabulary import Vocabulary


def where_covers(
    a: Where | None, b: Where | None, vocabulary: Vocabulary, crisp_values_only: bool = False
) -> bool:
    """Whether every publication of which `b` holds makes `a` hold, both under the norm `min`.

    No condition holds of everything. With `crisp_values_only` no published value is fuzzy.

    >>> from shortlist.language.parser import parse_where
    >>> above, apart = parse_where("x > 3"), parse_where("x != 3 and x >= 3")
    >>> where_covers(above, apart, Vocabulary(), crisp_values_only=True)
    True
    >>> where_covers(above, apart, Vocabulary())  # not of {"between": [2, 3]}
    False
    """
    return a is None or all(
        conjunction.is_impossible() or conjunction.implies(a)
        for conjunction in _conjunctions(b, vocabulary, crisp_values_only)
    )


def where_intersects(
    a: Where | None, b: Where | None, vocabulary: Vocabulary, crisp_values_only: bool = False
) -> bool:
    """Whether some publication may make both hold, under the norm `min`.

    >>> from shortlist.language.parser import parse_where
    >>> low, high = parse_where("x < 2"), parse_where("x > 5")
    >>> where_intersects(low, high, Vocabulary(), crisp_values_only=True)
    False
    >>> where_intersects(low, high, Vocabulary())  # {"between": [1, 6]}
    True
    """
    given = tuple(where for where in (a, b) if where is not None)
    both = And(given) if given else None
    conjunctions = _conjunctions(both, vocabulary, crisp_values_only)
    return not all(conjunction.is_impossible() for conjunction in conjunctions)


def exactly_covers(a: Where | None, b: Where | None, vocabulary: Vocabulary) -> bool:
    """Covering as users see it: exact on crisp conjunctions and on equal text, otherwise false.

    >>> from shortlist.language.parser import parse_where
    >>> one, either = map(parse_where, ("genre = 'drama'", "genre = 'drama' or genre = 'epic'"))
    >>> where_covers(either, one, Vocabulary()), exactly_covers(either, one, Vocabulary())
    (True, False)
    >>> some = parse_where("genre in ('drama', 'epic')")
    >>> exactly_covers(some, one, Vocabulary()), exactly_covers(either, either, Vocabulary())
    (True, True)
    """
    if _is_crisp_conjunction(a, vocabulary) and _is_crisp_conjunction(b, vocabulary):
        return where_covers(a, b, vocabulary)
    return _text(a) == _text(b)


def covers(
    a: Subscription, b: Subscription, vocabulary: Vocabulary, limits: Limits | None = None
) -> bool:
    """Whether all publications that match `b` match `a`: norms, thresholds and scores included.

    >>> flats = Subscription(id="flats", where="rent < 1000")
    >>> near = Subscription(id="near", where="rent < 900 and rooms = 2", score="-distance(x: 3)")
    >>> covers(flats, near, Vocabulary()), covers(near, flats, Vocabulary())
    (True, False)
    >>> picky = Subscription(id="picky", where="rent < 1000", score="size / rent")
    >>> covers(picky, near, Vocabulary())  # where its score cannot be computed it does not match
    False
    """
    general, special = _Read.of(a, vocabulary, limits), _Read.of(b, vocabulary, limits)
    known = implied(special.where, b.norm)
    return (
        a == b
        or not where_intersects(known, None, vocabulary)
        or (
            _condition_is_covered(general, special, known, vocabulary)
            and _score_is_covered(general, special, vocabulary)
        )
    )


def intersects(
    a: Subscription, b: Subscription, vocabulary: Vocabulary, limits: Limits | None = None
) -> bool:
    """Whether some publication may match both. Thresholds and scores are not looked at.

    >>> drama = Subscription(id="d", where="genre = 'drama' and event.source = 'arte'")
    >>> sport = Subscription(id="s", where="event.source = 'bbc'")
    >>> intersects(drama, sport, Vocabulary())
    False
    """
    one, other = _Read.of(a, vocabulary, limits), _Read.of(b, vocabulary, limits)
    return where_intersects(implied(one.where, a.norm), implied(other.where, b.norm), vocabulary)


@dataclass(frozen=True, slots=True)
class _Read:
    """A subscription with its texts parsed."""

    subscription: Subscription
    where: Where | None
    score: Score

    @staticmethod
    def of(subscription: Subscription, vocabulary: Vocabulary, limits: Limits | None) -> "_Read":
        limits = limits or UNLIMITED
        where = parse_any_where(subscription.where, vocabulary, limits)
        return _Read(subscription, where, parse_any_score(subscription.score, limits))

    def has_degrees_of(self, other: "_Read") -> bool:
        """Whether the two conditions are met to the same degrees by every publication."""
        same_norm = self.subscription.norm == other.subscription.norm or self.where is None
        return same_norm and _text(self.where) == _text(other.where)


def _condition_is_covered(a: _Read, b: _Read, known: Where | None, vocabulary: Vocabulary) -> bool:
    if a.where is None:
        return True  # met to the degrees (1, 1), which no threshold exceeds
    mine, others = a.subscription.at_least, b.subscription.at_least
    if a.has_degrees_of(b):
        return mine.possibility <= others.possibility and mine.necessity <= others.necessity
    enough = _sufficient(a.where, a.subscription.norm)
    return (
        mine.possibility == mine.necessity == 0.0
        and enough is not None
        and where_covers(enough, known, vocabulary)
    )


def _score_is_covered(a: _Read, b: _Read, vocabulary: Vocabulary) -> bool:
    same = a.score == b.score and (not uses_degrees(a.score) or a.has_degrees_of(b))
    mine, others = a.subscription.at_least.score, b.subscription.at_least.score
    if mine is None:
        return same or computable_with(a.score, b.score, vocabulary)
    # A shortlist of several subscriptions may replace scores by levels of preference.
    alone = a.subscription.shortlist is None and b.subscription.shortlist is None
    return same and alone and others is not None and mine <= others


def implied(where: Where | None, norm: Norm) -> Where | None:
    """A condition that holds under `min` wherever this one holds under its norm."""
    if where is None or norm in ("min", "product", "lukasiewicz"):
        return where
    return Or(tuple(predicates(where)))  # under the others nothing comes of zeros only


def _sufficient(where: Where, norm: Norm) -> Where | None:
    """A condition that, where it holds under `min`, makes this one hold under its norm."""
    if not isinstance(where, And | Or) or norm in ("min", "max"):
        return where
    if norm in ("product", "lukasiewicz"):
        return None  # positive degrees may come to nothing
    return And(tuple(predicates(where)))  # a mean of them does not


def _conjunctions(
    where: Where | None, vocabulary: Vocabulary, crisp_values_only: bool
) -> list[Conjunction]:
    return [Conjunction(case, vocabulary, crisp_values_only) for case in cases(where)]


def _is_crisp_conjunction(where: Where | None, vocabulary: Vocabulary) -> bool:
    if isinstance(where, And):
        return all(_is_crisp_conjunction(operand, vocabulary) for operand in where.operands)
    return where is None or not (isinstance(where, Or | Is) or vocabulary.of(where.path).many)


def _text(where: Where | None) -> str | None:
    return None if where is None else print_where(where)
