"""Where a deployment keeps its state, and how others find it."""

from pathlib import Path

from shortlist.live.files import Files
from shortlist.log.base import Log
from shortlist.log.durable import local_path
from shortlist.log.json_register import change_register

STATE = "state"
"""The register that names the folder."""
SQLITE = "sqlite:"


def state_folder(log_url: str, given: Path | None = None) -> Path:
    """The folder that somebody chose, or the one beside a log in a file.

    >>> state_folder("sqlite:data/city.log").as_posix()
    'data/city.log.state'
    >>> state_folder("nats://localhost:4222/city")
    Traceback (most recent call last):
    ...
    ValueError: expected --state FOLDER: only a log in a file has a place beside it
    >>> state_folder("sqlite:data/city.log", Path("s3a://bucket/city"))
    Traceback (most recent call last):
    ...
    shortlist.log.durable.NotLocal: s3a:/bucket/city: expected a path that this machine mounts, ...
    """
    if given is not None:
        return local_path(given)
    if not log_url.startswith(SQLITE):
        raise ValueError("expected --state FOLDER: only a log in a file has a place beside it")
    return Path(f"{log_url.removeprefix(SQLITE)}.state")


def files_in(folder: Path) -> Files:
    """The files of a state; the folder holds what belongs to one driver, too."""
    return Files(folder / "files")


def announce(log: Log, folder: Path) -> None:
    """Tells everybody who has the log where the state is.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> log = SqliteLog(f"{tempfile.mkdtemp()}/city.log")
    >>> announce(log, Path("/srv/city")), announced(log).as_posix()
    (None, '/srv/city')
    """
    content = str(folder.absolute()).encode()
    change_register(log, STATE, lambda known: content)


def announced(log: Log) -> Path | None:
    """Where the state is, if a deployment has said so."""
    register = log.register(STATE)
    return None if register is None else Path(register.content.decode())
