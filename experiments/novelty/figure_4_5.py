"""Threshold and sampling, each lazy and by rate, beside a random choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.novelty.drawing import draw_over_time
from experiments.novelty.measuring import (
    ENTROPY,
    MEAN,
    difference,
    ends_of_stretches,
    in_all,
    over_time,
)
from experiments.novelty.shortlists import EVERYTHING, deliver, policy
from experiments.novelty.streams import KINDS, length, zipf_stream
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ALGORITHMS = ("threshold", "sampling", "random")


def measure(run: Run) -> Measures:
    found = run.point("three algorithms", lambda: _found(run))
    return {
        "period": ends_of_stretches(length(run)),
        **found,
        **{
            f"off the ideal mean, {name}": abs(found[f"{MEAN} in all, {name}"] - KINDS)
            for name in ALGORITHMS
        },
        "entropy, threshold − sampling": difference(found, ENTROPY, "threshold", "sampling"),
        "mean distance, threshold − sampling": difference(found, MEAN, "threshold", "sampling"),
    }


def _found(run: Run) -> dict[str, Any]:
    stream = zipf_stream(run, "zipf", length(run))
    policies = {name: policy(algorithm=name) for name in ALGORITHMS}
    shortlists = deliver(run, stream, {**policies, "everything": EVERYTHING})
    return {**in_all(shortlists, stream.size), **over_time(shortlists, stream.size)}


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_over_time(measures, canvas, figure, ALGORITHMS)
