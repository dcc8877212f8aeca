"""The program `shortlist`: a thin layer over the library."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from shortlist.engine.engine import Engine
from shortlist.engine.explanation import Question
from shortlist.engine.explanation_text import explanation_lines
from shortlist.engine.replay import read_items, replay
from shortlist.engine.saved import UnusableState
from shortlist.intake.files import read_registry
from shortlist.intake.summary import summary
from shortlist.intake.tables import NotATable, publication_lines
from shortlist.model.durations import parse_duration
from shortlist.model.problem import InvalidRegistry
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.progress import Steps
from shortlist.spark.java import NoUsableJavaError
from shortlist.spark.sources import NoInput, input_files, is_table

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FEW = 10
"""Rejects that `check` names; `run` writes all of them."""

RegistryPath = Annotated[
    Path | None, typer.Argument(help="A registry: a YAML or JSON file, or a folder.")
]
PublicationsPath = Annotated[
    Path | None, typer.Argument(help="Publications: a file or folder, JSON lines or Parquet.")
]
TimelinePath = Annotated[
    Path | None, typer.Option(help="Publications and commands, in place of PUBLICATIONS.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print for machines.")]
Lateness = Annotated[
    str | None,
    typer.Option(help="Reject what is later than this, e.g. 10s or 0; else nothing is late."),
]
Dedup = Annotated[str, typer.Option(help="How long a publication id is remembered.")]
Advertised = Annotated[str, typer.Option(help="`required` rejects publications without one.")]
LimitFlags = Annotated[
    list[str] | None,
    typer.Option("--limit", help="NAME=NUMBER, for " + ", ".join(f.name for f in fields(Limits))),
]


@app.command()
def run(
    registry: RegistryPath = None,
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
    with_data: Annotated[
        bool, typer.Option(help="Deliveries carry the publication's data.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Exit with 1 if anything was rejected.")] = False,
    lateness: Lateness = None,
    dedup: Dedup = "24h",
    advertised: Advertised = "optional",
    limit: LimitFlags = None,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="How many tasks select; else as many as there are cores."
        ),
    ] = None,
    master: Annotated[str | None, typer.Option(help="A Spark master; else this machine.")] = None,
    quiet: Annotated[bool, typer.Option(help="Show no progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank a finite input on Spark and write the deliveries."""
    source = _source(publications, timeline)
    settings = _settings(lateness, dedup, advertised, limit)
    steps = Steps(notes, quiet or as_json)
    with _errors():
        known = _registry(registry, timeline, settings)
        input_files(source)
        from shortlist.spark.job import Outputs, run_job

        outputs = Outputs(
            deliveries=out,
            rejects=rejects or Path(f"{out}.rejects.jsonl"),
            explanations=explain,
        )
        report = run_job(
            known,
            source,
            outputs,
            settings,
            commands=timeline is not None,
            with_data=with_data,
            shards=shards,
            master=master,
            steps=steps,
        )
    if as_json:
        print(json.dumps(report))
    else:
        _print_report(report, outputs.rejects)
    if strict and report["rejects"]:
        raise typer.Exit(1)


@app.command()
def check(
    registry: Annotated[Path, typer.Argument(help="A file or a folder.")],
    publications: PublicationsPath = None,
    *,
    timeline: TimelinePath = None,
    limit: LimitFlags = None,
    as_json: AsJson = False,
) -> None:
    """Validate a registry and say what is in it; with an input, also what does not fit to it."""
    settings = Settings(limits=_limits(limit))
    warnings: list[str] = []
    with _errors():
        known = read_registry(registry, settings.limits)
        found = summary(known)
        if publications is not None or timeline is not None:
            places, lines = _numbered_lines(_source(publications, timeline))
            items, unread = read_items(known, lines, settings, commands=timeline is not None)
            engine = Engine(known, settings)
            rejects = [*unread, *engine.process(items, last=True).rejects]
            warnings = [
                *(f"{places[each.position - 1]}: {each.reason}" for each in rejects[:FEW]),
                *([f"{len(rejects):,} rejects in all"] if len(rejects) > FEW else []),
                *engine.status()["warnings"],
            ]
    if as_json:
        print(json.dumps(found | ({"warnings": warnings} if warnings else {})))
        return
    table = Table("what", "count", title=str(registry.name), title_justify="left")
    for name, count in found.items():
        table.add_row(name, f"{count:,}")
    Console().print(table)
    _warn(warnings)


