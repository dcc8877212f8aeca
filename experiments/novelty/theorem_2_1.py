"""Theorem 2.1: scoring by rate and by interval ranks subscriptions alike.

The same history of deliveries is scored both ways at the end of each period. Its proof takes the
interval t − L_s for its mean, the inverse of the delivery rate: that is measured, too.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.novelty.histories import POLICIES, histories
from experiments.novelty.measuring import ENTROPY, measured, part
from experiments.novelty.shortlists import Got
from experiments.novelty.streams import KINDS, PERIOD, length
from experiments.picture import draw_bars, draw_paper
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    return run.point("rankings", lambda: _found(run))


def _found(run: Run) -> dict[str, Any]:
    count = length(run)
    found = histories(run)
    entropies = {name: measured(got, count)[ENTROPY] for name, got in found.items()}
    by_rate, by_interval = (
        set(part(found[f"threshold by {name}"], count // 2, count).places.tolist())
        for name in ("rate", "interval")
    )
    return {
        **{f"{ENTROPY}, {name}": bits for name, bits in entropies.items()},
        **{f"same order, {name}": same_order(got, count) for name, got in found.items()},
        **{f"interval · rate, {name}": interval_by_rate(got) for name, got in found.items()},
        "entropy, by rate − by interval": (
            entropies["threshold by rate"] - entropies["threshold by interval"]
        ),
        "delivered by both": len(by_rate & by_interval) / len(by_rate | by_interval),
    }


def same_order(got: Got, count: int) -> float:
    """Which share of pairs of subscriptions both scores put into the same order, of those that they
    put into any; at the ends of periods.

    >>> same_order(Got(np.array([0, 1, 2, 3]), np.array([0, 1, 1, 2])), PERIOD)
    0.5
    """
    same = ordered = 0
    for end in range(PERIOD, count + 1, PERIOD):
        kinds = part(got, 0, end).kinds
        deliveries = np.bincount(kinds, minlength=KINDS)
        last = np.full(KINDS, -1)
        last[kinds] = np.arange(kinds.size)
        # more novel is who has fewer deliveries, and who has waited longer for one
        for one, other in combinations(np.flatnonzero(deliveries).tolist(), 2):
            by_rate, by_interval = deliveries[one] - deliveries[other], last[one] - last[other]
            if by_rate:
                ordered += 1
                same += int(by_rate * by_interval > 0)
    return same / ordered


def interval_by_rate(got: Got) -> float:
    """The mean of t − L_s over all t, by what it would be: the mean distance of its deliveries; in
    the mean over subscriptions.

    >>> round(interval_by_rate(Got(np.array([0, 4, 8]), np.array([0, 0, 0]))), 3)
    0.625
    """
    ratios = []
    for kind in np.unique(got.kinds):
        distances = np.diff(got.places[got.kinds == kind]).astype(float)
        interval = (distances * (distances + 1) / 2).sum() / distances.sum()
        ratios.append(interval / distances.mean())
    return float(np.mean(ratios))


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    names = [*POLICIES]
    found: Any = measures
    for axes, (measure, label) in zip(
        canvas.subplots(1, 2),
        {
            "same order": "pairs in the same order\nby rate and by interval (share)",
            "interval · rate": "mean of t − L\nby the mean distance (ratio)",
        }.items(),
        strict=True,
    ):
        bars = [name.replace(" by ", "\nby ") for name in names]
        draw_bars(axes, bars, {"found": [found[f"{measure}, {name}"] for name in names]})
        draw_paper(axes, range(len(names)), [1.0] * len(names))
        axes.set_ylabel(label)
        axes.set_xlabel("history of deliveries")
        axes.set_ylim(0, 1.3)
        axes.legend(ncols=2, loc="upper center")
    canvas.suptitle(figure.title)
