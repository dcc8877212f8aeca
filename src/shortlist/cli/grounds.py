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

SPARK_RUNS = "Spark has started, and runs the tasks from now on"


class ToRestore(NamedTuple):
    """What workers restore before anybody asks: nothing where there is no manifest."""

    manifest: Manifest | None
    folder: Path
    limits: Limits

    def works(self) -> list[Work]:
        """After which the shards of a deployment are ready."""
        if self.manifest is None:
            return []
        from shortlist.live.tasks import idle_works

        return idle_works(self.manifest, files_in(self.folder), self.limits)


def begin_ground(
    on: str, master: str | None, workers: int | None, state: ToRestore
) -> Callable[[], Ground]:
    """Forks the workers at once, while this process has no threads, so that they restore the state
    while it imports the rest; what it returns makes the ground, when all else is ready."""
    if on == "spark":
        from shortlist.spark.session import any_session, starts_here

        if not starts_here(master):
            return partial(_spark, master)
    from shortlist.live.process_ground import ProcessGround

    processes = ProcessGround(workers)
    processes.start(state.works())
    if on == "process":
        return lambda: processes
    from shortlist.spark.starting import StartingGround

    return partial(StartingGround, processes, any_session, _say_that_spark_runs)


def _say_that_spark_runs() -> None:
    notes.print(SPARK_RUNS)


def _spark(master: str | None) -> Ground:
    import pyspark.sql  # noqa: F401 - before two threads import

    from shortlist.spark.session import any_session

    # what a driver needs is imported while the JVM starts
    Thread(target=import_module, args=("shortlist.cli.screen",), daemon=True).start()
    with Steps(notes).step("Starting Spark"):
        session = any_session(master)
    from shortlist.spark.ground import SparkGround

    return SparkGround(session)
