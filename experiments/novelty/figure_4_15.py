"""Threshold on real news."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.novelty.news import draw_news, four_variants_of_news
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    return four_variants_of_news(run, "threshold")


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_news(measures, canvas, figure)
