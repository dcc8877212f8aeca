"""What comes out of matching a block: pairs as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from shortlist.matching.blocks import Bools, Floats, Ints, Longs
from shortlist.matching.coarse import middles
from shortlist.model.settings import Bits


@dataclass(frozen=True, slots=True)
class Matches:
    """Publications, by place in the block, and subscriptions, by number, side by side.

    Those who come first are certain: their degrees are (1, 1). Then come some that are fully
    possible and not at all certain, with the degrees (1, 0). The last ones have degrees of their
    own.
    """

    publications: Ints
    subscriptions: Ints
    possibilities: Floats
    necessities: Floats
    uncertain: int = 0
    """So many have the degrees (1, 0)."""

    @property
    def count(self) -> int:
        return self.publications.size

    @property
    def certain(self) -> int:
        """So many have the degrees (1, 1)."""
        return self.publications.size - self.uncertain - self.possibilities.size

    @property
    def possibility(self) -> Floats:
        """Of every pair."""
        ones = np.ones(self.certain + self.uncertain)
        return np.append(ones, self.possibilities)

    @property
    def necessity(self) -> Floats:
        """Of every pair."""
        ones, zeros = np.ones(self.certain), np.zeros(self.uncertain)
        return np.concatenate([ones, zeros, self.necessities])

    def coarse(self, bits: Bits) -> "Matches":
        """The same with degrees of so few bits.

        >>> half = np.array([0.5])
        >>> Matches(np.array([0]), np.array([7]), half, half).coarse(3).possibility
        array([0.5625])
        """
        return replace(
            self,
            possibilities=middles(self.possibility[self.certain :], bits),
            necessities=middles(self.necessity[self.certain :], bits),
            uncertain=0,
        )

    @classmethod
    def sure(cls, publications: Ints, subscriptions: Ints) -> "Matches":
        """Pairs that are certain."""
        return cls(publications, subscriptions, none := np.empty(0), none)

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[int, int, float, float]]) -> "Matches":
        """Of (publication, subscription, possibility, necessity)."""
        publications, subscriptions, possibilities, necessities = (
            zip(*rows, strict=True) if rows else ((),) * 4
        )
        return cls(
            np.array(publications, np.int32),
            np.array(subscriptions, np.int32),
            np.array(possibilities, np.float64),
            np.array(necessities, np.float64),
        )

    def kept(self, which: Bools) -> "Matches":
        """Those of the pairs that are wanted."""
        graded = which[self.certain + self.uncertain :]
        uncertain = which[self.certain : self.certain + self.uncertain]
        return Matches(
            self.publications[which],
            self.subscriptions[which],
            self.possibilities[graded],
            self.necessities[graded],
            int(np.count_nonzero(uncertain)),
        )

    def moved(self, places: Longs) -> "Matches":
        """The same with publication n at the n-th of these places."""
        return replace(self, publications=places.astype(np.int32)[self.publications])

    def renumbered(self, numbers: Ints) -> "Matches":
        """The same with the n-th of these numbers for subscription n."""
        return replace(self, subscriptions=numbers[self.subscriptions])

    @classmethod
    def joined(cls, some: Sequence["Matches"]) -> "Matches":
        """All of several: first what is certain.

        >>> one = Matches(np.array([0, 1]), np.array([7, 7]), np.array([0.5]), np.array([0.25]))
        >>> both = Matches.joined([one, one])
        >>> both.publications.tolist(), both.possibility.tolist()
        ([0, 0, 1, 1], [1.0, 1.0, 0.5, 0.5])
        """
        some = [each for each in some if each.count] or list(some[:1])
        if len(some) == 1:
            return some[0]
        ends = [(each.certain, each.certain + each.uncertain) for each in some]

        def ordered(arrays: list[Ints]) -> Ints:
            parts = [np.split(array, end) for array, end in zip(arrays, ends, strict=True)]
            return np.concatenate([*chain.from_iterable(zip(*parts, strict=True))])

        high = np.concatenate([each.possibilities for each in some])
        if all(each.possibilities is each.necessities for each in some):
            low = high  # nothing fuzzy was published
        else:
            low = np.concatenate([each.necessities for each in some])
        return cls(
            ordered([each.publications for each in some]),
            ordered([each.subscriptions for each in some]),
            high,
            low,
            sum(each.uncertain for each in some),
        )
