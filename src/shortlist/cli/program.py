"""The program in a process of its own."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from shortlist.cli.app import app

UNUSED = ("pandas", "scipy")
"""Arrow imports the one and numba the other, wherever they are installed, in case they are used:
together that takes longer than all that a small job does."""


def main() -> None:
    """Runs the command that was asked for."""
    _Unused.is_own_process = True
    app()


def leave_out_unused() -> None:
    """Imports less from now on, if the process belongs to the program: in one of somebody else's
    these modules may be asked for later."""
    if _Unused.is_own_process:
        sys.meta_path.insert(0, _Unused())


class _Unused(MetaPathFinder):
    """Finds that they are not there."""

    is_own_process = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"{name} is left out", name=name)
        return None
