"""What Spark jobs of a user's own call: DataFrames, finite or streaming, in; deliveries out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.input_files import NoInput
from shortlist.intake.tables import row_document
from shortlist.live.driver import Driver, begin
from shortlist.live.locking import only_driver
from shortlist.live.outlets import FolderOutlet, Outlet
from shortlist.live.places import files_in
from shortlist.live.registers import FolderRegisters, has_deployment
from shortlist.live.registry_folder import CompiledRegistry, NotCompiled
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, PlanSetting, Settings
from shortlist.spark.batch import Batch
from shortlist.spark.session import is_local
from shortlist.spark.sources import read_table
from shortlist.spark.streaming import PUBLICATION_COLUMNS, Stream, stream_lines
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rank(
    publications: DataFrame,
    registry: Registry | CompiledRegistry | str | Path | Mapping[str, Any],
    settings: Settings | None = None,
    *,
    shards: int | None = None,
    with_data: bool = False,
) -> DataFrame:
    """The deliveries that publications lead to, on the Spark session that they live on.

    There `spark.sql.unionOutputPartitioning` is set to false, so that shards run at the same time.

    `publications` has the columns `id`, `source`, `time` and, if you like, `type`, `expirytime`,
    `audience`, `data` (a struct, a map or JSON text) and `position`; all others count as data.

    A registry that is compiled, or lies on this machine beside what `compile_registry` made of it,
    is opened: no object is made for any subscription.
    """
    return batch(publications, registry, settings, shards=shards, with_data=with_data).deliveries


def batch(
    publications: DataFrame,
    registry: Registry | CompiledRegistry | str | Path | Mapping[str, Any],
    settings: Settings | None = None,
    *,
    shards: int | None = None,
    with_data: bool = False,
    keep: bool = False,
) -> Batch:
    """As `rank`, with rejects, counts and explanations beside the deliveries."""
    settings = settings or Settings()
    if publications.isStreaming:
        raise NoInput("expected a finite DataFrame, found a streaming one: see rank_stream")
    missing = [name for name in PUBLICATION_COLUMNS if name not in publications.columns]
    if missing:
        found = ", ".join(publications.columns)
        raise NoInput(f"expected a column {missing[0]} of publications, found {found}")
    if settings.asks_the_log:
        raise NoInput(
            "expected the time basis event, without ahead: a finite DataFrame is ordered by what"
            " its publications say"
        )
    if settings.lateness is not None and "position" not in publications.columns:
        raise NoInput("lateness needs a column `position`: a DataFrame has no order of its own")
    known: Registry | CompiledRegistry | None = None
    if isinstance(registry, CompiledRegistry):
        known = registry
        if known.limits.degree_bits != settings.limits.degree_bits:
            raise NoInput(
                "expected a registry that was compiled with the degree_bits of these settings"
            )
        if shards not in (None, known.shards):
            raise NoInput(f"expected a registry for {shards} shards, found one for {known.shards}")
    else:
        if isinstance(registry, str | Path) and is_local(publications.sparkSession):
            with suppress(NotCompiled):  # as its files are now
                beside = CompiledRegistry.beside(registry, settings.limits)
                known = beside if shards in (None, beside.shards) else None
        known = known or any_registry(registry, settings.limits)
    lines = read_table(publications)
    return Batch(lines, known, settings, shards=shards or 0, with_data=with_data, keep=keep)


def any_registry(
    registry: Registry | str | Path | Mapping[str, Any], limits: Limits | None = None
) -> Registry:
    """A registry as it is, from a file or folder, or from documents and DataFrames.

    >>> any_registry({"subscriptions": [{"id": "s"}]}).subscriptions[0].id
    's'
    """
    if isinstance(registry, Registry):
        return registry
    if isinstance(registry, Mapping):
        documents = {kind: _documents(part) for kind, part in registry.items()}
        return registry_from_documents(documents, limits)
    return read_registry(registry, limits)


def _documents(part: Any) -> Any:
    if hasattr(part, "toArrow"):
        return [row_document(row) for row in part.toArrow().to_pylist()]
    return part


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
    arrival: str | None = None,
) -> Stream:
    """Ranks what a streaming DataFrame brings, from where the last run on this state stopped.

    `frame` has a column `line` (JSON: publications and, unless told otherwise, commands), or the
    columns of publications; with a column `position` items keep it, otherwise they are numbered as
    they arrive. The registry is what a new state begins with. Deliveries go to a folder of files,
    or to an outlet of your own.

    With `arrival`, the column of that name says when each item arrived: its time on the basis
    `arrival` (`Settings(time="arrival")`), with which a state has to begin; what `ahead` is
    compared with on `event`. It goes back for nobody: what seems earlier than what came before is
    of the same instant.
    """
    settings = settings or Settings(lateness=0)
    spark, folder = frame.sparkSession, Path(state).absolute()
    lines = stream_lines(frame, arrival, is_timed=settings.time == "event")
    if settings.asks_the_log and "appended" not in lines.frame.columns:
        raise NoInput("expected the name of a column as `arrival`, which tells when items arrived")
    with ExitStack() as stack:
        stack.enter_context(only_driver(folder))
        registers, files = FolderRegisters(folder / "registers"), files_in(folder)
        if not has_deployment(registers):
            known = any_registry(registry, settings.limits)
            shards = shards or spark.sparkContext.defaultParallelism
            begin(registers, files, known, shards, settings)
        lanes = stack.enter_context(closing(Lanes(spark)))
        outlet = out if not isinstance(out, str | Path) else FolderOutlet(out)
        driver = Driver(registers, files, settings, lanes, outlet, with_data=with_data, plan=plan)
        checkpoint = folder / "checkpoint"
        stream = Stream(lines, driver, checkpoint, commands=commands, held=stack.pop_all())
        stream.start()
        return stream
