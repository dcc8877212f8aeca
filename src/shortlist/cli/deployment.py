"""Logs and state folders as options name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.app import errors, fail
from shortlist.live.places import SQLITE, announced, state_folder
from shortlist.log.base import Log
from shortlist.log.opening import kind_of, known_logs, name_of, open_log
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster

LOG_OPTION = typer.Option(
    "--log", envvar="SHORTLIST_LOG", help="sqlite:PATH or nats://HOST:PORT/NAME."
)
LogUrl = Annotated[str, LOG_OPTION]


@contextmanager
def opened(url: str, *, must_exist: bool = False) -> Iterator[Log]:
    """A log, for as long as a command needs it; unless it must exist, it is made where there is
    none."""
    with errors():
        try:
            if must_exist:
                _check_log(url)
            log = open_log(url)
        except ValueError as error:
            raise typer.BadParameter(f"--log: {error}") from None
        try:
            yield log
        finally:
            log.close()


def _check_log(url: str) -> None:
    """Fails where there is no such log, and says which there are."""
    file = Path(url.removeprefix(SQLITE))
    if kind_of(url) == "sqlite" and file.exists():
        return
    name, known = name_of(url), known_logs(url)
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
