"""The program: what starts it, what all its commands share, and how errors end them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Column, Table
from typer.models import CommandInfo

from shortlist.cli import options
from shortlist.client.deployment import Deployment
from shortlist.live.places import SQLITE, announced, state_folder
from shortlist.log.base import Log
from shortlist.log.opening import KINDS, kind_of, open_log
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import choice_of
from shortlist.unused import leave_out_unused

if TYPE_CHECKING:
    from shortlist.client.remote import Remote
    from shortlist.intake.roster import Roster
    from shortlist.live.running import Running
    from shortlist.sites.running import Running as SiteRunning

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FINITE, LIVE, RESEARCH = "For finite inputs", "For a live deployment", "For research"
"""The parts of the help."""
PATIENCE_SECONDS = 10.0
"""For so long a service that does not answer is tried."""


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


def show_table(
    head: Sequence[str | Column],
    rows: Iterable[Iterable[str]],
    numbers: slice = slice(0),
    title: str | None = None,
    **how: Any,
) -> None:
    """Prints a table, in which some columns are of numbers."""
    table = Table(*head, title=title, **{"title_justify": "left", **how})
    for column in table.columns[numbers]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    Console().print(table)


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


def run_until_stopped(running: Running | SiteRunning, *, with_input: bool) -> None:
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


@contextmanager
def opened(url: str, *, must_exist: bool = False, patience: float = 30.0) -> Iterator[Log]:
    """A log, for as long as a command needs it; unless it must exist, it is made where there is
    none. A server is waited for as many seconds."""
    with errors():
        try:
            if must_exist:
                _check_log(url)
            log = open_log(url, patience)
        except ValueError as error:
            raise typer.BadParameter(f"--log: {error}") from None
        try:
            yield log
        finally:
            log.close()


@contextmanager
def reached(log: str | None, service: str | None) -> Iterator[Deployment | Remote]:
    """What somebody means: the deployment on a log, or a service, which is the one that they have
    logged in to if they name neither."""
    if log is not None and service is not None:
        raise typer.BadParameter("expected --log or --service, found both")
    if log is not None:
        with opened(log, must_exist=True) as known:
            yield Deployment(known)
        return
    from shortlist.client.logins import known_login
    from shortlist.client.remote import Remote

    with errors():
        login = known_login(service)
        if login is None:
            raise typer.BadParameter(
                "expected --log (or SHORTLIST_LOG) or --service, found neither, and no login"
            )
        with Remote(login.url, login.key, patience=PATIENCE_SECONDS) as remote:
            yield remote


def means_service(service: str | None) -> bool:
    """Whether a service is named, or somebody has logged in to one."""
    from shortlist.client.logins import known_login

    with errors():
        return known_login(service) is not None


def only_with_log(**given: object) -> None:
    """Fails where something is asked for that a service does not tell."""
    for name, value in given.items():
        if value not in (None, False):
            flag = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{flag}: expected --log with it, found a service")


def _check_log(url: str) -> None:
    """Fails where there is no such log, and says which there are."""
    file, kind = Path(url.removeprefix(SQLITE)), kind_of(url)
    if kind == "sqlite" and file.exists():
        return
    name, known = KINDS[kind].name(url), KINDS[kind].known(url)
    if name not in known:
        shown = str(file) if url.startswith(SQLITE) else f"log {name!r}"
        made = "`shortlist up` makes one, and so does `publish --create`"
        fail([f"{shown}: expected a log, found none; {choice_of(name, known) if known else made}"])


def no_shortlist(name: str, roster: Roster) -> str:
    """A message about a shortlist that is not live."""
    return f"there is no live shortlist {name!r}; {choice_of(name, roster.shortlists)}"


def announced_folder(log: Log) -> Path:
    """Where the deployment that works on a log has its state; fails if there is none."""
    folder = announced(log)
    if folder is None:
        fail(["expected a deployment, found none: start one with `shortlist up`"])
    return folder


def folder_of(log: str, given: Path | None) -> Path:
    """Where the state of a deployment goes; only a log in a file has a place beside it."""
    try:
        kind_of(log)
    except ValueError as error:
        raise typer.BadParameter(f"--log: {error}") from None
    try:
        return state_folder(log, given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
