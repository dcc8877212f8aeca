"""The command `reproduce`: figures of the papers, from this system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import RESEARCH, AsJson, On, app, errors, notes
from shortlist.cli.grounds import ground_of
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.experiments.reproducing import Outcome

DataFolder = Annotated[
    Path | None,
    typer.Option(
        envvar="SHORTLIST_DATA",
        help="Where the real data sets are; what needs one that is missing is skipped.",
    ),
]


@app.command(rich_help_panel=RESEARCH)
def reproduce(
    paper: Annotated[str | None, typer.Argument(help="A folder of experiments; else all.")] = None,
    figure: Annotated[str | None, typer.Argument(help="One of its figures; else all.")] = None,
    *,
    quick: Annotated[bool, typer.Option(help="Smaller: all of them within minutes.")] = False,
    seed: Annotated[int, typer.Option(help="What all chance follows from.")] = 0,
    data: DataFolder = None,
    on: On = "process",
    save: Annotated[
        bool, typer.Option(help="Put results beside the experiments, and make the gallery anew.")
    ] = False,
    again: Annotated[bool, typer.Option(help="Forget what was computed before.")] = False,
    out: Annotated[Path, typer.Option(help="Where points, results and pictures go.")] = Path(
        "build/reproduced"
    ),
    experiments: Annotated[
        Path, typer.Option(help="The experiments: a folder for each paper.")
    ] = Path("experiments"),
    as_json: AsJson = False,
) -> None:
    """Run the papers' figures on this system, and say which claims hold.

    A run that was cut off goes on where it was.
    """
    from shortlist.experiments.gallery import gallery
    from shortlist.experiments.papers import Experiments
    from shortlist.experiments.reproducing import Reproduction

    if save and quick:
        raise typer.BadParameter("--save: expected a run in full, found --quick")
    with errors():
        known = Experiments(experiments)
        ground = ground_of(on)
        steps = Steps(notes, quiet=as_json)
        reproduction = Reproduction(known, ground, steps, out, quick, seed, data, again)
        for outcome in reproduction.run(paper, figure):
            if outcome.skipped is None:
                beside = known.results(outcome.paper) if save else out / outcome.paper
                reproduction.save(outcome, beside)
            _tell(outcome, as_json)
        if save:
            page = known.folder.parent / "docs" / "gallery.md"
            page.write_text(gallery(known), encoding="utf-8")


def _tell(outcome: Outcome, as_json: bool) -> None:
    from shortlist.experiments.gallery import verdict_row

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
    table = Table("the paper", "where", "expected", "found", "", title=title, title_justify="left")
    for claim, verdict in outcome.verdicts:
        table.add_row(*verdict_row(claim, verdict))
    Console().print(table)
