"""How far a deployment is behind."""

from typing import NamedTuple

from shortlist.log.base import INPUT, Log


class Lag(NamedTuple):
    """How far a deployment is behind its input."""

    entries: int
    """That nobody has read yet."""
    seconds: float
    """For which the first of them has waited."""


def lag(log: Log, read: int, now: float) -> Lag:
    """Of somebody who has read up to an offset, at a moment in seconds since 1970.

    >>> import tempfile, time
    >>> from shortlist.log.sqlite import SqliteLog
    >>> log = SqliteLog(f"{tempfile.mkdtemp()}/city.log")
    >>> log.append(INPUT, [b"{}", b"{}"])
    2
    >>> lag(log, 2, time.time()), lag(log, 1, time.time() + 60).seconds > 59
    (Lag(entries=0, seconds=0.0), True)
    """
    entries = log.end(INPUT) - read
    first = next(log.read(INPUT, read, read + 1), None) if entries > 0 else None
    if first is None:
        return Lag(0, 0.0)
    return Lag(entries, max(now - first.appended / 1e6, 0.0))
