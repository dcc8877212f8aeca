"""The registry that a new deployment begins with, read by another process meanwhile."""

from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from shortlist.intake.files import read_registry
from shortlist.live.forking import fork
from shortlist.model.problem import InvalidRegistry
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits


def begin_to_read(path: Path, limits: Limits) -> Callable[[], Registry]:
    """What waits for the registry, or for what is wrong with it."""
    if not (path.is_file() or path.is_dir()):  # a pipe can be read only once, and only here
        return lambda: read_registry(path, limits)
    child = fork(_read, path, limits)

    def read() -> Registry:
        try:
            found = child.connection.recv()
        except EOFError:  # whatever has ended it
            return read_registry(path, limits)
        finally:
            child.connection.close()
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
