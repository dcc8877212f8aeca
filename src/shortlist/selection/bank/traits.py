"""What advertisements ask about subscriptions, as columns."""

from collections import defaultdict
from collections.abc import Callable
from math import nan

import numpy as np

from shortlist.language.tree import OfSubscription
from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Bools, Floats, Ints
from shortlist.model.subscription import Subscription
from shortlist.scoring.candidates import Scoring


class _Column:
    """One trait, by the number of a subscription."""

    def __init__(self) -> None:
        self.values: Floats = np.zeros(8)
        self.is_known: Bools = np.zeros(8, np.bool_)

    def reserve(self, count: int) -> None:
        self.values = with_length(self.values, count)
        self.is_known = with_length(self.is_known, count)


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
        self._columns: defaultdict[OfSubscription, _Column] = defaultdict(_Column)

    def of(self, trait: OfSubscription, numbers: Ints) -> Floats:
        """The trait of each of these subscriptions; NaN where a profile does not have it."""
        column = self._columns[trait]
        column.reserve(int(numbers.max(initial=0)) + 1)
        new = np.unique(numbers[~column.is_known[numbers]])
        if new.size:
            column.values[new] = [self._looked_up(trait, number) for number in new.tolist()]
            column.is_known[new] = True
        return column.values[numbers]

    def forget(self, number: int) -> None:
        for column in self._columns.values():
            column.is_known[number : number + 1] = False

    def _looked_up(self, trait: OfSubscription, number: int) -> float:
        subscription = self._subscription(number)
        if trait.key is None:
            return self._scoring.volume(subscription.id)
        return subscription.profile.get(trait.key, nan)
