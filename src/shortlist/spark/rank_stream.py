"""Any streaming DataFrame as the input of a deployment, within a Spark job of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.live.driver import Driver, begin
from shortlist.live.folder_outlet import FolderOutlet
from shortlist.live.folder_registers import FolderRegisters
from shortlist.live.locking import only_driver
from shortlist.live.manifest import Manifest
from shortlist.live.outlets import Outlet
from shortlist.live.places import files_in
from shortlist.live.plans import PlanSetting
from shortlist.live.registers import has_deployment
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.spark.batch import any_registry
from shortlist.spark.streaming import Stream, stream_lines
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class RankedStream:
    """A streaming query whose deliveries go to files, or wherever an outlet brings them."""

    def __init__(self, stream: Stream, driver: Driver, held: ExitStack) -> None:
        self._stream = stream
        self._driver = driver
        self._held = held

    @property
    def is_active(self) -> bool:
        return self._stream.is_active

    @property
    def manifest(self) -> Manifest:
        """What was committed last."""
        return self._driver.manifest

    def process_all_available(self) -> None:
        """Waits until what the source has now is done."""
        self._stream.process_all_available()

    def stop(self) -> None:
        """Lets the batch that is under way come to its end; raises what went wrong, if it did."""
        with self._held:
            self._stream.finish()

    def finish(self) -> None:
        """The input has ended: time runs on, and windows empty. Then it stops."""
        with self._held:
            self._stream.finish()
            self._driver.run_batch(Items.empty(), last=True)


def rank_stream(
    frame: DataFrame,
    registry: Registry | str | Path | Mapping[str, Any],
    state: str | Path,
    out: str | Path | Outlet,
    settings: Settings | None = None,
    *,
    commands: bool = True,
    shards: int | None = None,
    with_data: bool = False,
    plan: PlanSetting = "replicate",
) -> RankedStream:
    """Ranks what a streaming DataFrame brings, from where the last run on this state stopped.

    `frame` has a column `line` (JSON: publications and, unless told otherwise, commands), or the
    columns of publications; with a column `position` items keep it, otherwise they are numbered as
    they arrive. The registry is what a new state begins with. Deliveries go to a folder of files,
    or to an outlet of your own.
    """
    settings = settings or Settings(lateness=0)
    spark, folder = frame.sparkSession, Path(state).absolute()
    lines = stream_lines(frame)
    with ExitStack() as stack:
        stack.enter_context(only_driver(folder))
        registers, files = FolderRegisters(folder / "registers"), files_in(folder)
        if not has_deployment(registers):
            known = any_registry(registry, settings.limits)
            begin(registers, files, known, shards or spark.sparkContext.defaultParallelism)
        lanes = Lanes(spark)
        stack.callback(lanes.release)
        outlet = out if not isinstance(out, str | Path) else FolderOutlet(out, with_data=with_data)
        driver = Driver(registers, files, settings, lanes, outlet, with_data=with_data, plan=plan)
        stream = Stream(lines, driver, folder / "checkpoint", commands=commands)
        stream.start()
        return RankedStream(stream, driver, stack.pop_all())
