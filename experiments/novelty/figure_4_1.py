"""Threshold: four variants over time, on one Zipf stream of ten disjoint subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.novelty.drawing import draw_over_time
from experiments.novelty.measuring import DELIVERED, ENTROPY
from experiments.novelty.shortlists import MEASURES
from experiments.novelty.synthetic import VARIANTS, apart, four_variants
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    found = four_variants(run, "threshold")
    return {
        **found,
        **{f"entropy apart, {each}": apart(found, ENTROPY, each) for each in MEASURES},
        **{f"delivered at the end, {each}": found[f"{DELIVERED}, {each}"][-1] for each in VARIANTS},
    }


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_over_time(measures, canvas, figure, VARIANTS)
