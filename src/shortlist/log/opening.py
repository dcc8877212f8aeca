"""Logs by their address."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from shortlist.log.base import Log
from shortlist.log.sqlite import SqliteLog, logs_in
from shortlist.log.streams import shown_address


class Kind(NamedTuple):
    """What is asked of the logs whose addresses start alike."""

    form: str
    """Of addresses, for messages."""
    opened: Callable[[str, float], Log]
    """A log by its address; how many seconds it waits for its server."""
    known: Callable[[str], list[str]]
    """The names of the logs that are where an address points to: in the folder of a file, on a
    server."""
    name: Callable[[str], str]
    """That of a log among these."""


def open_log(url: str, patience: float = 30.0) -> Log:
    """`sqlite:PATH` or `nats://HOST:PORT/NAME`; a server is waited for as many seconds.

    >>> open_log("kafka://localhost")
    Traceback (most recent call last):
    ...
    ValueError: expected sqlite:PATH or nats://HOST:PORT/NAME, found 'kafka://localhost'
    """
    return KINDS[kind_of(url)].opened(url, patience)


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


def _nats() -> ModuleType:
    """Imported where it is used: a log in a file starts without the client of NATS."""
    from shortlist.log import nats

    return nats


def _on_nats_server(url: str) -> list[str]:
    with closing(_nats().NatsLog(url)) as log:
        names: list[str] = log.names_on_server()
        return names


KINDS = {
    "sqlite": Kind(
        "sqlite:PATH",
        lambda url, _: SqliteLog(_path(url)),
        lambda url: logs_in(Path(_path(url)).parent),
        lambda url: Path(_path(url)).name,
    ),
    "nats": Kind(
        "nats://HOST:PORT/NAME",
        lambda url, patience: _nats().NatsLog(url, patience),
        _on_nats_server,
        lambda url: _nats().NatsNames.of_url(url).deployment,
    ),
}
"""By what addresses start with."""
