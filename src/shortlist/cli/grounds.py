"""Where `up` runs a deployment: who is forked at its start, and what starts behind that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from shortlist.cli.app import notes
from shortlist.live.places import files_in
from shortlist.model.settings import Limits
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.live.manifest import Manifest
    from shortlist.live.running import Ground
    from shortlist.live.shard import Work


class Restored(NamedTuple):
    """What workers restore before anybody asks, if there is something."""

    manifest: Manifest | None
    folder: Path
    limits: Limits

    def works(self) -> list[Work]:
        if self.manifest is None:
            return []
        from shortlist.live.tasks import idle_works

        return idle_works(self.manifest, files_in(self.folder), self.limits)


def begun_ground(
    on: str, master: str | None, workers: int | None, restored: Restored
) -> Callable[[], Ground]:
    """Forks who works here, while this process has no threads yet and imports the rest; the ground
    is made when all else is ready."""
    if on == "spark":
        from shortlist.spark.session import any_session, starts_here

        if not starts_here(master):
            return partial(_spark, master)
    from shortlist.live.process_ground import ProcessGround

    processes = ProcessGround(workers)
    processes.start(restored.works())
    if on == "process":
        return lambda: processes
    from shortlist.spark.starting import StartingGround

    return partial(StartingGround, processes, any_session, _say_that_spark_runs)


def _say_that_spark_runs() -> None:
    notes.print("Spark has started, and runs the tasks from now on")


def _spark(master: str | None) -> Ground:
    import pyspark.sql  # noqa: F401 - before two threads import

    from shortlist.spark.session import any_session

    # what a driver needs is imported while the JVM starts
    Thread(target=import_module, args=("shortlist.cli.screen",), daemon=True).start()
    with Steps(notes).step("Starting Spark"):
        session = any_session(master)
    from shortlist.spark.ground import SparkGround

    return SparkGround(session)
