"""How many publications a subscription gets: of windows over k and their length, of Boolean ones
over the threshold, each on three data sets.

All windows of a data set go through one job. Boolean subscriptions have no memory, so a tenth of
the publications is enough for them. Measurements also come in the order in which they were made:
then scores drift, which none of the paper's data sets does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from experiments.picture import draw_paper
from shortlist.experiments.picture import draw_lines

from .workloads import (
    DATA,
    KS,
    MINUTES,
    WINDOWS,
    K,
    Points,
    boolean,
    counts_by_prefix,
    last_arrival,
    measured,
    per_minute,
    prefix_of,
    publications,
    settings,
    windows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

THRESHOLDS = (0.05, 0.07, 0.09, 0.11, 0.13)
PART = 10
"""Of so many publications one is compared with Boolean subscriptions."""
PAPERS = 385
IN_ORDER = "sensors in order of time"


def measure(run: Run) -> Measures:
    found: dict[str, Any] = {"k": [*KS], "minutes": [*WINDOWS], "threshold": [*THRESHOLDS]}
    defaults, of_boolean = [], []
    for name in DATA:
        counts = run.point(f"windows, {name}", partial(_of_windows, run, name))
        found[f"{name} over k"] = counts[: len(KS)]
        found[f"{name} over minutes"] = counts[len(KS) :]
        found[f"{name} by default"] = counts[KS.index(K)]
        defaults.append(counts[KS.index(K)])
        counts = run.point(f"Boolean, {name}", partial(_of_boolean, run, name))
        found[f"{name}, Boolean"] = counts
        of_boolean.append(counts[THRESHOLDS.index(0.09)])
    found[IN_ORDER] = run.point(IN_ORDER, partial(_in_order, run))
    found["windows, most over least data set"] = max(defaults) / min(defaults)
    found["Boolean, most over least data set"] = max(of_boolean) / min(of_boolean)
    found["uniform, Boolean at 0.09"] = of_boolean[0]
    return found


def _of_windows(run: Run, name: str) -> list[float]:
    """For each setting, deliveries of a subscription until the last arrival."""
    each, a_minute = run.pick(full=100, quick=20), per_minute(run)
    wanted = DATA[name](run, each, "subscriptions").round(6)
    subscriptions = [
        subscription
        for k, minutes in dict.fromkeys(settings())
        for subscription in windows(wanted, prefix_of(k, minutes), k=k, minutes=minutes)
    ]
    table = publications(DATA[name](run, MINUTES * a_minute, "publications"), a_minute)
    counts = _in_time(run, subscriptions, table)
    return [counts[prefix_of(*setting)] / each for setting in settings()]


def _of_boolean(run: Run, name: str) -> list[float]:
    """For each threshold, deliveries of a subscription if as many came as come to windows."""
    each = run.pick(full=50, quick=20)
    wanted = DATA[name](run, each, "subscriptions").round(6)
    subscriptions = [
        subscription
        for threshold in THRESHOLDS
        for subscription in boolean(wanted, str(threshold), threshold)
    ]
    count = run.pick(full=MINUTES * per_minute(run) // PART, quick=10_000)
    part = publications(DATA[name](run, count, "publications"), 1_000)
    counts = _in_time(run, subscriptions, part)
    whole = 1_000 * MINUTES / count / each
    return [counts.get(str(threshold), 0) * whole for threshold in THRESHOLDS]


def _in_order(run: Run) -> float:
    """By default, of measurements as they came, in as many as would come in 1,000 minutes."""
    each, a_minute = run.pick(full=100, quick=20), per_minute(run)
    wanted = DATA["sensors"](run, each, "subscriptions").round(6)
    points: Points = measured(run)[:: run.pick(full=1, quick=10)]
    counts = _in_time(run, windows(wanted, "window"), publications(points, a_minute))
    return counts["window"] / each * MINUTES * a_minute / len(points)


def _in_time(run: Run, subscriptions: list[dict[str, object]], table: pa.Table) -> dict[str, int]:
    deliveries = run.rank({"subscriptions": subscriptions}, table).deliveries
    by_then = pc.less_equal(deliveries.column("time"), last_arrival(table))
    return counts_by_prefix(deliveries.filter(by_then))


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    over_k, over_minutes, of_boolean = canvas.subplots(1, 3)
    for axes, over, label, paper in (
        (over_k, "k", "k (window of 40 minutes)", 9),
        (over_minutes, "minutes", "window in minutes (k = 9)", 40),
    ):
        draw_lines(axes, numbers[over], {name: numbers[f"{name} over {over}"] for name in DATA})
        draw_paper(axes, [paper], [PAPERS])
        axes.set_xlabel(label)
        axes.set_ylim(bottom=0)
    over_minutes.plot(
        [40], [numbers[IN_ORDER]], label=IN_ORDER, linestyle="none", marker="*", color="#3a7d44"
    )
    over_k.set_ylabel("deliveries of a subscription")
    over_k.set_title("windows")
    over_minutes.set_title("windows")
    series = {name: numbers[f"{name}, Boolean"] for name in DATA}
    draw_lines(of_boolean, numbers["threshold"], series)
    draw_paper(of_boolean, [0.09], [PAPERS])
    of_boolean.set_yscale("log")
    of_boolean.set_xlabel("threshold (distance)")
    of_boolean.set_title("Boolean")
    known = over_minutes.get_legend_handles_labels()
    canvas.legend(*known, loc="outside lower center", ncols=5)
