"""What processes that run nobody else's code do without: modules that others import in case they
are used, and most looks for garbage."""

import atexit
import gc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED = ("pandas", "scipy")
"""Arrow imports the one and numba the other, wherever they are installed: together that takes
longer than all that a small job does."""

OBJECTS = 500_000
"""That are made before Python's collector looks for garbage: what is imported and read stays, and
to look through it takes a tenth of a start."""


DOCUMENTATION = "pyarrow.vendored.docscrape"
"""With which Arrow describes, when it is imported, a few hundred functions to whoever asks for
help."""


def leave_out_unused() -> None:
    """From now on they are not found, and nothing is described."""
    sys.meta_path.insert(0, _Unused())
    silent = ModuleType(DOCUMENTATION)
    silent.NumpyDocString = lambda _: {"Parameters": []}  # type: ignore[attr-defined]
    sys.modules.setdefault(DOCUMENTATION, silent)


def collect_seldom() -> None:
    """In this process, and in those that are forked from it; at its end not at all, when Python
    would go through everything that is still there."""
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)


class _Unused:
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"{name} is left out", name=name)
        return None
