"""The command `compile`, and who opens what it has made."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import FINITE, LIVE, app, begin_on, errors, fail, notes, warn
from shortlist.model.settings import Limits
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.live.registry_folder import CompiledRegistry
    from shortlist.live.tasks import Run
    from shortlist.model.registry import Registry

LARGE = 1 << 21
"""Bytes of files from which on a registry is compiled."""


@app.command("compile", rich_help_panel=FINITE)
def compile_command(
    registry: Annotated[Path, typer.Argument(help="A file or a folder.")],
    *,
    shards: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="How many tasks will select; else one per core."),
    ] = None,
    limit: options.LimitFlags = None,
    master: options.Master = None,
    on: options.On = "spark",
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Read, check and compile a large registry beside its files, for `run` and `up` to open."""
    begin_on(on, master)
    began, steps = time.monotonic(), Steps(notes, quiet or as_json)
    with errors(), _lanes(on, master, steps) as (run, lanes):
        from shortlist.jobs.compiling import compile_registry

        limits = options.limits_of(limit)
        made = compile_registry(
            registry, limits, shards=shards or lanes, run=run, lanes=lanes, steps=steps
        )
    seconds = round(time.monotonic() - began, 3)
    if as_json:
        counts = {"subscriptions": made.subscriptions, "shortlists": made.shortlists}
        print(json.dumps({**counts, "shards": made.shards, "seconds": seconds}))
    else:
        print(
            f"{made.subscriptions:,} subscriptions, {made.shortlists:,} shortlists,"
            f" {made.shards} shards in {seconds:.1f} s: {made.folder.parent.name}"
        )


@app.command("compile-kernels", rich_help_panel=LIVE)
def compile_kernels(*, quiet: options.Quiet = False) -> None:
    """Compile all kernels here, as deployments do when they start: for images, and before tests."""
    from shortlist.live.warming import MOST_AT_ONCE, PARTS, KernelCompiler, missing

    def tell(left: Sequence[str]) -> None:
        if left and not quiet:
            notes.print(f"compiling kernels: left {', '.join(left)}", soft_wrap=True)

    with closing(KernelCompiler(at_once=min(cores(), MOST_AT_ONCE))) as compiler:
        compiler.compile(missing(PARTS), tell)
    failed = missing(PARTS)
    if failed:
        fail([f"expected to compile the kernels of {each}, could not" for each in failed])


def cores() -> int:
    return len(os.sched_getaffinity(0))


@contextmanager
def _lanes(on: options.Place, master: str | None, steps: Steps) -> Iterator[tuple[Run, int]]:
    """Who does tasks, and how many at a time."""
    if on == "process":
        from shortlist.live.lanes import Workers

        with closing(Workers(cores())) as workers:
            yield workers, cores()
        return
    from shortlist.spark.session import any_session
    from shortlist.spark.tasks import Lanes

    with steps.step("Starting Spark"):
        spark = any_session(master)
    with closing(Lanes(spark)) as lanes:
        yield lanes, spark.sparkContext.defaultParallelism


def compiled_beside(path: Path, limits: Limits, shards: int | None) -> CompiledRegistry | None:
    """The compiled registry of some files, if there is one, for so many shards if anybody says how
    many; a person hears why one that is there is of no use."""
    from shortlist.live.registry_folder import CompiledRegistry, NotCompiled, folder_beside

    if not folder_beside(path).is_dir():
        return None
    try:
        found = CompiledRegistry.beside(path, limits)
    except NotCompiled as error:
        warn([str(error)])
        return None
    if shards in (None, found.shards):
        return found
    warn([f"{found.folder.parent} is for {found.shards} shards, not {shards}"])
    return None


def is_large(path: Path) -> bool:
    """Whether it takes longer to make an object for each subscription than to compile them."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE


@contextmanager
def registry_at_hand(
    path: Path,
    limits: Limits,
    shards: int | None,
    on: options.Place,
    master: str | None,
    steps: Steps,
) -> Iterator[Registry | CompiledRegistry]:
    """A registry as a job takes it, as long as the job runs: a large one is opened if it was
    compiled before, and else compiled first, which takes less than an object for each of its
    subscriptions."""
    found = compiled_beside(path, limits, shards)
    if found is not None:
        yield found
        return
    from shortlist.intake.files import read_registry

    if master is not None or not is_large(path):
        yield read_registry(path, limits)
        return
    from shortlist.jobs.compiling import compile_registry
    from shortlist.live.lanes import Workers

    lanes = cores()
    with tempfile.TemporaryDirectory(prefix="shortlist-") as name:
        with closing(Workers(lanes)) as workers:
            made = compile_registry(
                path,
                limits,
                folder=Path(name, "registry"),
                shards=shards or (1 if on == "process" else lanes),
                run=workers,
                lanes=lanes,
                steps=steps,
            )
        yield made
