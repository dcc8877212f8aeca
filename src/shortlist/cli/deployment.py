"""What clients know of a deployment: its log, and through it its manifest and its registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.app import errors, fail
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.places import SQLITE, announced, files_in, state_folder
from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import DELIVERIES, REJECTS, Log
from shortlist.log.opening import kind_of, known_logs, name_of, open_log
from shortlist.model.settings import Limits, TimeBasis
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster
    from shortlist.model.vocabulary import Vocabulary

LOG_OPTION = typer.Option(
    "--log", envvar="SHORTLIST_LOG", help="sqlite:PATH or nats://HOST:PORT/NAME."
)
LogUrl = Annotated[str, LOG_OPTION]
UNLIMITED = Limits().for_what_was_read()


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


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployment that works on a log, if there is one."""

    log: Log

    @property
    def manifest(self) -> Manifest | None:
        """What it has committed last."""
        return committed(self.log)[1] if has_deployment(self.log) else None

    @property
    def vocabulary(self) -> Vocabulary:
        """Its vocabulary; one that allows everything where it cannot be known."""
        from shortlist.language.permissive import any_vocabulary
        from shortlist.live.registry_state import replay_registry

        manifest, files = self.manifest, self._files()
        if manifest is None or files is None:
            return any_vocabulary()
        registry, _ = replay_registry(manifest.registry, files, UNLIMITED, lambda shortlist: False)
        return registry.vocabulary

    @property
    def basis(self) -> TimeBasis:
        """Its time basis; where there is none yet, what it will be unless somebody says
        otherwise."""
        manifest = self.manifest
        return "arrival" if manifest is None else manifest.basis

    def roster(self) -> Roster | None:
        """Who is live, if it can be known here."""
        from shortlist.intake.roster import Roster, registry_commands
        from shortlist.live.registry_state import replay_registry

        manifest, files = self.manifest, self._files()
        if manifest is None or files is None:
            return None
        registry, commands = replay_registry(manifest.registry, files, UNLIMITED)
        roster = Roster(registry.vocabulary, UNLIMITED)
        for command in (*registry_commands(registry), *commands):
            roster.apply(command)
        return roster

    def _files(self) -> Files | None:
        folder = announced(self.log)
        return files_in(folder) if folder is not None and folder.is_dir() else None


def read_up_to(manifest: Manifest) -> int:
    """The offset of the last entry that the deployment has read."""
    return manifest.position - manifest.base


def has_passed(manifest: Manifest, offset: int, time: int | None) -> bool:
    """Whether what stands at an offset, and says that it is of this time, was carried out or
    turned away."""
    if read_up_to(manifest) < offset:
        return False
    if manifest.is_finished or manifest.passed - manifest.base >= offset:
        return True
    if manifest.basis == "arrival" or time is None or manifest.reached is None:
        return False
    return time < manifest.reached


def is_put_out(log: Log, manifest: Manifest) -> bool:
    """Whether deliveries and rejects, which come just after the commit, are in the log."""
    has_rejects = log.end(REJECTS) >= manifest.rejects.end
    return has_rejects and log.end(DELIVERIES) >= manifest.deliveries.end


def rejections(
    log: Log, manifest: Manifest, offsets: set[int], after: int = 0
) -> Iterator[tuple[int, str]]:
    """Which of these offsets were turned away, and why; read behind an offset of the rejects."""
    for entry in log.read(REJECTS, after):
        document = json.loads(entry.content)
        offset = int(document["position"]) - manifest.base
        if offset in offsets:
            yield offset, document["reason"]
