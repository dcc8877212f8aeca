"""What a registry in a file would change in a deployment that runs already."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread

from shortlist.cli.app import say
from shortlist.client.applying import plan
from shortlist.client.deployment import Deployment
from shortlist.intake.files import read_registry
from shortlist.live.forking import fork_here
from shortlist.log.opening import open_log
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits

NICENESS = 19
"""How far whoever compares gives way to whoever runs."""


@contextmanager
def compared(path: Path, log: str, limits: Limits) -> Iterator[None]:
    """What differs is said as soon as it is known: nobody waits for that."""
    process, answering = fork_here(_compare, path, log, limits)
    Thread(target=_say, args=(answering, process), daemon=True).start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _compare(asking: Connection, path: Path, log: str, limits: Limits) -> None:
    os.nice(NICENESS)
    asking.send(left_aside(path, log, limits))


def _say(answering: Connection, process: BaseProcess) -> None:
    with suppress(EOFError, OSError):
        say([answering.recv()])
    process.join()


def left_aside(path: Path, log: str, limits: Limits) -> str:
    """Of a registry file, that a deployment does not read it again, and what differs."""
    said = f"{path}: left aside, since the deployment has a registry already"
    try:
        with closing(open_log(log)) as opened:
            roster = Deployment(opened).roster()
            if roster is None:
                return said
            wanted = read_registry(path, limits)
            count = len(plan(roster, wanted).differences)
    except ShortlistError as error:
        return f"{said}; {error}"
    if not count:
        return f"{said}, which has all of it"
    return f"{said}; {count:,} differ: `shortlist diff {path}` shows, `apply` changes them"
