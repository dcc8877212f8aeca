"""The threshold over time, lazy and eager, by rate and by interval."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.novelty.drawing import draw_series, finish
from experiments.novelty.shortlists import MEASURES, MODES, variants
from experiments.novelty.streams import PERIOD, length, zipf_stream
from experiments.novelty.thresholds import settled, thresholds
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SHOWN = 40
"""Periods: none of them changes much after."""
SCALES = {"rate": "threshold (1 − delivery rate)", "interval": "threshold (matches)"}


def measure(run: Run) -> Measures:
    stream = zipf_stream(run, "zipf", length(run))
    series = {
        name: run.point(f"threshold, {name}", partial(thresholds, policy, stream))
        for name, policy in variants("threshold").items()
    }
    return {
        "period": [float(number) for number in range(1, stream.size // PERIOD + 1)],
        **{f"threshold, {name}": found for name, found in series.items()},
        **{f"settled after, {name}": settled(found) for name, found in series.items()},
        **{f"at the end, {name}": found[-1] for name, found in series.items()},
    }


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    first = {
        name: values[:SHOWN] if isinstance(values, list) else values
        for name, values in measures.items()
    }
    for axes, scoring in zip(canvas.subplots(1, 2), MEASURES, strict=True):
        draw_series(axes, first, {mode: f"threshold, {mode} {scoring}" for mode in MODES})
        axes.set_title(f"by {scoring}")
        axes.set_ylabel(SCALES[scoring])
    finish(canvas, figure)
