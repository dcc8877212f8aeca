"""The registry that a new deployment begins with, read or compiled by another process meanwhile."""

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from shortlist.intake.files import read_registry
from shortlist.live.forking import fork_here
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.model.problem import InvalidRegistry
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits

LARGE = 1 << 21
"""Bytes of files from which on a registry is compiled."""


class Into(NamedTuple):
    """Where large registries are compiled to, and for how many shards."""

    folder: Path
    shards: int


def begin_to_read(
    path: Path, limits: Limits, into: Into | None = None
) -> Callable[[], Registry | CompiledRegistry]:
    """What waits for the registry, or for what is wrong with it."""
    if not (os.path.isfile(path) or os.path.isdir(path)):  # a pipe is read once, and only here
        return lambda: read_registry(path, limits)
    child = fork_here(_read, path, limits, into)

    def read() -> Registry | CompiledRegistry:
        try:
            found = child.connection.recv()
        except (EOFError, OSError):  # whatever has ended it
            return read_registry(path, limits)
        finally:
            child.process.terminate()
            child.process.join()
        if isinstance(found, Registry | CompiledRegistry):
            return found
        raise InvalidRegistry(found)

    return read


def _read(asking: Connection, path: Path, limits: Limits, into: Into | None) -> None:
    try:
        if into is None or not is_large(path):
            asking.send(read_registry(path, limits))
        else:
            from shortlist.jobs.compiling import compile_registry

            folder, shards = into
            asking.send(compile_registry(path, limits, folder=folder, shards=shards))
    except InvalidRegistry as error:
        asking.send(error.problems)


def is_large(path: Path) -> bool:
    """Whether it takes longer to make an object for each subscription than to compile them."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE
