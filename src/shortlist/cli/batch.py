"""The commands for finite inputs: run, check, explain."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import (
    FINITE,
    app,
    begin_on,
    errors,
    fail,
    means_service,
    notes,
    reached,
    say,
    show_table,
    warn,
)
from shortlist.cli.compiling import registry_at_hand
from shortlist.client.deployment import Deployment
from shortlist.intake.input_files import Places, input_files, is_table, most_unpacked
from shortlist.log.durable import local_path
from shortlist.model.settings import PlanSetting, Settings
from shortlist.model.wording import choice_of
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.live.registry_folder import CompiledRegistry
    from shortlist.model.registry import Registry

LOOKED_AT = 2_000
"""Lines of an input in which `run` looks for mistakes."""
FEW = 10
"""Rejects that `check` names; `run` writes all of them."""

PublicationsPath = Annotated[
    Path | None, typer.Argument(help="Publications: a file or folder, JSON lines or Parquet.")
]
TimelinePath = Annotated[
    Path | None, typer.Option(help="Publications and commands, in place of PUBLICATIONS.")
]


@app.command(rich_help_panel=FINITE)
def run(
    registry: options.RegistryPath = None,
    publications: PublicationsPath = None,
    *,
    out: Annotated[Path, typer.Option(help="Deliveries: JSON lines, or a .parquet folder.")],
    timeline: TimelinePath = None,
    rejects: Annotated[
        Path | None, typer.Option(help="What was turned away; else OUT.rejects.jsonl.")
    ] = None,
    explain: Annotated[
        Path | None, typer.Option(help="Also write why each match was delivered or not.")
    ] = None,
    with_data: options.WithData = False,
    strict: Annotated[bool, typer.Option(help="Exit with 1 if anything was rejected.")] = False,
    lateness: options.Lateness = None,
    dedup: options.Dedup = "24h",
    advertised: options.Advertised = "optional",
    limit: options.LimitFlags = None,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="How many tasks select; else as many as there are cores."
        ),
    ] = None,
    master: options.Master = None,
    on: options.On = "spark",
    stream: Annotated[
        bool, typer.Option(help="Through Structured Streaming; `--lateness` is 0 then.")
    ] = False,
    at_most: Annotated[
        int | None, typer.Option(min=1, help="With --stream: lines in a micro-batch.")
    ] = None,
    plan: Annotated[
        PlanSetting, typer.Option(help="With --stream: replicate, broadcast, rendezvous, or auto.")
    ] = "replicate",
    changes: Annotated[
        Path | None, typer.Option(help="With --stream: also write what leaves shortlists.")
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Rank a finite input and write the deliveries."""
    source = _source(publications, timeline)
    begin_on(on, master)
    if stream and explain is not None:
        raise typer.BadParameter("--explain: expected a run without --stream, found one with it")
    if changes is not None and not stream:
        raise typer.BadParameter("--changes: expected a run with --stream, found one without it")
    lateness = "0" if stream and lateness is None else lateness
    settings = options.settings_of(lateness, dedup, advertised, limit)
    steps = Steps(notes, quiet or as_json)
    opened: AbstractContextManager[Registry | CompiledRegistry] = (
        nullcontext(_registry(None, timeline, settings))
        if registry is None
        else registry_at_hand(registry, settings.limits, shards, on, master, steps)
    )
    with errors(), opened as known:
        input_files(source)
        from shortlist.jobs.job import Job, Outputs, Streamed

        outputs = Outputs(
            deliveries=local_path(out),
            rejects=local_path(rejects or f"{out}.rejects.jsonl"),
            explanations=explain and local_path(explain),
            departures=changes and local_path(changes),
        )
        has_commands = timeline is not None
        job = Job(known, source, outputs, settings, steps, has_commands, with_data, shards)
        report = job.run(options.ground_of(on, master), Streamed(at_most, plan) if stream else None)
        warnings = _warnings(known, source, settings, has_commands)
    if as_json:
        print(json.dumps(report | ({"warnings": warnings} if warnings else {})))
    else:
        print(
            f"{report['publications']:,} publications, {report['matched']:,} matches, "
            f"{report['deliveries']:,} deliveries "
            f"({report['promotions']:,} of them promotions) in {report['seconds']:.1f} s"
        )
        if report["rejects"]:
            print(f"{report['rejects']:,} rejects: see {outputs.rejects}")
        for attribute, count in report["other_type"].items():
            print(f"{attribute}: {count:,} times of another type than a predicate asks for")
        warn(warnings)
    if strict and report["rejects"]:
        raise typer.Exit(1)


@app.command(rich_help_panel=FINITE)
def check(
    registry: Annotated[Path, typer.Argument(help="A file or a folder.")],
    publications: PublicationsPath = None,
    *,
    timeline: TimelinePath = None,
    limit: options.LimitFlags = None,
    as_json: options.AsJson = False,
) -> None:
    """Validate a registry and say what is in it; with an input, also what does not fit to it."""
    from shortlist.engine.engine import Engine
    from shortlist.engine.mistakes import likely_mistakes
    from shortlist.engine.replay import read_items
    from shortlist.intake.files import read_registry
    from shortlist.intake.roster import summary

    settings = Settings(limits=options.limits_of(limit))
    warnings: list[str] = []
    with errors():
        known = read_registry(registry, settings.limits)
        found = summary(known)
        if publications is not None or timeline is not None:
            places, lines = numbered_lines(_source(publications, timeline))
            items, unread = read_items(known, lines, settings, commands=timeline is not None)
            engine = Engine(known, settings)
            rejects = [*unread, *engine.process(items, last=True).rejects]
            warnings = [
                *(f"{places.name(each.position)}: {each.reason}" for each in rejects[:FEW]),
                *([f"{len(rejects):,} rejects in all"] if len(rejects) > FEW else []),
                *engine.status()["warnings"],
                *likely_mistakes(known, lines, settings.limits, commands=timeline is not None),
            ]
    if as_json:
        print(json.dumps(found | ({"warnings": warnings} if warnings else {})))
        return
    counts = ((name, f"{count:,}") for name, count in found.items())
    show_table(("what", "count"), counts, title=registry.name)
    warn(warnings)


