"""Logs by their address."""

from shortlist.log.base import Log
from shortlist.log.sqlite import SqliteLog
from shortlist.model.wording import shown


def open_log(url: str) -> Log:
    """`sqlite:PATH` or `nats://HOST:PORT/NAME`.

    >>> open_log("kafka://localhost")
    Traceback (most recent call last):
    ...
    ValueError: expected sqlite:PATH or nats://HOST:PORT/NAME, found 'kafka://localhost'
    """
    kind, _, rest = url.partition(":")
    if kind == "sqlite" and rest:
        return SqliteLog(rest)
    if kind == "nats":
        # Imported where it is used: a log in a file starts without NATS's client.
        from shortlist.log.nats import NatsLog

        return NatsLog(url)
    raise ValueError(f"expected sqlite:PATH or nats://HOST:PORT/NAME, found {shown(url)}")
