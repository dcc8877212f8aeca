"""Where something stands in a stream, by when the log took it."""

from shortlist.log.base import Log

MARGIN = 60_000_000
"""Microseconds by which a server's clock may have been set back."""


def last_before(log: Log, stream: str, time: int) -> int:
    """The offset of the last entry that a log took before an instant, or of one a minute earlier;
    0 if there is none."""
    first, last = 0, log.end(stream)
    while first < last:
        middle = (first + last + 1) // 2
        taken = next((entry.appended for entry in log.read(stream, middle - 1, middle)), time)
        if taken < time - MARGIN:
            first = middle
        else:
            last = middle - 1
    return first
