"""The registry that a new deployment begins with, read by another process meanwhile."""

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from shortlist.intake.files import read_registry
from shortlist.live.forking import fork_here
from shortlist.model.problem import InvalidRegistry
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits


def begin_to_read(path: Path, limits: Limits) -> Callable[[], Registry]:
    """What waits for the registry, or for what is wrong with it."""
    if not (os.path.isfile(path) or os.path.isdir(path)):  # a pipe is read once, and only here
        return lambda: read_registry(path, limits)
    child = fork_here(_read, path, limits)

    def read() -> Registry:
        try:
            found = child.connection.recv()
        except (EOFError, OSError):  # whatever has ended it
            return read_registry(path, limits)
        finally:
            child.process.terminate()
            child.process.join()
        if isinstance(found, Registry):
            return found
        raise InvalidRegistry(found)

    return read


def _read(asking: Connection, path: Path, limits: Limits) -> None:
    try:
        asking.send(read_registry(path, limits))
    except InvalidRegistry as error:
        asking.send(error.problems)
