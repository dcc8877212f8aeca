"""Sampling: four variants over time, on one Zipf stream of ten disjoint subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.novelty.drawing import draw_over_time
from experiments.novelty.measuring import ENTROPY, MEAN, measured
from experiments.novelty.shortlists import MEASURES, deliver, variants
from experiments.novelty.streams import PERIOD, length, zipf_stream
from experiments.novelty.synthetic import VARIANTS, apart, four_variants
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    found = four_variants(run, "sampling")
    return {
        **found,
        **run.point("first period", lambda: _first_period(run)),
        **{f"entropy apart, {each}": apart(found, ENTROPY, each) for each in MEASURES},
        **{f"mean distance apart, {each}": apart(found, MEAN, each) for each in MEASURES},
    }


def _first_period(run: Run) -> dict[str, float]:
    stream = zipf_stream(run, "zipf", length(run))[:PERIOD]
    shortlists = deliver(run, stream, variants("sampling"))
    return {
        f"entropy of the first period, {name}": measured(got, PERIOD)[ENTROPY]
        for name, got in shortlists.items()
    }


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_over_time(measures, canvas, figure, VARIANTS)
