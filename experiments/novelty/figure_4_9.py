"""Sampling, where the user cancels five of ten subscriptions in the middle."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from experiments.novelty.unsubscribing import draw_halves, half_cancelled
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run


def measure(run: Run) -> Measures:
    return half_cancelled(run, "sampling")


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_halves(measures, canvas, figure)
