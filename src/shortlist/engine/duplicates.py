"""Publications accepted before: the same id from the same source, not long ago."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from shortlist.model.items import Bools


class Duplicates:
    """Remembers what was accepted for a span of event time; asked in order of time.

    >>> seen = Duplicates(span=10)
    >>> [seen.is_repeated("s", "p", time) or seen.accept("s", "p", time) for time in (0, 9, 10)]
    [None, True, None]
    """

    def __init__(self, span: int) -> None:
        self._span = span
        self._accepted: dict[tuple[str, str], int] = {}
        self._oldest: deque[tuple[int, tuple[str, str]]] = deque()

    def is_repeated(self, source: str, publication: str, time: int) -> bool:
        accepted = self._accepted.get((source, publication))
        return accepted is not None and time - accepted < self._span

    def repeated(
        self, sources: Sequence[str], names: Sequence[str], times: Sequence[int], may: Bools
    ) -> Bools:
        """Which of some publications are repeated; of the others, those that may be are accepted.

        >>> Duplicates(10).repeated("ss", ["p", "p"], [0, 1], np.array([True, True])).tolist()
        [False, True]
        """
        keys = [*zip(sources, names, strict=True)]
        if may.all() and self._accepted.keys().isdisjoint(keys) and len({*keys}) == len(keys):
            self._accepted.update(zip(keys, times, strict=True))
            self._oldest.extend(zip(times, keys, strict=True))
            if keys:
                self._forget(times[-1])
            return np.zeros(len(keys), np.bool_)
        found = np.zeros(len(keys), np.bool_)
        for at, (key, time) in enumerate(zip(keys, times, strict=True)):
            found[at] = self.is_repeated(*key, time)
            if may[at] and not found[at]:
                self.accept(*key, time)
        return found

    def accept(self, source: str, publication: str, time: int) -> None:
        key = (source, publication)
        self._accepted[key] = time
        self._oldest.append((time, key))
        self._forget(time)

    def _forget(self, time: int) -> None:
        while self._oldest and time - self._oldest[0][0] >= self._span:
            accepted, old = self._oldest.popleft()
            if self._accepted.get(old) == accepted:
                del self._accepted[old]

    def remembered(self) -> list[tuple[int, str, str]]:
        """All that is remembered, in order of time."""
        return [(time, *key) for time, key in self._oldest]
