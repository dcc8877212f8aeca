"""Logs by their address."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from shortlist.log.base import Log
from shortlist.log.sqlite import SqliteLog, logs_in
from shortlist.log.streams import shown_address


class Kind(NamedTuple):
    """What is asked of the logs whose addresses start alike."""

    form: str
    """Of addresses, for messages."""
    opened: Callable[[str, float | None], Log]
    """A log by its address; how many seconds it waits for its server, if not as long as usual."""
    known: Callable[[str], list[str]]
    """The names of the logs that are where an address points to."""
    name: Callable[[str], str]


def open_log(url: str, patience: float | None = None) -> Log:
    """`sqlite:PATH` or `nats://HOST:PORT/NAME`; a server is waited for as many seconds.

    >>> open_log("kafka://localhost")
    Traceback (most recent call last):
    ...
    ValueError: expected sqlite:PATH or nats://HOST:PORT/NAME, found 'kafka://localhost'
    """
    return KINDS[kind_of(url)].opened(url, patience)


def known_logs(url: str) -> list[str]:
    """The names of the logs that are where an address points to: in the folder of a file, on a
    server."""
    return KINDS[kind_of(url)].known(url)


def name_of(url: str) -> str:
    """The name of a log among those that are known where it is.

    >>> name_of("sqlite:data/city.log"), name_of("nats://127.0.0.1:4222/city")
    ('city.log', 'city')
    """
    return KINDS[kind_of(url)].name(url)


def kind_of(url: str) -> str:
    """Which log an address is of, without a look at it; `ValueError` if of none.

    >>> kind_of("nats://127.0.0.1:4222/city")
    'nats'
    """
    kind, _, rest = url.partition(":")
    if kind in KINDS and rest:
        return kind
    forms = " or ".join(each.form for each in KINDS.values())
    raise ValueError(f"expected {forms}, found {shown_address(url)}")


def _path(url: str) -> str:
    return url.removeprefix("sqlite:")


# NATS's client is imported where it is used: a log in a file starts without it.


def _nats_log(url: str, patience: float | None) -> Log:
    from shortlist.log.nats import NatsLog

    return NatsLog(url) if patience is None else NatsLog(url, patience)


def _on_nats_server(url: str) -> list[str]:
    from shortlist.log.nats import NatsLog

    log = NatsLog(url)
    try:
        return log.names_on_server()
    finally:
        log.close()


def _nats_name(url: str) -> str:
    from shortlist.log.nats import NatsNames

    return NatsNames.of_url(url).deployment


KINDS = {
    "sqlite": Kind(
        "sqlite:PATH",
        lambda url, _: SqliteLog(_path(url)),
        lambda url: logs_in(Path(_path(url)).parent),
        lambda url: Path(_path(url)).name,
    ),
    "nats": Kind("nats://HOST:PORT/NAME", _nats_log, _on_nats_server, _nats_name),
}
"""By what addresses start with."""
