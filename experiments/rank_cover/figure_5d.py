"""How the size of subscriptions matters: ranges of sizes from wide to narrow, k as a share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.picture import draw_paper
from shortlist.experiments.picture import draw_lines

from .shares import ANCESTOR, PERCENTS, REGULAR, k_of, percents

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

SIZES = ((10, 60), (20, 60), (30, 60), (40, 60), (50, 60), (30, 50), (30, 40))
"""From and to, in percent of the attribute's range."""
PAPERS = {5: (40.33, 82.05, 69.59)}
"""AncestorCoverK at 5 %: 10-60, 30-40 and 50-60."""


def measure(run: Run) -> Measures:
    count = 10_000
    ks = [k_of(percent, count) for percent in PERCENTS]
    measures: dict[str, Any] = {"percent": [*PERCENTS]}
    at = PERCENTS.index(5)
    for low, high in SIZES:
        sizes = (low / 100, high / 100)
        found = run.point(f"{low}-{high}", partial(percents, run, count, ks, sizes))
        name = f"{low}-{high} %"
        measures[name] = found[ANCESTOR]
        measures[f"{name}, {REGULAR}"] = found[REGULAR][0]
        measures[f"{name} at 5 %"] = found[ANCESTOR][at]
    wide, narrow = "10-60 %", "30-40 %"
    measures["RegularCover, times more"] = (
        measures[f"{narrow}, {REGULAR}"] / measures[f"{wide}, {REGULAR}"]
    )
    measures["AncestorCoverK, times more"] = (
        measures[f"{narrow} at 5 %"] / measures[f"{wide} at 5 %"]
    )
    return measures


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    axes = canvas.subplots()
    numbers: Any = measures
    names = [f"{low}-{high} %" for low, high in SIZES]
    draw_lines(axes, numbers["percent"], {name: numbers[name] for name in names})
    for percent, values in PAPERS.items():
        draw_paper(axes, [percent] * len(values), values)
    axes.set_xscale("log")
    axes.set_xticks(numbers["percent"], [f"{percent:g}" for percent in numbers["percent"]])
    axes.set_xlabel("k in percent of all subscriptions")
    axes.set_ylabel("forwarded by AncestorCoverK in percent")
    axes.set_ylim(0, 100)
    axes.legend(title="size of subscriptions")
