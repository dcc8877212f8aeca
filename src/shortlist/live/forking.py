"""How processes that work beside this one come about: forked, with all that they need imported."""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any
from weakref import WeakSet

PRELOADED = "shortlist.live.preloaded"

_ours: WeakSet[Connection] = WeakSet()
"""This process's ends of all connections: a child that kept one would keep it open when this
process is killed, and whoever waits at the other end would not hear of it."""


Child = tuple[BaseProcess, Connection]
"""A process, and the connection to it."""


def fork_here(run: Callable[..., None], *arguments: Any) -> Child:
    """A process that runs a function with its end of the connection, and with arguments: a copy of
    this one, so that all it needs is imported.

    Only for a process that has nothing yet which a copy must not have: a lock, a log, signals that
    are handled, threads. One that has threads does not fork itself.
    """
    if threading.active_count() > 1:
        return fork(run, *arguments)
    return _forked(get_context("fork"), run, arguments)


def fork(run: Callable[..., None], *arguments: Any) -> Child:
    """The same as a copy of another process, which imports what is needed, and forks for this."""
    return _forked(_server_context(), run, arguments)


def _forked(
    context: ForkContext | ForkServerContext, run: Callable[..., None], arguments: tuple[Any, ...]
) -> Child:
    ours, theirs = context.Pipe()
    _ours.add(ours)
    process = context.Process(target=_run, args=(run, theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _run(run: Callable[..., None], theirs: Connection, *arguments: Any) -> None:
    """Until nobody asks any more: an interrupt at the terminal is for whoever does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in [*_ours]:
        end.close()
    with suppress(EOFError, ConnectionError):
        run(theirs, *arguments)


def begin_to_import() -> None:
    """Starts the process that forks for this one: it is ready when it is asked, or sooner."""
    _server_context()
    forkserver.ensure_running()


def _server_context() -> ForkServerContext:
    """Whose processes begin with what is preloaded."""
    context = get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context
