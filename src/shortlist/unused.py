"""Modules that others import in case they are used, and that nothing here uses."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED = ("pandas", "scipy")
"""Arrow imports the one and numba the other, wherever they are installed: together that takes
longer than all that a small job does."""


def leave_out_unused() -> None:
    """From now on they are not found. Only for a process that runs nobody else's code."""
    sys.meta_path.insert(0, _Unused())


class _Unused(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"{name} is left out", name=name)
        return None
