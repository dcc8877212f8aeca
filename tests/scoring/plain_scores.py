"""What the plain evaluator says of a pair, for comparison."""

import math

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_score
from shortlist.matching.values import Reader
from shortlist.model.rounding import rounded
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.expression import Subject, Uncomputable, expression

CERTAIN = Degrees(1.0, 1.0)


class PlainScores:
    """Subscriptions by number, scored one pair at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._subscriptions = {}

    def __iter__(self):
        return iter(self._subscriptions)

    def __len__(self):
        return len(self._subscriptions)

    def add(self, number: int, subscription: Subscription) -> None:
        score = expression(parse_any_score(subscription.score), self._vocabulary)
        self._subscriptions[number] = score, subscription.at_least.score

    def remove(self, number: int) -> None:
        del self._subscriptions[number]

    def of(self, number: int, read: Reader, degrees: Degrees = CERTAIN) -> float:
        """The rounded score, NaN where there is none."""
        evaluate, least = self._subscriptions[number]
        try:
            value = evaluate(Subject(read, degrees))
        except Uncomputable:
            return math.nan
        if not math.isfinite(value):
            return math.nan
        score = rounded(value)
        return math.nan if least is not None and score < least else score
