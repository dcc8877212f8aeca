"""What functions gave before, for objects that travel to other processes."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """A function that keeps what it gave for so many different arguments, and then begins anew.
    It can be pickled, which one with an `lru_cache` cannot.

    >>> length = Remembered(len, most=2)
    >>> length("rent"), length("rent"), length("city")
    (4, 4, 4)
    """

    def __init__(self, make: Callable[[K], V], most: int = 4_096) -> None:
        self._make = make
        self._most = most
        self._known: dict[K, V] = {}

    def __call__(self, asked: K) -> V:
        if asked in self._known:
            return self._known[asked]
        made = self._make(asked)
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[asked] = made
        return made
