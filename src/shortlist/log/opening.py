"""Logs by their address."""

from pathlib import Path
from typing import Literal

from shortlist.log.base import Log
from shortlist.log.sqlite import SqliteLog, logs_in
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


def known_logs(url: str) -> list[str]:
    """The names of the logs that are where an address points to: in the folder of a file, on a
    server."""
    if kind_of(url) == "sqlite":
        return logs_in(Path(url.removeprefix("sqlite:")).parent)
    from shortlist.log.nats import NatsLog

    log = NatsLog(url)
    try:
        return log.names_on_server()
    finally:
        log.close()


def name_of(url: str) -> str:
    """The name of a log among those that are known where it is.

    >>> name_of("sqlite:data/city.log"), name_of("nats://127.0.0.1:4222/city")
    ('city.log', 'city')
    """
    if kind_of(url) == "sqlite":
        return Path(url.removeprefix("sqlite:")).name
    from shortlist.log.nats import NatsNames

    return NatsNames.of_url(url).deployment


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
