"""Logs by their address."""

from typing import Literal

from shortlist.log.base import Log
from shortlist.log.sqlite import SqliteLog
from shortlist.log.streams import shown_address


def open_log(url: str) -> Log:
    """`sqlite:PATH` or `nats://HOST:PORT/NAME`.

    >>> open_log("kafka://localhost")
    Traceback (most recent call last):
    ...
    ValueError: expected sqlite:PATH or nats://HOST:PORT/NAME, found 'kafka://localhost'
    """
    if kind_of(url) == "sqlite":
        return SqliteLog(url.removeprefix("sqlite:"))
    # Imported where it is used: a log in a file starts without NATS's client.
    from shortlist.log.nats import NatsLog

    return NatsLog(url)


def kind_of(url: str) -> Literal["sqlite", "nats"]:
    """Which log an address is of, without a look at it; `ValueError` if of none.

    >>> kind_of("nats://127.0.0.1:4222/city")
    'nats'
    """
    kind, _, rest = url.partition(":")
    if kind == "sqlite" and rest:
        return "sqlite"
    if kind == "nats":
        return "nats"
    raise ValueError(f"expected sqlite:PATH or nats://HOST:PORT/NAME, found {shown_address(url)}")
