"""The program in a process of its own."""

import sys
from collections.abc import Callable
from typing import Any

from typer.models import CommandInfo

from shortlist.cli import options
from shortlist.cli.app import app
from shortlist.unused import leave_out_unused


class _Process:
    """Whose it is: in one of somebody else's, modules may be asked for later."""

    is_own = False


def main() -> None:
    """Runs the command that was asked for."""
    _Process.is_own = True
    _leave_out_others(sys.argv[1:2])
    app()


def _leave_out_others(asked: list[str]) -> None:
    """Of many commands one is run, or all are listed: what options the others have need not be
    found out."""
    known = app.registered_commands
    if asked in ([], ["--help"]):
        for one in known:
            one.callback = one.callback and _listed(one.callback)
    else:
        app.registered_commands = [one for one in known if [_name(one)] == asked] or known


def _listed(command: Callable[..., Any]) -> Callable[[], None]:
    """What help tells of a command beside others."""

    def nothing() -> None:
        pass

    nothing.__name__, nothing.__doc__ = command.__name__, command.__doc__
    return nothing


def _name(command: CommandInfo) -> str | None:
    return command.name or (command.callback and command.callback.__name__)


def begin_on(on: options.Place, master: str | None = None) -> None:
    """Checks where a job is to run; without Spark this process imports only what it uses."""
    options.check_place(on, master)
    if on == "process" and _Process.is_own:
        leave_out_unused()
