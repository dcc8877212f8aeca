"""How many publications a subscription gets if more of them come: Boolean, and by a window.

Publications come for 1,000 minutes, more and more in each. Both kinds of subscription go through
one job.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from experiments.picture import draw_paper
from shortlist.experiments.picture import draw_lines

from .workloads import (
    MINUTES,
    boolean,
    counts_by_prefix,
    last_arrival,
    publications,
    uniform,
    windows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

THRESHOLD = 0.09
PAPERS = 385
"""Both kinds, at 1,000 a minute."""


def measure(run: Run) -> Measures:
    rates = run.pick(full=[250, 500, 1_000, 2_000], quick=[50, 100, 200])
    pairs = [run.point(f"{rate} a minute", partial(_counts, run, rate)) for rate in rates]
    of_windows, of_boolean = map(list, zip(*pairs, strict=True))
    per_rate = [count / rate for count, rate in zip(of_boolean, rates, strict=True)]
    return {
        "a minute": [float(rate) for rate in rates],
        "windows": of_windows,
        "boolean": of_boolean,
        "windows, most over least": max(of_windows) / min(of_windows),
        "boolean by rate, most over least": max(per_rate) / min(per_rate),
        "boolean at 1,000 a minute": per_rate[-2] * 1_000,
        "windows at the paper's rate": of_windows[-2],
    }


def _counts(run: Run, rate: int) -> tuple[float, float]:
    """Deliveries of a subscription until the last arrival: of a window, and Boolean."""
    each = run.pick(full=200, quick=50)
    wanted = uniform(run, each, "subscriptions").round(6)
    subscriptions = windows(wanted, "window") + boolean(wanted, "boolean", THRESHOLD)
    table = publications(uniform(run, rate * MINUTES, "publications", rate), rate)
    deliveries = run.rank({"subscriptions": subscriptions}, table).deliveries
    in_time = deliveries.filter(pc.less_equal(deliveries.column("time"), last_arrival(table)))
    counts = counts_by_prefix(in_time)
    return counts["window"] / each, counts["boolean"] / each


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    axes = canvas.subplots()
    series = {
        "Boolean, within 0.09": numbers["boolean"],
        "window, k = 9, 40 minutes": numbers["windows"],
    }
    draw_lines(axes, numbers["a minute"], series)
    draw_paper(axes, [1_000], [PAPERS])
    axes.set_xlabel("publications a minute")
    axes.set_ylabel("deliveries of a subscription in 1,000 minutes")
    axes.set_ylim(bottom=0)
    axes.legend()
