"""Sampling, where the user cancels five of ten subscriptions in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.novelty.unsubscribing import draw_halves, half_cancelled
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    return half_cancelled(run, "sampling")


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_halves(measures, canvas, figure)
