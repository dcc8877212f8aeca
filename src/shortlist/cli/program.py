"""The program in a process of its own."""

from shortlist.cli.app import app
from shortlist.unused import leave_out_unused


class _Process:
    """Whose it is: in one of somebody else's, modules may be asked for later."""

    is_own = False


def main() -> None:
    """Runs the command that was asked for."""
    _Process.is_own = True
    app()


def without_spark() -> None:
    """What follows in this process imports only what it uses."""
    if _Process.is_own:
        leave_out_unused()
