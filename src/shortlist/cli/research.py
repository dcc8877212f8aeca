"""The commands for research: policies beside each other, and the figures of the papers."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import options
from shortlist.cli.app import RESEARCH, app, begin_on, errors, notes, show_table
from shortlist.model.wording import shown
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.experiments.comparing import Comparand
    from shortlist.experiments.reproducing import Outcome

PICTURES = (".png", ".svg")
DataFolder = Annotated[
    Path | None,
    typer.Option(
        envvar="SHORTLIST_DATA",
        help="Where the real data sets are; what needs one that is missing is skipped.",
    ),
]


@app.command(rich_help_panel=RESEARCH)
def experiment(
    registry: Annotated[Path, typer.Argument(help="A registry: a file or a folder.")],
    publications: Annotated[
        Path, typer.Argument(help="Publications: a file or folder, JSON lines or Parquet.")
    ],
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="NAME=POLICY, a JSON object or list of them; may stand several times."),
    ] = None,
    policies: Annotated[
        Path | None, typer.Option(help="Policies by name: a YAML or JSON file.")
    ] = None,
    quality: Annotated[
        str | None,
        typer.Option(help="A score expression, such as `rating`: its mean over what is delivered."),
    ] = None,
    draw: Annotated[
        Path | None, typer.Option(help="Also draw the measures: a PNG or SVG file.")
    ] = None,
    on: options.On = "process",
    as_json: options.AsJson = False,
) -> None:
    """Try policies on a registry and publications, and put what they do side by side.

    Each takes the place of the policies of all shortlists. Beside them stand what Boolean matching
    delivers, and the registry as it is written.
    """
    begin_on(on)
    from shortlist.experiments.comparing import Comparison, compared, read_policies
    from shortlist.experiments.ranking import Ranking
    from shortlist.intake.files import read_registry
    from shortlist.intake.input_files import input_files

    if draw is not None and draw.suffix not in PICTURES:
        expected = " or ".join(PICTURES)
        raise typer.BadParameter(f"--draw: expected a name that ends in {expected}; found {draw}")
    with errors():
        tried = compared(read_policies(_policy_documents(policy or [], policies)))
        known = read_registry(registry)
        input_files(publications)
        ranking = Ranking(options.ground_of(on), Steps(notes, quiet=as_json))
        comparison = Comparison(known, publications, ranking, quality)
        found = []
        for comparand in comparison.run(tried):
            found.append(comparand)
            if as_json:
                print(json.dumps(asdict(comparand)))
        if not as_json:
            _show_comparison(found)
        if draw is not None:
            from shortlist.experiments.comparing import draw_comparison

            draw_comparison(found, draw)


def _policy_documents(texts: list[str], file: Path | None) -> dict[str, Any]:
    from shortlist.intake.files import Unreadable, load

    documents: dict[str, Any] = {}
    if file is not None:
        try:
            found = load(file)
        except Unreadable as error:
            raise typer.BadParameter(f"--policies: {file.name}: {error}") from None
        if not isinstance(found, dict):
            expected = "expected a mapping from names to policies"
            raise typer.BadParameter(f"--policies: {file.name}: {expected}; found {shown(found)}")
        documents |= found
    for text in texts:
        name, _, policy = text.partition("=")
        try:
            documents[name] = json.loads(policy)
        except ValueError:
            expected = """expected NAME=POLICY such as best={"kind": "top-k", "k": 3}"""
            raise typer.BadParameter(f"--policy: {expected}; found {shown(text)}") from None
    return documents


def _show_comparison(found: list[Comparand]) -> None:
    """A column for each policy: there are more measures than fit beside each other."""
    names = [field.name for field in fields(found[0]) if field.name != "policy"]
    measured = {name: [getattr(each, name) for each in found] for name in names}
    rows = (
        (name.replace("_", " "), *map(_cell, values))
        for name, values in measured.items()
        if any(value is not None for value in values)
    )
    show_table(("", *(each.policy for each in found)), rows, slice(1, None))


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


@app.command(rich_help_panel=RESEARCH)
def reproduce(
    paper: Annotated[str | None, typer.Argument(help="A folder of experiments; else all.")] = None,
    figure: Annotated[str | None, typer.Argument(help="One of its figures; else all.")] = None,
    *,
    quick: Annotated[bool, typer.Option(help="Smaller: all of them within minutes.")] = False,
    seed: Annotated[int, typer.Option(help="What all chance follows from.")] = 0,
    data: DataFolder = None,
    on: options.On = "process",
    save: Annotated[
        bool, typer.Option(help="Put results beside the experiments, and make the gallery anew.")
    ] = False,
    as_stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="Run nothing: judge and draw what is there anew, and the gallery."
        ),
    ] = False,
    again: Annotated[bool, typer.Option(help="Forget what was computed before.")] = False,
    out: Annotated[Path, typer.Option(help="Where points, results and pictures go.")] = Path(
        "build/reproduced"
    ),
    experiments: Annotated[
        Path, typer.Option(help="The experiments: a folder for each paper.")
    ] = Path("experiments"),
    as_json: options.AsJson = False,
) -> None:
    """Run the papers' figures on this system, and say which claims hold.

    A run that was cut off goes on where it was.
    """
    from shortlist.experiments.papers import Experiments
    from shortlist.experiments.reproducing import Reproduction, gallery, stored
    from shortlist.experiments.run import Run

    save = save or as_stored
    if save and quick:
        raise typer.BadParameter("--save: expected a run in full, found --quick")
    with errors():
        known = Experiments(experiments)
        ground = options.ground_of(on)
        steps = Steps(notes, quiet=as_json)
        run = Run(ground, steps, out, quick, seed, data)
        reproduction = Reproduction(known, run, again)
        there = stored(known)
        chosen = known.chosen(paper, figure)
        before = (there[each] for each in chosen if each in there)
        for outcome in before if as_stored else reproduction.run(paper, figure):
            if outcome.skipped is None:
                beside = known.results(outcome.paper) if save else out / outcome.paper
                reproduction.save(outcome, beside)
            _tell(outcome, as_json)
        if save:
            page = known.folder.parent / "docs" / "gallery.md"
            page.write_text(gallery(known), encoding="utf-8")


def _tell(outcome: Outcome, as_json: bool) -> None:
    from shortlist.experiments.reproducing import verdict_row

    name = f"{outcome.paper} {outcome.name}"
    if as_json:
        told = {"skipped": outcome.skipped} if outcome.skipped else outcome.document()
        seconds = round(outcome.seconds, 1)
        print(
            json.dumps({"paper": outcome.paper, "figure": outcome.name, **told, "seconds": seconds})
        )
        return
    if outcome.skipped is not None:
        print(f"{name}: skipped, {outcome.skipped}")
        return
    title = (
        f"{name}: {outcome.figure.title}; {outcome.agreeing} of {len(outcome.verdicts)} claims"
        f" agree ({outcome.seconds:.1f} s)"
    )
    rows = (verdict_row(claim, verdict) for claim, verdict in outcome.verdicts)
    show_table(("the paper", "where", "expected", "found", ""), rows, title=title)
