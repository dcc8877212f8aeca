"""What comes out of matching a block: pairs as arrays, with degrees as doubles or in a few bits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Bools, Floats, Ints, Longs
from shortlist.model.settings import Bits


@dataclass(frozen=True, slots=True)
class PackedDegrees:
    """Degrees as the numbers of their cells, side by side in bytes.

    A degree is given back as the middle of its cell; of the last cell, which certainty is in, as 1.

    >>> packed = PackedDegrees.of(np.array([0.1, 0.8, 1.0]), 2)
    >>> packed.data.size, packed.degrees().tolist()
    (1, [0.125, 1.0, 1.0])
    """

    bits: Bits
    count: int
    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, degrees: Floats, bits: Bits) -> "PackedDegrees":
        cells = np.minimum(degrees * 2**bits, 2**bits - 1).astype(np.uint8)
        unpacked = np.unpackbits(cells[:, np.newaxis], axis=1)[:, 8 - bits :]
        return cls(bits, degrees.size, np.packbits(unpacked))

    @property
    def size(self) -> int:
        return self.count

    def degrees(self) -> Floats:
        unpacked = np.unpackbits(self.data, count=self.count * self.bits)
        cells = unpacked.reshape(self.count, self.bits) @ (1 << np.arange(self.bits)[::-1])
        return np.where(cells == 2**self.bits - 1, 1.0, (cells + 0.5) / 2**self.bits)


@dataclass(frozen=True, slots=True)
class Matches:
    """Publications, by place in the block, and subscriptions, by number, side by side.

    Those who come first are certain: their degrees are (1, 1). Then come some that are fully
    possible and not at all certain, with the degrees (1, 0). The last ones have degrees of their
    own.
    """

    publications: Ints
    subscriptions: Ints
    possibilities: Floats | PackedDegrees
    necessities: Floats | PackedDegrees
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
        return np.append(ones, _unpacked(self.possibilities))

    @property
    def necessity(self) -> Floats:
        """Of every pair."""
        ones, zeros = np.ones(self.certain), np.zeros(self.uncertain)
        return np.concatenate([ones, zeros, _unpacked(self.necessities)])

    @property
    def nbytes(self) -> int:
        """What the pairs and their degrees take."""
        pairs = self.publications.nbytes + self.subscriptions.nbytes
        return pairs + _data(self.possibilities).nbytes + _data(self.necessities).nbytes

    def packed(self, bits: Bits) -> "Matches":
        """The same with degrees in a few bits each.

        >>> half = np.array([0.5])
        >>> Matches(np.array([0]), np.array([7]), half, half).packed(3).possibility
        array([0.5625])
        """
        return replace(
            self,
            possibilities=PackedDegrees.of(self.possibility[self.certain :], bits),
            necessities=PackedDegrees.of(self.necessity[self.certain :], bits),
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
            _unpacked(self.possibilities)[graded],
            _unpacked(self.necessities)[graded],
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

        high = np.concatenate([*(_unpacked(each.possibilities) for each in some)])
        if all(each.possibilities is each.necessities for each in some):
            low = high  # nothing fuzzy was published
        else:
            low = np.concatenate([*(_unpacked(each.necessities) for each in some)])
        return cls(
            ordered([each.publications for each in some]),
            ordered([each.subscriptions for each in some]),
            high,
            low,
            sum(each.uncertain for each in some),
        )


def _unpacked(degrees: Floats | PackedDegrees) -> Floats:
    return degrees.degrees() if isinstance(degrees, PackedDegrees) else degrees


def _data(degrees: Floats | PackedDegrees) -> npt.NDArray[Any]:
    return degrees.data if isinstance(degrees, PackedDegrees) else degrees
