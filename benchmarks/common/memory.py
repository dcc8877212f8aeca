"""Memory of this process and all that it started, sampled while something runs (Linux only)."""

import os
import threading
from pathlib import Path


class PeakMemory:
    """The largest sum of memory of a process tree, else of this one, seen inside a `with`."""

    def __init__(
        self, root: int | None = None, every_seconds: float = 0.5, kind: str = "Pss"
    ) -> None:
        self.bytes = 0
        self._kind = kind
        self._root = root or os.getpid()
        self._every = every_seconds
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(self._every):
            self.bytes = max(self.bytes, tree_memory(self._root, self._kind))


def tree_memory(root: int, kind: str = "Pss") -> int:
    """Resident bytes of a process and its descendants, what they share counted once; with
    `Pss_Anon`, without what lies in files, too."""
    parents, resident = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            process = int(folder.name)
            parents[process] = int(_field(folder / "status", "PPid"))
            resident[process] = int(_field(folder / "smaps_rollup", kind).split()[0]) * 1024
        except OSError:
            continue  # the process has ended, or is ending
    return sum(size for process, size in resident.items() if _descends(process, root, parents))


def _field(file: Path, name: str) -> str:
    lines = file.read_text().splitlines()
    return next(line for line in lines if line.startswith(f"{name}:")).split(":", 1)[1]


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process != root and process in parents:
        process = parents[process]
    return process == root
