"""How the figures of this paper look: measures over time, a line for each shortlist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING, Any

from experiments.novelty.measuring import DELIVERED, DEVIATION, ENTROPY, MEAN
from experiments.novelty.shortlists import RATE
from experiments.novelty.streams import KINDS
from experiments.picture import draw_paper
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

AXIS = "time (periods of matches)"
NAMES = {
    ENTROPY: "output entropy (bits)",
    DELIVERED: "delivered (share of matches)",
    MEAN: "mean interdelivery\ndistance (deliveries)",
    DEVIATION: "its deviation among\nsubscriptions (deliveries)",
}
IDEAL = {ENTROPY: log2(KINDS), DELIVERED: RATE, MEAN: float(KINDS), DEVIATION: 0.0}
"""What the paper calls the best there is."""


def draw_over_time(
    measures: Measures,
    canvas: Canvas,
    figure: Figure,
    shortlists: Sequence[str],
    shown: Sequence[str] = tuple(NAMES),
    ideal: Mapping[str, float] = IDEAL,
) -> None:
    """A panel for each measure; at its end what the paper says is best."""
    rows = (len(shown) + 1) // 2
    canvas.set_size_inches(7.5, 2.6 * rows + 0.8)
    for axes, measure in zip(canvas.subplots(rows, 2).flat, shown, strict=True):
        draw_series(axes, measures, {name: f"{measure}, {name}" for name in shortlists})
        axes.set_ylabel(NAMES[measure])
        if measure in ideal:
            draw_paper(axes, [last_place(axes)], [ideal[measure]])
    finish(canvas, figure)


def draw_series(axes: Axes, measures: Any, series: Mapping[str, str]) -> None:
    """Lines over time, by what the legend calls them."""
    draw_lines(axes, measures["period"], {label: measures[name] for label, name in series.items()})
    axes.set_xlabel(AXIS)


def last_place(axes: Axes) -> float:
    """Where the lines end."""
    places: Any = axes.get_lines()[0].get_xdata()
    return float(places[-1])


def finish(canvas: Canvas, figure: Figure) -> None:
    """A caption, and one legend for all panels."""
    canvas.suptitle(figure.title)
    found: dict[str, Any] = {}
    for axes in canvas.axes:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    columns = 5 if len(found) <= 5 else 3
    canvas.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)
