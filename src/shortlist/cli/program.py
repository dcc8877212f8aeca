"""The program in a process of its own."""

import sys

from typer.models import CommandInfo

from shortlist.cli.app import app
from shortlist.unused import collect_seldom, leave_out_unused


class _Process:
    """Whose it is: in one of somebody else's, modules may be asked for later."""

    is_own = False


def main() -> None:
    """Runs the command that was asked for."""
    _Process.is_own = True
    collect_seldom()
    _leave_out_others(sys.argv[1:2])
    app()


def _leave_out_others(asked: list[str]) -> None:
    """Of many commands one is run: what options the others have need not be found out."""
    known = app.registered_commands
    app.registered_commands = [one for one in known if [_name(one)] == asked] or known


def _name(command: CommandInfo) -> str | None:
    return command.name or (command.callback and command.callback.__name__)


def without_spark() -> None:
    """What follows in this process imports only what it uses."""
    if _Process.is_own:
        leave_out_unused()