@app.command(rich_help_panel=FINITE)
def explain(
    registry: options.RegistryPath = None,
    publications: PublicationsPath = None,
    *,
    publication: Annotated[str, typer.Option(help="The id of a publication.")],
    shortlist: Annotated[str, typer.Option(help="The id of a shortlist.")],
    source: Annotated[str | None, typer.Option(help="Its publisher, if ids repeat.")] = None,
    timeline: TimelinePath = None,
    log: Annotated[
        str | None,
        typer.Option(
            envvar="SHORTLIST_LOG",
            help="Where no files are given: what the deployment on this log has read.",
        ),
    ] = None,
    service: options.ServiceUrl = None,
    lateness: options.Lateness = None,
    dedup: options.Dedup = "24h",
    advertised: options.Advertised = "optional",
    limit: options.LimitFlags = None,
    as_json: options.AsJson = False,
) -> None:
    """Say why one publication is on one shortlist, or is not. Needs no Spark."""
    from shortlist.cli.replaying import explanations
    from shortlist.engine.explanation import Question
    from shortlist.engine.explanation_text import explanation_lines
    from shortlist.engine.replay import replay

    settings = options.settings_of(lateness, dedup, advertised, limit)
    question = Question(publication=publication, source=source, shortlist=shortlist)
    if log is not None and registry is None and timeline is None:
        found = explanations(log, question, limit)
        if not found:
            fail([f"the deployment has not come to a publication {publication!r}"])
    elif registry is None and timeline is None and means_service(service):
        with reached(None, service) as remote:
            assert not isinstance(remote, Deployment)
            answer = remote.explanations(shortlist, publication, source)
        if answer["from"].startswith("replayed"):
            say([answer["from"]])
        found = answer["items"]
    else:
        with errors():
            known = _registry(registry, timeline, settings)
            named = {made.id for made in known.shortlists}
            named |= {made.shortlist_id for made in known.subscriptions}
            if timeline is None and shortlist not in named:  # else commands might make it
                choice = choice_of(shortlist, named)
                fail([f"there is no shortlist {shortlist!r} in the registry; {choice}"])
            places, lines = numbered_lines(_source(publications, timeline))
            result = replay(known, lines, settings, question, commands=timeline is not None)
        found = [*result.explanations]
        if not found:
            unread = [
                f"{places.name(reject.position)}: {reject.reason}"
                for reject in result.rejects
                if publication in lines[reject.position - 1].decode(errors="replace")
            ]
            fail(unread or [f"there is no publication {publication!r} in the input"])
    for explanation in found:
        if as_json:
            print(json.dumps(explanation, ensure_ascii=False))
        else:
            print("\n".join(explanation_lines(explanation)))


def _source(publications: Path | None, timeline: Path | None) -> Path:
    if publications is not None and timeline is not None:
        raise typer.BadParameter("expected PUBLICATIONS or --timeline, found both")
    source = publications or timeline
    if source is None:
        raise typer.BadParameter("expected PUBLICATIONS or --timeline, found neither")
    return source


def numbered_lines(source: Path) -> tuple[Places, list[bytes]]:
    """Every line of a file or folder, and where each stands."""
    from shortlist.intake.finite_input import FiniteInput

    found = FiniteInput.at(source)
    lines = found.every_line()
    return found.places, lines


def _warnings(
    registry: Registry | CompiledRegistry, source: Path, settings: Settings, commands: bool
) -> list[str]:
    """What looks like a mistake in the first lines of an input; of what is compiled nobody goes
    through all subscriptions."""
    from shortlist.engine.mistakes import likely_mistakes
    from shortlist.intake.finite_input import LEFT_TO_SPARK, pieces_of
    from shortlist.intake.tables import first_publication_lines
    from shortlist.model.registry import Registry

    if isinstance(registry, Registry):
        known, others = registry, None
    else:
        known, others = registry.rest, registry.wanted
    lines: list[bytes] = []
    for file in input_files(source):
        rest = LOOKED_AT - len(lines)
        if is_table(file):
            lines += first_publication_lines(file, rest)
        elif file.suffix not in LEFT_TO_SPARK:
            pieces = pieces_of(file, most_unpacked([file]))
            lines += islice((line for piece in pieces for line in piece.split(b"\n")), rest)
        if len(lines) >= LOOKED_AT:
            break
    of = "the first " if len(lines) >= LOOKED_AT else ""
    return likely_mistakes(known, lines, settings.limits, commands=commands, of=of, others=others)


def _registry(registry: Path | None, timeline: Path | None, settings: Settings) -> Registry:
    from shortlist.intake.files import read_registry
    from shortlist.model.registry import Registry

    if registry is not None:
        return read_registry(registry, settings.limits)
    if timeline is None:
        raise typer.BadParameter("expected REGISTRY; only with --timeline may it be left out")
    return Registry()
