"""Publications accepted before: the same id from the same source, not long ago."""

from collections import deque


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

    def accept(self, source: str, publication: str, time: int) -> None:
        key = (source, publication)
        self._accepted[key] = time
        self._oldest.append((time, key))
        while self._oldest and time - self._oldest[0][0] >= self._span:
            accepted, old = self._oldest.popleft()
            if self._accepted.get(old) == accepted:
                del self._accepted[old]

    def remembered(self) -> list[tuple[int, str, str]]:
        """All that is remembered, in order of time."""
        return [(time, *key) for time, key in self._oldest]
