"""How often others have to hear of a subscription: whenever its threshold changes, or only when it
moves into other cells of a grid.

A threshold is three things here, all of them kept by the engine:

- strict filter (SASF): the k-th best of the 2,000 last publications, a window of that many;
- probabilistic (PA): the bar, under which everything is less likely than the error to be ever
  delivered; it is looked at 16 times while a window passes, and stays where it is as long as that
  is true;
- this system's brokers: the k-th best of the window, since they withhold what scores less.

The grid has 4 cells on each of 4 axes: one for each of the 256 brokers of Table 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.picture import draw_paper
from experiments.top_k_w.grid_cells import cell_scores
from experiments.top_k_w.window_watch import WindowStates
from shortlist.experiments.picture import draw_lines
from shortlist.matching.blocks import Floats

from .watching import watch
from .workloads import (
    ERROR,
    KS,
    MINUTES,
    WINDOW,
    WINDOWS,
    K,
    per_minute,
    prefix_of,
    publications,
    settings,
    uniform,
    windows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

PAPERS_SUBSCRIPTIONS = 400
"""Counts are for so many."""
CELLS = 4
BUFFER = 2_000
JUDGEMENTS = 16
"""In each window, of what is likely."""
PAPERS = 10_000
STRICT, BAR, BROKERS = "SASF", "PA", "brokers"
KINDS = (STRICT, BAR, BROKERS)


def measure(run: Run) -> Measures:
    counted = run.point("updates", lambda: _updates(run))
    found: dict[str, Any] = {"k": [*KS], "minutes": [*WINDOWS]}
    for over, chosen in (
        ("k", [(k, WINDOW) for k in KS]),
        ("minutes", [(K, minutes) for minutes in WINDOWS]),
    ):
        for kind in KINDS:
            for what in ("thresholds", "cells"):
                found[f"{kind}, {what} over {over}"] = [
                    counted[f"{_name(kind, *setting)}, {what}"] for setting in chosen
                ]
    for kind in KINDS:
        thresholds, cells = (
            counted[f"{_name(kind, K, WINDOW)}, {what}"] for what in ("thresholds", "cells")
        )
        found[f"{kind}, thresholds"], found[f"{kind}, cells"] = thresholds, cells
        found[f"{kind}, cells of each threshold"] = cells / max(thresholds, 1)
    return found


def _name(kind: str, k: int, minutes: int) -> str:
    """What the subscriptions of a kind begin with; the strict filter knows no window."""
    return f"{kind} {k}" if kind == STRICT else f"{kind} {prefix_of(k, minutes)}"


class _Moves:
    """Counts changes of a number of each subscription, and of the cells within it."""

    def __init__(self, breakpoints: list[Floats]) -> None:
        self._breakpoints = breakpoints
        self._known: Floats = np.full(len(breakpoints), -np.inf)
        self._cells = np.zeros(len(breakpoints), np.int64)
        self.changes = self.cell_changes = 0

    def see(self, now: Floats) -> None:
        pairs = zip(self._breakpoints, now, strict=True)
        cells = np.array([np.searchsorted(scores, each) for scores, each in pairs])
        self.changes += int((now != self._known).sum())
        self.cell_changes += int((cells != self._cells).sum())
        self._known, self._cells = now, cells


def _updates(run: Run) -> dict[str, float]:
    """By kind, k and minutes, in all, for 400 subscriptions: all go through one run."""
    each, a_minute = run.pick(full=20, quick=4), per_minute(run)
    wanted = uniform(run, each, "subscriptions").round(6)
    buffered = BUFFER * a_minute // 1_000
    subscriptions: dict[str, list[dict[str, Any]]] = {}
    for k, minutes in dict.fromkeys(settings()):
        for kind, how in (
            (STRICT, {"window": buffered}),
            (BROKERS, {"minutes": minutes}),
            (BAR, {"minutes": minutes, "error": ERROR}),
        ):
            name = _name(kind, k, minutes)
            subscriptions[name] = windows(wanted, name, k=k, **how)
    scores = [cell_scores(point, CELLS) for point in wanted]
    breakpoints = {
        subscription["id"]: known
        for name, some in subscriptions.items()
        if not name.startswith(BAR)
        for subscription, known in zip(some, scores, strict=True)
    }
    places = {name: slice(at * each, (at + 1) * each) for at, name in enumerate(subscriptions)}
    judged = [name for name in places if name.startswith(BAR)]
    bars = {name: _Moves(scores) for name in judged}
    found: dict[str, int] = {}

    def tell(states: WindowStates) -> None:
        for name in judged:
            bars[name].see(states.bars[places[name]])
        for name, here in places.items():
            found[f"{name}, thresholds"] = int(states.threshold_changes[here].sum())
            found[f"{name}, cells"] = int(states.cell_changes[here].sum())

    table = publications(uniform(run, MINUTES * a_minute, "publications"), a_minute)
    every = [subscription for some in subscriptions.values() for subscription in some]
    watch(every, table, tell, min(WINDOWS) * a_minute // JUDGEMENTS, breakpoints)
    for name, moves in bars.items():
        found[f"{name}, thresholds"] = moves.changes
        found[f"{name}, cells"] = moves.cell_changes
    return {name: count / each * PAPERS_SUBSCRIPTIONS for name, count in found.items()}


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    rows = canvas.subplots(1, 2, sharey=True)
    for axes, over, label, paper in (
        (rows[0], "k", "k (window of 40 minutes)", K),
        (rows[1], "minutes", "window in minutes (k = 9)", WINDOW),
    ):
        series = {
            f"{kind}, {what}": numbers[f"{kind}, {what} over {over}"]
            for kind in KINDS
            for what in ("thresholds", "cells")
        }
        draw_lines(axes, numbers[over], series)
        draw_paper(axes, [paper], [PAPERS])
        axes.set_yscale("log")
        axes.set_xlabel(label)
    rows[0].set_ylabel("updates of 400 subscriptions")
    canvas.legend(*rows[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
