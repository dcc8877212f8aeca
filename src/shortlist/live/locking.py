"""One driver for a deployment: a second one on the same folder is refused."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shortlist.log.durable import make_private, open_private
from shortlist.model.problem import ShortlistError


class AlreadyRunning(ShortlistError):
    """Another process drives this deployment."""


@contextmanager
def only_driver(folder: Path) -> Iterator[None]:
    """Holds the folder's lock, which goes with the process, however that ends.

    On another machine the lock may not be seen; there the manifest's revision decides, and the
    driver that was there before stops at its next commit.
    """
    make_private(folder)
    with open(folder / "driver.lock", "a+", opener=open_private) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            raise AlreadyRunning(
                f"{folder}: expected no running deployment, found one (process {lock.read()})"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
