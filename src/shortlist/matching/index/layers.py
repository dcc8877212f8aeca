"""Things by number: saved ones, and over them what came since."""

import sys
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Layered(Generic[T]):
    """Those below a count are read where they were saved, as long as they have not changed.

    >>> words = Layered(2, ["war", "drama"].__getitem__)
    >>> words[1], words[2] = "love", "peace"
    >>> words[0], words[1], len(words), list(words.changes())
    ('war', 'love', 3, [(1, 'love'), (2, 'peace')])
    """

    def __init__(self, count: int, saved: Callable[[int], T | None]) -> None:
        self._count = count
        self._saved = saved
        self._changed: dict[int, T | None] = {}
        self._later: list[T | None] = []

    def __len__(self) -> int:
        return self._count + len(self._later)

    @property
    def nbytes(self) -> int:
        """Without the things themselves."""
        return sys.getsizeof(self._changed) + sys.getsizeof(self._later)

    def __getitem__(self, number: int) -> T | None:
        if number >= self._count:
            return self._later[number - self._count]
        return self._changed[number] if number in self._changed else self._saved(number)

    def __setitem__(self, number: int, thing: T | None) -> None:
        """Numbers come one after the other."""
        if number < self._count:
            self._changed[number] = thing
        elif number == len(self):
            self._later.append(thing)
        else:
            self._later[number - self._count] = thing

    def changes(self) -> Iterator[tuple[int, T | None]]:
        """What is not as it was saved."""
        yield from self._changed.items()
        yield from enumerate(self._later, self._count)
