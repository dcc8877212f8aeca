"""What took how long."""

import time


class Laps:
    """Seconds from one lap to the next.

    >>> laps = Laps()
    >>> laps.lap("reading")
    >>> [*laps.seconds]
    ['reading']
    """

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now
