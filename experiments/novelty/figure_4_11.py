"""Threshold by interval with three aging factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.novelty.aging import aged, draw_aged
from experiments.novelty.as_printed import AgingAsPrinted
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    return aged(run, AgingAsPrinted, measure="interval")


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_aged(measures, canvas, figure)