@app.command()
def status(
    snapshot: Annotated[Path, typer.Argument(help="What `Engine.snapshot` gave.")],
    changes: Annotated[
        list[Path] | None, typer.Argument(help="What `Engine.changes` gave since, in order.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a saved state holds."""
    with _errors():
        saved = [path.read_bytes() for path in [snapshot, *(changes or [])]]
        engine = Engine.restore(saved[0], changes=saved[1:])
    found = engine.status() | {"counts": engine.counts, "bytes saved": sum(map(len, saved))}
    if as_json:
        print(json.dumps(found))
        return
    table = Table("policy", "shortlists", "rows", "bytes", title=snapshot.name)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, held in found["state"].items():
        table.add_row(kind, *(f"{number:,}" for number in held.values()))
    Console().print(table)
    print(
        f"{found['subscriptions']:,} subscriptions of {found['shortlists']:,} shortlists hold "
        f"{found['publications held']:,} publications; {found['bytes saved']:,} bytes saved"
    )
    _warn(found["warnings"])


@app.command()
def explain(
    registry: RegistryPath = None,
    publications: PublicationsPath = None,
    *,
    publication: Annotated[str, typer.Option(help="The id of a publication.")],
    shortlist: Annotated[str, typer.Option(help="The id of a shortlist.")],
    source: Annotated[str | None, typer.Option(help="Its publisher, if ids repeat.")] = None,
    timeline: TimelinePath = None,
    lateness: Lateness = None,
    dedup: Dedup = "24h",
    advertised: Advertised = "optional",
    limit: LimitFlags = None,
    as_json: AsJson = False,
) -> None:
    """Say why one publication is on one shortlist, or is not. Needs no Spark."""
    settings = _settings(lateness, dedup, advertised, limit)
    question = Question(publication=publication, source=source, shortlist=shortlist)
    with _errors():
        known = _registry(registry, timeline, settings)
        places, lines = _numbered_lines(_source(publications, timeline))
        result = replay(known, lines, settings, question, commands=timeline is not None)
    if not result.explanations:
        unread = [
            f"{places[reject.position - 1]}: {reject.reason}"
            for reject in result.rejects
            if publication in lines[reject.position - 1].decode(errors="replace")
        ]
        _fail(unread or [f"there is no publication {publication!r} in the input"])
    for explanation in result.explanations:
        if as_json:
            print(json.dumps(explanation, ensure_ascii=False))
        else:
            print("\n".join(explanation_lines(explanation)))


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the city and its deliveries go.")] = Path(
        "demo"
    ),
    publications: Annotated[int, typer.Option(min=200)] = 20_000,
    subscribers: Annotated[int, typer.Option(min=20)] = 1_000,
) -> None:
    """Rank a generated city's rentals, films and sensor alerts, and show a few shortlists."""
    from shortlist.demo.show import show

    with _errors():
        show(folder, publications, subscribers)


def main() -> None:
    """Runs the program."""
    app()


def _source(publications: Path | None, timeline: Path | None) -> Path:
    if publications is not None and timeline is not None:
        raise typer.BadParameter("expected PUBLICATIONS or --timeline, found both")
    source = publications or timeline
    if source is None:
        raise typer.BadParameter("expected PUBLICATIONS or --timeline, found neither")
    return source


def _numbered_lines(source: Path) -> tuple[list[str], list[bytes]]:
    """Every line of a file or folder, and where each stands."""
    places: list[str] = []
    lines: list[bytes] = []
    for file in input_files(source):
        found = publication_lines(file) if is_table(file) else file.read_bytes().split(b"\n")
        places += [f"{file.name}:{number}" for number in range(1, len(found) + 1)]
        lines += found
    return places, lines


def _registry(registry: Path | None, timeline: Path | None, settings: Settings) -> Registry:
    if registry is not None:
        return read_registry(registry, settings.limits)
    if timeline is None:
        raise typer.BadParameter("expected REGISTRY; only with --timeline may it be left out")
    return Registry()


def _settings(
    lateness: str | None, dedup: str, advertised: str, limits: list[str] | None
) -> Settings:
    if advertised not in ("optional", "required"):
        raise typer.BadParameter(
            f"--advertised: expected optional or required, found {advertised!r}"
        )
    return Settings(
        lateness=None if lateness is None else _duration("--lateness", lateness),
        dedup=_duration("--dedup", dedup),
        advertised="required" if advertised == "required" else "optional",
        limits=_limits(limits),
    )


def _limits(texts: list[str] | None) -> Limits:
    return Limits(**dict(_limit(text) for text in texts or ()))


def _duration(flag: str, text: str) -> int:
    if re.fullmatch(r"0(ms|s|m|h|d)?|PT0S", text):
        return 0
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from None


def _limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    known = [field.name for field in fields(Limits)]
    if name not in known or not number.isdecimal() or int(number) < 1:
        raise typer.BadParameter(
            f"--limit: expected NAME=NUMBER, NAME one of {', '.join(known)}; found {text!r}"
        )
    return name, int(number)


@contextmanager
def _errors() -> Iterator[None]:
    """What keeps a job from running: each problem on a line of its own, exit status 2."""
    try:
        yield
    except InvalidRegistry as error:
        _fail([str(problem) for problem in error.problems])
    except (NoInput, NotATable, NoUsableJavaError, UnusableState, OSError) as error:
        _fail([str(error)])
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        _fail([f"Spark could not do it: {_cause(error)}"])


def _cause(error: Exception) -> str:
    """The line of Spark's message that says what happened, behind the one that says where."""
    lines = [line for line in str(error).splitlines() if not line.startswith("An error occurred")]
    return lines[0].lstrip(": ") if lines else type(error).__name__


def _fail(problems: list[str]) -> NoReturn:
    for problem in problems:
        print(problem, file=sys.stderr)
    raise typer.Exit(2)


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _print_report(report: dict[str, Any], rejects: Path) -> None:
    print(
        f"{report['publications']:,} publications, {report['matched']:,} matches, "
        f"{report['deliveries']:,} deliveries "
        f"({report['promotions']:,} of them promotions) in {report['seconds']:.1f} s"
    )
    if report["rejects"]:
        print(f"{report['rejects']:,} rejects: see {rejects}")
    for attribute, count in report["other_type"].items():
        print(f"{attribute}: {count:,} times of another type than a predicate asks for")
