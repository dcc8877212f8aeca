"""How many of 10,000 subscriptions reach the publisher's broker, for small k.

Subscriptions are intervals on one attribute, 30 to 60 % of its range: what the paper's figures
come back with. Only RankCoverK depends on how the depth in a partial order is read; all three
readings are shown, of which the longest chain is the rule here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .shares import draw_low_k, low_k_measures

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

PAPERS = {1: 1.47, 10: 84.71}
"""RankCoverK in percent, by k."""


def measure(run: Run) -> Measures:
    return low_k_measures(run, count=10_000)


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    draw_low_k(measures, canvas, PAPERS)
