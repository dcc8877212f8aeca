"""Logs and state folders as options name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shortlist.cli.app import errors, fail
from shortlist.client.deployment import Deployment
from shortlist.live.places import SQLITE, announced, state_folder
from shortlist.log.base import Log
from shortlist.log.opening import kind_of, known_logs, name_of, open_log
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    from shortlist.client.remote import Remote
    from shortlist.intake.roster import Roster

PATIENCE_SECONDS = 10.0
"""For so long a service that does not answer is tried."""


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
