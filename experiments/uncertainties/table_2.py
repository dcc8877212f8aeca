"""Table 2: how many subscriptions match, by type of subscription, of publication, and threshold.

Counts are those of 70,000 subscriptions and ten publications. Fewer subscriptions are drawn here,
and more publications: counts are scaled, and are the mean over tens of publications; how far tens
differ says how far the paper's one draw may lie from it. The paper does not say what corners are
drawn from: real numbers here, and beside them the whole numbers from 0 to 20.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.uncertainties.matching import index_of
from experiments.uncertainties.workload import Workload, whole
from shortlist.experiments.picture import INKS, MARKERS
from shortlist.experiments.run import Run
from shortlist.model.subscription import AtLeast

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.papers import Figure

SUBSCRIPTIONS, PUBLICATIONS = 70_000, 10
ROWS = {
    "appro": ("appro", "appro"),
    "pessi": ("pessi", "appro"),
    "middle": ("middle", "appro"),
    "optim": ("optim", "appro"),
    "interval": ("appro", "interval"),
    "point": ("appro", "point"),
}
"""Types of subscriptions and of publications."""
LEVELS = (0.0, 0.5, 1.0)


def measure(run: Run) -> dict[str, Any]:
    tens = run.pick(full=40, quick=10)
    drawn = {
        "": Workload(run.draws("real"), run.pick(full=21_000, quick=3_500), 10 * tens),
        "whole ": Workload(run.draws("whole"), run.pick(full=7_000, quick=1_400), 10 * tens, whole),
    }
    measures: dict[str, Any] = {"thresholds": [*LEVELS]}
    for prefix, workload in drawn.items():
        for row, kinds in ROWS.items():
            found = run.point(f"Matches, {prefix}{row}", partial(counts, workload, *kinds))
            measures[f"{prefix}{row}"] = [each[0] for each in found]
            measures[f"{prefix}{row}, deviation of a ten"] = [each[1] for each in found]
    for level, count in zip(
        LEVELS, zip(*(measures[row] for row in ROWS), strict=True), strict=True
    ):
        measures |= {f"{row} at {level:g}": each for row, each in zip(ROWS, count, strict=True)}
    return measures


def counts(workload: Workload, of_subscriptions: str, of_publications: str) -> list[list[float]]:
    """For each threshold the mean over tens of publications, and its standard deviation."""
    block = workload.block_as(of_publications)
    counted = []
    for level in LEVELS:
        least = AtLeast(possibility=level, necessity=level)
        subscriptions = workload.subscriptions_as(of_subscriptions, least)
        found = index_of(subscriptions, workload.vocabulary).match_block(block)
        tens = np.bincount(found.publications // PUBLICATIONS, minlength=block.size // PUBLICATIONS)
        scaled = tens * SUBSCRIPTIONS / workload.subscriptions
        counted.append([float(scaled.mean()), float(scaled.std())])
    return counted


def draw(measures: dict[str, Any], canvas: Canvas, figure: Figure) -> None:
    given = {str(claim.of): claim.value for claim in figure.claims if claim.value is not None}
    axes = canvas.subplots(1, len(LEVELS))
    for at, (level, one) in enumerate(zip(LEVELS, axes, strict=True)):
        for prefix, shift, words in (
            ("", -0.15, "real corners"),
            ("whole ", 0.15, "whole corners"),
        ):
            look = 0 if prefix == "" else 1
            one.errorbar(
                [place + shift for place in range(len(ROWS))],
                [measures[f"{prefix}{row}"][at] for row in ROWS],
                [measures[f"{prefix}{row}, deviation of a ten"][at] for row in ROWS],
                label=words,
                linestyle="none",
                marker=MARKERS[look],
                color=INKS[look],
                capsize=3,
                markersize=4,
            )
        paper = [given[f"{row} at {level:g}"] for row in ROWS]
        one.plot(range(len(ROWS)), paper, "kx", markersize=8, label="the paper", zorder=5)
        one.set_xticks(range(len(ROWS)), ROWS, rotation=60)
        one.set_title(f"α = {level:g}", fontsize=9)
        one.set_ylim(bottom=0)
    axes[0].set_ylabel(
        "matches of 70,000 subscriptions and\n10 publications, ± deviation of such tens"
    )
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3)
