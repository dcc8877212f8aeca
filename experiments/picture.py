"""What else figures draw alike: bars, and the numbers of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from shortlist.experiments.picture import INKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")
PAPER: dict[str, Any] = {
    "linestyle": "none",
    "marker": "x",
    "color": "black",
    "markersize": 8,
    "zorder": 5,
}
"""How a number of the paper is drawn."""


def draw_bars(
    axes: Axes, over: Sequence[str], series: Mapping[str, Sequence[float]], horizontal: bool = False
) -> None:
    """A group of bars for each place, one bar a series, each with an ink and a hatch of its own."""
    width = 0.8 / max(len(series), 1)
    looks = zip(cycle(INKS), cycle(HATCHES))
    for number, ((name, values), (ink, hatch)) in enumerate(
        zip(series.items(), looks, strict=False)
    ):
        places = [place - 0.4 + width * (number + 0.5) for place in range(len(over))]
        bars = axes.barh if horizontal else axes.bar
        bars(places, values, width, label=name, color=ink, hatch=hatch, edgecolor="white")
    if horizontal:
        axes.set_yticks(range(len(over)), over)
        axes.invert_yaxis()
    else:
        axes.set_xticks(range(len(over)), over)


def draw_paper(axes: Axes, over: Sequence[Any], values: Sequence[float]) -> None:
    """The numbers that the paper gives."""
    axes.plot(over, values, label="the paper", **PAPER)
