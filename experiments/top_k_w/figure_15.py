"""The average score of the k-th best, as a distance: over k, and over the length of the window.

All windows of a data set are watched in one run of the engine, and asked when all have been full.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.picture import draw_paper
from experiments.top_k_w.window_watch import WindowStates
from shortlist.experiments.picture import draw_lines

from .watching import watch
from .workloads import (
    DATA,
    KS,
    MINUTE,
    MINUTES,
    START,
    WINDOWS,
    K,
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

PAPERS = 0.09
"""For k = 9 and 40 minutes, uniform."""


def measure(run: Run) -> Measures:
    found: dict[str, Any] = {"k": [*KS], "minutes": [*WINDOWS]}
    shapes = {}
    for name in DATA:
        scores = run.point(name, partial(_average_scores, run, name))
        found[f"{name} over k"] = scores[: len(KS)]
        found[f"{name} over minutes"] = scores[len(KS) :]
        default = scores[KS.index(K)]
        found[f"{name} by default"] = default
        shapes[name] = np.array(scores) / default
    apart = [np.abs(shapes["uniform"] - shapes[name]).max() for name in DATA]
    found["most that shapes differ"] = float(max(apart))
    return found


def _average_scores(run: Run, name: str) -> list[float]:
    """For each setting, over time and subscriptions."""
    each, count = run.pick(full=100, quick=20), MINUTES * per_minute(run)
    wanted = DATA[name](run, each, "subscriptions").round(6)
    subscriptions = [
        subscription
        for k, minutes in dict.fromkeys(settings())
        for subscription in windows(wanted, prefix_of(k, minutes), k=k, minutes=minutes)
    ]
    all_full = int(START.astype(np.int64)) + max(WINDOWS) * MINUTE
    sums, asked = np.zeros(len(subscriptions)), 0

    def tell(states: WindowStates) -> None:
        nonlocal asked
        if states.time >= all_full:
            sums[:] -= states.thresholds
            asked += 1

    table = publications(DATA[name](run, count, "publications"), per_minute(run))
    watch(subscriptions, table, tell, at_once=run.pick(full=8_192, quick=1_024))
    by_setting = (sums / asked).reshape(-1, each).mean(axis=1).tolist()
    means = dict(zip(dict.fromkeys(settings()), by_setting, strict=True))
    return [means[setting] for setting in settings()]


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    over_k, over_minutes = canvas.subplots(1, 2, sharey=True)
    for axes, over, label, paper in (
        (over_k, "k", "k (window of 40 minutes)", 9),
        (over_minutes, "minutes", "window in minutes (k = 9)", 40),
    ):
        draw_lines(axes, numbers[over], {name: numbers[f"{name} over {over}"] for name in DATA})
        draw_paper(axes, [paper], [PAPERS])
        axes.set_xlabel(label)
    over_k.set_ylabel("average distance of the k-th best")
    over_k.set_ylim(bottom=0)
    over_k.legend()
