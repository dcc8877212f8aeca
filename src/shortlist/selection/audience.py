"""Publishers choose too: a publication inside an advertisement goes to its k best shortlists."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shortlist.language.parser import parse_audience_score
from shortlist.language.tree import Number, Score
from shortlist.matching.values import Reader
from shortlist.model.advertisement import Advertisement
from shortlist.model.rounding import rounded
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.expression import Evaluate, Scored, Subject, Uncomputable, expression


class Inducement(NamedTuple):
    """How far a publication may reach, and the advertisement whose score decides."""

    k: int
    advertisement: str


class Nomination(NamedTuple):
    """A candidate shortlist; no score where it cannot be computed."""

    shortlist: str
    score: float | None

    @property
    def order(self) -> tuple[bool, float, str]:
        """Best first; what cannot be computed comes last, ties go to the smaller id."""
        return self.score is None, -(self.score or 0.0), self.shortlist


def chosen(nominations: Iterable[Nomination], k: int) -> list[Nomination]:
    """The k best.

    >>> few = [Nomination("a", None), Nomination("b", 0.5), Nomination("c", math.inf)]
    >>> [nomination.shortlist for nomination in chosen(few, 2)]
    ['c', 'b']
    """
    return sorted(nominations, key=lambda nomination: nomination.order)[:k]


class Advertisements:
    """What the live advertisements rank shortlists by."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self.vocabulary = vocabulary
        self._limits = limits or Limits()
        self._live: dict[str, tuple[Score, Evaluate]] = {}
        """The score of each, read and compiled."""

    def add(self, advertisement: Advertisement) -> None:
        score = advertisement.score
        ranking = (
            parse_audience_score(score, self._limits) if isinstance(score, str) else Number(score)
        )
        self._live[advertisement.id] = ranking, expression(ranking, self.vocabulary)

    def remove(self, advertisement: str) -> None:
        del self._live[advertisement]

    def score(self, advertisement: str) -> Score:
        """What an advertisement ranks its candidates by."""
        return self._live[advertisement][0]

    def nominate(
        self, inducement: Inducement, read: Reader, candidates: Sequence[tuple[str, Scored]]
    ) -> list[Nomination]:
        """The k best of these candidate shortlists, by the inducing advertisement's score."""
        _, evaluate = self._live[inducement.advertisement]
        return chosen(
            (
                Nomination(name, _score(evaluate, Subject(read, candidate=scored)))
                for name, scored in candidates
            ),
            inducement.k,
        )


def _score(evaluate: Evaluate, subject: Subject) -> float | None:
    try:
        found = evaluate(subject)
    except Uncomputable:
        return None
    return None if math.isnan(found) else rounded(found)
