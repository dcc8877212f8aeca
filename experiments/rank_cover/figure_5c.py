"""How many subscriptions AncestorCoverK keeps from the publisher's broker if k is a share of them.

The paper's headline is here: what is left of plain covering where a publisher reaches 1 %.
"""

from __future__ import annotations

from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

from experiments.picture import draw_paper
from shortlist.experiments.picture import draw_lines

from .shares import ANCESTOR, DRAWS, PERCENTS, REGULAR, k_of, percents

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

PAPERS = {0.1: 100 - 94.24, 10: 100 - 33.3}
"""Forwarded in percent, by the share that a publisher reaches."""


def measure(run: Run) -> Measures:
    counts = run.pick(full=[10_000, 20_000, 30_000, 40_000, 50_000], quick=[10_000, 20_000])
    measures: dict[str, Any] = {"percent": [*PERCENTS], "subscriptions": counts}
    forwarded, apart = {}, []
    for count in counts:
        ks = [k_of(percent, count) for percent in PERCENTS]
        found = [
            run.point(
                f"{count} subscriptions, {draw}",
                partial(percents, run, count, ks, draw=draw),
            )
            for draw in range(run.pick(full=DRAWS, quick=1))
        ]
        at_each = [*zip(*(each[ANCESTOR] for each in found), strict=True)]
        forwarded[count] = [mean(some) for some in at_each]
        apart += [max(some) - min(some) for some in at_each]
        measures[f"{count} subscriptions"] = forwarded[count]
        measures[f"{REGULAR} of {count}"] = mean(each[REGULAR][0] for each in found)
    most = counts[-1]
    first, at_one, last = (PERCENTS.index(percent) for percent in (0.1, 1, 10))
    measures["covered at 0.1 %"] = [100 - forwarded[count][first] for count in counts]
    measures["covered at 10 %"] = [100 - forwarded[count][last] for count in counts]
    kept = (100 - forwarded[most][at_one]) / (100 - measures[f"{REGULAR} of {most}"])
    measures["benefit kept at 1 %"] = 100 * kept
    spread = [max(column) - min(column) for column in zip(*forwarded.values(), strict=True)]
    measures["most that sizes differ"] = max(spread)
    measures["most that draws of a size differ"] = max(apart)
    return measures


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    axes = canvas.subplots()
    numbers: Any = measures
    series = {
        f"{count:,} subscriptions": numbers[f"{count} subscriptions"]
        for count in numbers["subscriptions"]
    }
    draw_lines(axes, numbers["percent"], series)
    draw_paper(axes, [*PAPERS], [*PAPERS.values()])
    axes.set_xscale("log")
    axes.set_xticks(numbers["percent"], [f"{percent:g}" for percent in numbers["percent"]])
    axes.set_xlabel("k in percent of all subscriptions")
    axes.set_ylabel("forwarded by AncestorCoverK in percent")
    axes.set_ylim(0, 100)
    axes.legend()
