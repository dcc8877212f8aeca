"""The publisher's audience out of columns: the k best of very many candidates."""

from collections import defaultdict
from collections.abc import Callable
from functools import partial, reduce
from math import nan

import numpy as np

from shortlist.language.tree import Arithmetic, Call, Negate, OfSubscription, Score
from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.matching.values import Read
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Scoring
from shortlist.scoring.expression import Subject, Uncomputable, expression
from shortlist.scoring.kernels.programs import change, combine
from shortlist.scoring.numbers import Numbers
from shortlist.scoring.templates import ARITHMETIC, FUNCTIONS
from shortlist.selection.audience import Advertisements, Inducement
from shortlist.selection.bank.tables import Table
from shortlist.selection.kernels.audience import round_all, with_smallest_ids


class Traits:
    """Volumes and the numbers of profiles; each is found out when it is first asked for.

    >>> from shortlist.model.vocabulary import Vocabulary
    >>> known = {7: Subscription(id="s", profile={"age": 30})}
    >>> traits = Traits(Scoring(Vocabulary()), known.__getitem__)
    >>> traits.of(OfSubscription("profile", "age"), np.array([7, 7]))
    array([30., 30.])
    """

    def __init__(self, scoring: Scoring, subscription: Callable[[int], Subscription]) -> None:
        self._scoring = scoring
        self._subscription = subscription
        self._known: defaultdict[OfSubscription, Table] = defaultdict(
            lambda: Table([("value", "f8"), ("is_known", "?")])
        )

    def of(self, trait: OfSubscription, numbers: Ints) -> Floats:
        """The trait of each of these subscriptions; NaN where a profile does not have it."""
        known = self._known[trait]
        known.put_all(numbers)
        new = np.unique(numbers[~known["is_known"][numbers]])
        if new.size:
            values = [self._looked_up(trait, number) for number in new.tolist()]
            known.put_all(new, value=values, is_known=True)
        found: Floats = known["value"][numbers]
        return found

    def forget(self, number: int) -> None:
        for known in self._known.values():
            known["is_known"][number : number + 1] = False

    def _looked_up(self, trait: OfSubscription, number: int) -> float:
        subscription = self._subscription(number)
        if trait.key is None:
            return self._scoring.volume(subscription.id)
        return subscription.profile.get(trait.key, nan)


class AudienceScores:
    """Evaluates scores for the candidates of one publication: their scores, whom they name."""

    def __init__(
        self, vocabulary: Vocabulary, traits: Traits, read: Read, scores: Floats, named: Ints
    ) -> None:
        self._vocabulary = vocabulary
        self._traits = traits
        self._subject = Subject(read)
        self._scores = scores
        self._named = named
        self._lacks = np.zeros(scores.size, np.bool_)

    def rounded(self, score: Score) -> Floats:
        """The rounded values, NaN where there is none."""
        values = np.empty(self._scores.size)
        try:
            values[:] = self._values(score)
        except Uncomputable:
            values[:] = np.nan
        values[self._lacks] = np.nan  # whatever became of it: nan ^ 0 is 1
        round_all(values)
        return values

    def _values(self, score: Score) -> Floats:
        """One for each candidate, also where it is the same for all."""
        match score:
            case OfSubscription("score"):
                return self._scores
            case OfSubscription():
                values = self._traits.of(score, self._named)
                if score.name == "profile":
                    self._lacks |= np.isnan(values)
                return values
            case Negate(operand):
                return -self._values(operand)
            case Arithmetic(operator, left, right):
                return self._combined(ARITHMETIC[operator], self._values(left), self._values(right))
            case Call("min" | "max" as function, arguments):
                return reduce(
                    partial(self._combined, FUNCTIONS[function]), map(self._values, arguments)
                )
            case Call(function, (argument,)):
                stack = self._values(argument).copy().reshape(1, -1)
                change(FUNCTIONS[function], stack, 0, self._scores.size)
                return stack.ravel()
        return np.full(self._scores.size, expression(score, self._vocabulary)(self._subject))

    def _combined(self, operation: int, left: Floats, right: Floats) -> Floats:
        stack = np.empty((2, self._scores.size))
        stack[0], stack[1] = left, right
        combine(operation, stack, 0, self._scores.size)
        result: Floats = stack[0]
        return result


def around_border(scores: Floats, k: int) -> tuple[Longs, Longs]:
    """The places that are surely among the k best, and those that compete for what is left.

    There are more than k, which is not 0; what cannot be computed comes last.

    >>> around_border(np.array([0.5, np.nan, 0.75, 0.5]), 2)
    (array([2]), array([0, 3]))
    """
    costs = -scores  # NumPy, too, puts what is not a number last
    border = np.partition(costs, k - 1)[k - 1]
    lacks = np.isnan(costs)
    better, tied = (~lacks, lacks) if np.isnan(border) else (costs < border, costs == border)
    return np.flatnonzero(better), np.flatnonzero(tied)


class BulkAudience:
    """Chooses as `Advertisements.nominate` does; shortlists and subscriptions by number."""

    def __init__(
        self,
        advertisements: Advertisements,
        scoring: Scoring,
        shortlists: Numbers,
        subscription: Callable[[int], Subscription],
    ) -> None:
        self._advertisements = advertisements
        self._shortlists = shortlists
        self._traits = Traits(scoring, subscription)

    def forget(self, subscription: int) -> None:
        """A subscription goes, and its number may be used again."""
        self._traits.forget(subscription)

    def chosen(
        self, inducement: Inducement, read: Read, shortlists: Ints, scores: Floats, named: Ints
    ) -> tuple[Longs, Floats]:
        """The places of a publication's k best candidates, best first, and their audience scores.

        A score that cannot be computed is NaN.
        """
        vocabulary = self._advertisements.vocabulary
        ranking = AudienceScores(vocabulary, self._traits, read, scores, named)
        ranked = ranking.rounded(self._advertisements.score(inducement.advertisement))
        best = self._best(inducement.k, shortlists, ranked)
        return best, ranked[best]

    def _best(self, k: int, shortlists: Ints, scores: Floats) -> Longs:
        best = np.arange(scores.size)[:k]
        if 0 < k < scores.size:
            better, tied = around_border(scores, k)
            if better.size + tied.size > k:
                numbers = shortlists[tied].astype(np.int32)
                spelled = self._shortlists.spelled()
                tied = tied[with_smallest_ids(spelled, numbers, k - better.size)]
            best = np.append(better, tied)
        lacks, ids = np.isnan(scores[best]), self._shortlists.names
        costs = np.where(lacks, 0.0, -scores[best])
        names = [ids[number] for number in shortlists[best].tolist()]
        rows = zip(lacks.tolist(), costs.tolist(), names, best.tolist(), strict=True)
        return np.array([place for *_, place in sorted(rows)], np.int64)
