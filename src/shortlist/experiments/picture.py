"""How figures look: alike, and readable in grey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.model.problem import ShortlistError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

INKS = ("#1b3a6b", "#c1440e", "#3a7d44", "#8a5fa8", "#111111", "#b8860b", "#5b8db8", "#777777")
STROKES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = "osD^vP*X"


@contextmanager
def canvas(*saved: Path, size: tuple[float, float] = (7.5, 4.2)) -> Iterator[Canvas]:
    """An empty picture, which is saved under these names; the same drawing gives the same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ShortlistError(
            "drawing needs matplotlib: install shortlist[figures], or leave pictures out"
        ) from None
    look: dict[Any, Any] = {
        "svg.hashsalt": "shortlist",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
    }
    with mpl.rc_context(look):
        picture = Figure(figsize=size, layout="constrained")
        yield picture
        for file in saved:
            without_date = {"Date": None} if file.suffix == ".svg" else {"Software": None}
            picture.savefig(file, dpi=110, metadata=without_date)


def draw_lines(
    axes: Axes, over: Sequence[Any], series: Mapping[str, Sequence[float]], **style: Any
) -> None:
    """A line for each series, each with an ink, a stroke and a marker of its own."""
    looks = zip(cycle(INKS), cycle(STROKES), cycle(MARKERS))
    for (name, values), (ink, stroke, marker) in zip(series.items(), looks, strict=False):
        axes.plot(
            over,
            values,
            label=name,
            color=ink,
            linestyle=stroke,
            marker=marker,
            markersize=4,
            **style,
        )
