"""Who matched what, as every engine says it: two columns of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Matches:
    """A row for each pair, in any order; numbers are places in the input."""

    publications: NDArray[Any]
    subscriptions: NDArray[Any]

    @classmethod
    def of_each(cls, found: Sequence[NDArray[Any]]) -> "Matches":
        """From the subscriptions that each publication matches."""
        counts = [len(subscriptions) for subscriptions in found]
        return cls(np.repeat(np.arange(len(found)), counts), np.concatenate(found))

    def __len__(self) -> int:
        return len(self.publications)

    def same_as(self, other: "Matches") -> bool:
        """Whether the pairs are the same.

        >>> there, back = np.array([0, 1]), np.array([1, 0])
        >>> Matches(there, back).same_as(Matches(back, there))
        True
        >>> Matches(there, there).same_as(Matches(there, back))
        False
        """
        return np.array_equal(self._ordered(), other._ordered())

    def _ordered(self) -> NDArray[np.int64]:
        keys = self.publications.astype(np.int64) << 32 | self.subscriptions.astype(np.int64)
        return np.sort(keys)
