"""How processes that work beside this one come about: forked, with all that they need imported."""

import threading
from collections.abc import Callable
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple
from weakref import WeakSet

PRELOADED = "shortlist.live.preloaded"

_ours: WeakSet[Connection] = WeakSet()
"""This process's ends of all connections: a child that kept one would keep it open when this
process is killed, and whoever waits at the other end would not hear of it."""


class Child(NamedTuple):
    """A process, and the connection to it."""

    process: BaseProcess
    connection: Connection


def fork(run: Callable[..., None], *arguments: Any) -> Child:
    """A process that runs a function with its end of the connection, and with arguments.

    It is forked from this one as long as this has no other threads, whose locks a child would
    inherit, and nobody to open them; else from one that imports the same again, and forks for it.
    """
    context = get_context("fork") if threading.active_count() == 1 else _server_context()
    ours, theirs = context.Pipe()
    _ours.add(ours)
    process = context.Process(target=_run, args=(run, theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return Child(process, ours)


def _run(run: Callable[..., None], theirs: Connection, *arguments: Any) -> None:
    for end in [*_ours]:
        end.close()
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
