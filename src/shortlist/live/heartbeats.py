"""Heartbeats: in a quiet stream time passes too, and is written down so that it can be replayed."""

import json
from collections.abc import Callable

from shortlist.live.manifest import Manifest
from shortlist.log.base import INPUT, Log
from shortlist.model.times import format_time


class Heartbeats:
    """Tells the log what time it is whenever nobody else has said anything for an interval.

    A heartbeat is as old as the interval: what is on its way to the log for less is not late
    because of it. Its time never goes back, whatever the clock does.

    >>> import tempfile
    >>> from shortlist.log.opening import open_log
    >>> log = open_log(f"sqlite:{tempfile.mkdtemp()}/log.db")
    >>> times = iter([10_000_000, 11_000_000, 5_000_000, 12_000_000])
    >>> beats = Heartbeats(log, interval=1_000_000, clock=lambda: next(times))
    >>> [beats.beat(latest=None) for _ in range(4)]
    [False, True, False, True]
    >>> [entry.content.decode() for entry in log.read("input", 0)]
    ['{"time": "1970-01-01T00:00:10.000Z", "heartbeat": true}', ...]
    """

    def __init__(self, log: Log, interval: int, clock: Callable[[], int]) -> None:
        self._log = log
        self._interval = interval
        self._clock = clock
        self._end = -1
        """Where the input ended when it was last looked at, heartbeats included."""
        self._last: int | None = None

    def close_instant(self, manifest: Manifest) -> bool:
        """Where the log's clock tells the time, what was read last waits for a later instant:
        that comes at once, unless more has come already; whether it was needed."""
        if manifest.passed == manifest.position:
            return False
        return self.follow(manifest.position - manifest.base, manifest)

    def follow(self, offset: int, manifest: Manifest) -> bool:
        """As `close_instant`, for whoever is about to read up to an offset; whether there is a
        heartbeat behind it now."""
        if manifest.basis == "event" or offset == self._end or self._log.end(INPUT) > offset:
            return False
        self._append(self._clock())
        return True

    def beat(self, latest: int | None) -> bool:
        """Called once in an interval, with the largest time that is known; whether it was quiet
        and time has gone on."""
        end = self._log.end(INPUT)
        is_quiet, self._end = end == self._end, end
        now = self._clock() - self._interval
        known = [time for time in (self._last, latest) if time is not None]
        if not is_quiet or now <= max(known, default=now - 1):
            return False
        self._append(now)
        self._last = now
        return True

    def _append(self, now: int) -> None:
        line = json.dumps({"time": format_time(now), "heartbeat": True})
        self._end = self._log.append(INPUT, [line.encode()])
