"""The program: what starts it, what all its commands share, and how errors end them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, NoReturn, Protocol

import typer
from rich.console import Console
from typer.models import CommandInfo

from shortlist.cli import options
from shortlist.model.problem import ShortlistError
from shortlist.unused import leave_out_unused

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FINITE, LIVE, RESEARCH = "For finite inputs", "For a live deployment", "For research"
"""The parts of the help."""


@contextmanager
def errors() -> Iterator[None]:
    """What keeps a command from its work: each problem on a line of its own, exit status 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads the output has seen enough
    except (ShortlistError, OSError) as error:
        fail(str(error).splitlines())
    except Exception as error:
        if not _is_of_spark(error):
            raise
        fail([f"Spark could not do it: {cause_of(error)}"])


def fail(problems: Iterable[str]) -> NoReturn:
    """Ends the program with exit status 2."""
    say(problems)
    raise typer.Exit(2)


def warn(warnings: Iterable[str]) -> None:
    say(f"warning: {warning}" for warning in warnings)


def say(lines: Iterable[str]) -> None:
    """Tells a person, beside what the program prints."""
    for line in lines:
        print(line, file=sys.stderr)


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def cause_of(error: BaseException) -> str:
    """What happened: of Spark's messages the line behind the one that says where."""
    if not _is_of_spark(error):
        return str(error)
    lines = [line for line in str(error).splitlines() if not line.startswith("An error occurred")]
    return lines[0].lstrip(": ") if lines else type(error).__name__


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


class Running(Protocol):
    """Something that runs until it is told to stop."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


def run_until_stopped(running: Running, *, with_input: bool) -> None:
    """What is under way comes to its end first. With its input it ends when standard input does:
    with whoever started it."""

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        running.stop()

    if with_input:
        Thread(target=read, daemon=True).start()
    before = {
        which: signal.signal(which, lambda *_: running.stop())
        for which in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        running.run()
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
