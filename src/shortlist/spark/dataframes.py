"""What Spark jobs of a user's own call: DataFrames, finite or streaming, in; deliveries out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.input_files import NoInput
from shortlist.intake.tables import row_document
from shortlist.live.driver import Driver, begin
from shortlist.live.locking import only_driver
from shortlist.live.outlets import FolderOutlet, Outlet
from shortlist.live.places import files_in
from shortlist.live.registers import FolderRegisters, committed, has_deployment
from shortlist.live.registry_folder import CompiledRegistry, NotCompiled
from shortlist.live.same_registry import check_registry
from shortlist.log.durable import local_path
from shortlist.model.problem import WrongArgument
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, PlanSetting, Settings
from shortlist.model.wording import shown
from shortlist.spark.batch import Batch
from shortlist.spark.columns import check_publications, check_registry_frames
from shortlist.spark.session import is_local
from shortlist.spark.sources import read_table
from shortlist.spark.streaming import Stream, stream_lines
from shortlist.spark.tasks import Lanes


def rank(
    publications: DataFrame,
    registry: Registry | CompiledRegistry | str | Path | Mapping[str, Any],
    settings: Settings | None = None,
    *,
    shards: int | None = None,
    with_data: bool = False,
) -> DataFrame:
    """Return the deliveries that publications lead to, on the Spark session that they live on.

    There `spark.sql.unionOutputPartitioning` is set to false, so that shards run at the same time.

    `publications` has the columns `id`, `source` (strings), `time` (a timestamp or RFC 3339 text)
    and, if you like, `type`, `expirytime`, `audience`, `data` (a struct, a map or JSON text) and
    `position`; all others count as data. Raise `NoInput`, before anything runs, with all that is
    wrong with the types of columns.

    Rows that are wrong in themselves, repeated or late are rejected and lose nothing else. They are
    not shown here: `batch(...).rejects` has each with its reason. If more rows are rejected than
    taken, a warning is logged when the deliveries are computed.

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
    """Do as `rank` does, with rejects, counts and explanations beside the deliveries."""
    settings = settings or Settings()
    _check_arguments(publications, settings)
    if publications.isStreaming:
        raise NoInput("expected a finite DataFrame, found a streaming one: see rank_stream")
    check_publications(publications)
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
    return Batch(
        lines, known, settings, shards=shards or 0, with_data=with_data, keep=keep, warns=True
    )


def any_registry(
    registry: Registry | str | Path | Mapping[str, Any], limits: Limits | None = None
) -> Registry:
    """Return a registry as it is, from a file or folder, or from documents and DataFrames.

    >>> any_registry({"subscriptions": [{"id": "s"}]}).subscriptions[0].id
    's'
    """
    if isinstance(registry, Registry):
        return registry
    if isinstance(registry, Mapping):
        check_registry_frames(registry)
        documents = {kind: _documents(part) for kind, part in registry.items()}
        return registry_from_documents(documents, limits)
    if isinstance(registry, str | Path):
        return read_registry(registry, limits)
    raise WrongArgument(
        'registry: expected a Registry, a path, or a mapping such as {"subscriptions": frame},'
        f" found {shown(registry)}"
    )


def _check_arguments(publications: object, settings: object) -> None:
    if not isinstance(publications, DataFrame):
        hint = "; try spark.createDataFrame(...)" * hasattr(publications, "iloc")
        raise WrongArgument(
            f"publications: expected a Spark DataFrame, found {shown(publications)}{hint}"
        )
    if not isinstance(settings, Settings):
        raise WrongArgument(f"settings: expected Settings(...), found {shown(settings)}")


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
    """Rank what a streaming DataFrame brings, from where the last run on this state stopped.

    `frame` has a column `line` (JSON: publications and, unless told otherwise, commands), or the
    columns of publications. With a column `position` items keep it. Without one those of a
    micro-batch are numbered in the order of their times, behind all earlier ones, so that a row is
    late only because of earlier micro-batches.

    A new state begins with the registry. Later the same one is expected, or what commands have made
    of it: raise `OtherRegistry` for another. Deliveries and rejects go to a folder of files, or to
    an outlet of your own; `rejects` of the stream that is returned counts these, and the logger
    `shortlist.streaming` warns of batches that reject more than they take.

    A micro-batch of more than 50,000 lines or 64 MB is carried out in pieces of that size.

    With `arrival`, the column of that name says when each item arrived: its time on the basis
    `arrival` (`Settings(time="arrival")`), with which a state has to begin; what `ahead` is
    compared with on `event`. It goes back for nobody: what seems earlier than what came before is
    of the same instant.
    """
    settings = settings or Settings(lateness=0)
    _check_arguments(frame, settings)
    spark, folder = frame.sparkSession, local_path(state).absolute()
    outlet = out if not isinstance(out, str | Path) else FolderOutlet(out)
    lines = stream_lines(frame, arrival, is_timed=settings.time == "event")
    if lines.tabular:
        check_publications(frame, is_timed=settings.time == "event", arrival=arrival)
    if settings.asks_the_log and "appended" not in lines.frame.columns:
        raise NoInput("expected the name of a column as `arrival`, which tells when items arrived")
    with ExitStack() as stack:
        stack.enter_context(only_driver(folder))
        registers, files = FolderRegisters(folder / "registers"), files_in(folder)
        if has_deployment(registers):
            known = any_registry(registry, settings.limits.for_what_was_read())
            check_registry(known, committed(registers)[1], files)
        else:
            known = any_registry(registry, settings.limits)
            shards = shards or spark.sparkContext.defaultParallelism
            begin(registers, files, known, shards, settings)
        lanes = stack.enter_context(closing(Lanes(spark)))
        driver = Driver(registers, files, settings, lanes, outlet, with_data=with_data, plan=plan)
        checkpoint = folder / "checkpoint"
        stream = Stream(lines, driver, checkpoint, commands=commands, held=stack.pop_all())
        stream.start()
        return stream
