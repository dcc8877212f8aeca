"""Memory of this process and all that it started, sampled while something runs (Linux only)."""

import os
import threading
from pathlib import Path


class PeakMemory:
    """The largest sum of resident memory of the process tree seen inside a `with`."""

    def __init__(self, every_seconds: float = 0.5) -> None:
        self.bytes = 0
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
            self.bytes = max(self.bytes, tree_memory(os.getpid()))


def tree_memory(root: int) -> int:
    """Resident bytes of a process and its descendants."""
    parents, resident = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines()
            )
        except OSError:
            continue  # the process ended meanwhile
        parents[int(folder.name)] = int(fields["PPid"])
        resident[int(folder.name)] = int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
    return sum(size for process, size in resident.items() if _descends(process, root, parents))


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process != root and process in parents:
        process = parents[process]
    return process == root
