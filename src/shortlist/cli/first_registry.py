"""The registry that `up` is given, which another process reads, compiles or compares meanwhile."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread

from shortlist.cli.app import say
from shortlist.cli.compiling import is_large
from shortlist.intake.files import read_registry
from shortlist.live.forking import fork_here
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.log.opening import open_log
from shortlist.model.problem import InvalidRegistry, ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits

NICENESS = 19
"""How far whoever compares gives way to whoever runs."""


def begin_to_read(
    path: Path, limits: Limits, into: tuple[Path, int] | None = None
) -> Callable[[], Registry | CompiledRegistry]:
    """What waits for the registry, or for what is wrong with it; a large one is compiled into a
    folder, for so many shards."""
    if not (os.path.isfile(path) or os.path.isdir(path)):  # a pipe is read once, and only here
        return lambda: read_registry(path, limits)
    process, connection = fork_here(_read, path, limits, into)

    def read() -> Registry | CompiledRegistry:
        try:
            found = connection.recv()
        except (EOFError, OSError):  # whatever has ended it
            return read_registry(path, limits)
        finally:
            process.terminate()
            process.join()
        if isinstance(found, Registry | CompiledRegistry):
            return found
        raise InvalidRegistry(found)

    return read


def _read(asking: Connection, path: Path, limits: Limits, into: tuple[Path, int] | None) -> None:
    try:
        if into is None or not is_large(path):
            asking.send(read_registry(path, limits))
        else:
            from shortlist.jobs.compiling import compile_registry

            folder, shards = into
            asking.send(compile_registry(path, limits, folder=folder, shards=shards))
    except InvalidRegistry as error:
        asking.send(error.problems)


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
    from shortlist.client.applying import plan
    from shortlist.client.deployment import Deployment

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
