"""What the paper's defaults lead to, which its routing table goes on with: deliveries of a
subscription, exact and with an allowed error, and how much a window keeps.

Deliveries are those of one job. What windows keep is watched in the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.picture import draw_bars, draw_paper
from experiments.top_k_w.window_watch import WindowStates

from .watching import watch
from .workloads import (
    ERROR,
    MINUTES,
    counts_by_prefix,
    last_arrival,
    per_minute,
    publications,
    uniform,
    windows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

PAPERS = 385
EXACT, JUDGED = "exact", "with an error"
OBSERVED = 2_000
"""Publications between two looks at what windows keep."""


def measure(run: Run) -> Measures:
    return run.point("deliveries", lambda: _delivered(run)) | run.point("kept", lambda: _kept(run))


def _delivered(run: Run) -> dict[str, float]:
    count, judged = run.pick(full=(400, 100), quick=(40, 20))
    wanted = uniform(run, count, "subscriptions").round(6)
    table = _publications(run)
    subscriptions = windows(wanted, EXACT) + windows(wanted[:judged], JUDGED, error=ERROR)
    found = run.rank({"subscriptions": subscriptions}, table).deliveries
    in_time = found.filter(pc.less_equal(found.column("time"), last_arrival(table)))
    promoted = in_time.filter(pc.equal(in_time.column("cause"), "promotion"))
    of_all, of_some = counts_by_prefix(found), counts_by_prefix(in_time)
    return {
        "delivered by the last arrival": of_some[EXACT] / count,
        "of these promoted": counts_by_prefix(promoted)[EXACT] / count,
        "delivered once the window has emptied": of_all[EXACT] / count,
        "delivered by the last arrival, with an error": of_some[JUDGED] / judged,
        "delivered once emptied, with an error": of_all[JUDGED] / judged,
        "error by the last arrival": _differences(in_time, judged) / (judged * len(table)),
        "error once emptied": _differences(found, judged) / (judged * len(table)),
    }


def _differences(deliveries: pa.Table, count: int) -> int:
    """How many deliveries to the first windows are missing with an error, or too many."""
    pairs = [
        {
            (number, publication)
            for shortlist, publication in zip(
                *(deliveries.column(name).to_pylist() for name in ("shortlist", "publication")),
                strict=True,
            )
            for kind, _, number in [shortlist.rpartition(" ")]
            if kind == prefix and int(number) < count
        }
        for prefix in (EXACT, JUDGED)
    ]
    return len(pairs[0] ^ pairs[1])


def _kept(run: Run) -> dict[str, float]:
    count, judged = run.pick(full=(400, 40), quick=(40, 20))
    wanted = uniform(run, count, "subscriptions").round(6)
    subscriptions = windows(wanted, EXACT) + windows(wanted[:judged], JUDGED, error=ERROR)
    most, sums, looks = np.zeros(len(subscriptions)), np.zeros(len(subscriptions)), 0

    def tell(states: WindowStates) -> None:
        nonlocal looks
        np.maximum(most, states.rows, out=most)
        sums[:] += states.rows
        looks += 1

    watch(subscriptions, _publications(run), tell, at_once=run.pick(full=OBSERVED, quick=200))
    return {
        "most kept": float(most[:count].max()),
        "kept on average": float(sums[:count].mean() / looks),
        "kept on average, with an error": float(sums[count:].mean() / looks),
    }


def _publications(run: Run) -> pa.Table:
    a_minute = per_minute(run)
    return publications(uniform(run, MINUTES * a_minute, "publications"), a_minute)


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    delivered, kept = canvas.subplots(1, 2, width_ratios=[3, 2])
    numbers: Any = measures
    draw_bars(
        delivered,
        ["by the last arrival", "once emptied"],
        {
            "exact": [
                numbers["delivered by the last arrival"],
                numbers["delivered once the window has emptied"],
            ],
            "error 0.001 allowed": [
                numbers["delivered by the last arrival, with an error"],
                numbers["delivered once emptied, with an error"],
            ],
        },
    )
    draw_paper(delivered, [0], [PAPERS])
    delivered.set_ylabel("deliveries of a subscription")
    delivered.set_ylim(top=600)
    delivered.legend(ncols=3, fontsize=8)
    names = ["most kept", "kept on average", "kept on average, with an error"]
    labels = ["most,\nexact", "mean,\nexact", "mean,\nerror 0.001"]
    draw_bars(kept, labels, {"kept": [numbers[name] for name in names]})
    kept.set_ylabel("publications that a window keeps")
