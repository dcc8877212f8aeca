"""Figure 14: one way of aggregating degrees for all, where everyone expects another one.

Each subscription expects one of four ways to make one degree of those of its predicates: the least,
the largest, the mean, or a weighted mean with weights of its own. What it expects is right; what is
returned is what the system finds if all subscriptions have one and the same norm. As in the paper's
algorithm a subscription is returned only if all of its predicates are possible: each has a
threshold just above 0. The figure goes over the threshold for the possibility.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.uncertainties.matching import Pairs, index_of, pairs
from experiments.uncertainties.workload import PER_SUBSCRIPTION, Workload
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run
from shortlist.model.subscription import AtLeast, Norm, NormName, Subscription, Weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

USED: tuple[NormName, ...] = ("min", "max", "average")
WEIGHTED = "weighted"
POSSIBLE = "(possibility >= 0.000000001)"
LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]


def measure(run: Run) -> dict[str, Any]:
    size, published = run.pick(full=(6_000, 400), quick=(1_000, 200))
    workload = Workload(run.draws("workload"), size, published)
    levels = run.pick(full=LEVELS, quick=LEVELS[::2])
    measures: dict[str, Any] = {"thresholds": levels}
    for which in ("possibility", "both"):
        found = [
            run.point(
                f"Norms at {level}, {which}",
                partial(compared, run, workload, _least(which, level)),
            )
            for level in levels
        ]
        for norm in (*USED, WEIGHTED):
            measures[f"{norm}, {which}"] = [each[norm] for each in found]
            measures[f"mean {norm}, {which}"] = float(np.mean(measures[f"{norm}, {which}"]))
    return measures


def _least(which: str, level: float) -> AtLeast:
    return AtLeast(possibility=level, necessity=level if which == "both" else 0.0)


def compared(run: Run, workload: Workload, least: AtLeast) -> dict[str, float]:
    draws = run.draws("expectations")
    weights: list[Norm] = [
        Weights(tuple(each)) for each in draws.integers(1, 10, (workload.subscriptions, 2)).tolist()
    ]
    choice = draws.integers(len(USED) + 1, size=workload.subscriptions).tolist()
    expected = [(*USED, own)[at] for at, own in zip(choice, weights, strict=True)]
    block = workload.block_as()

    def returned(norms: Sequence[Norm]) -> Pairs:
        subscriptions = _with_norms(workload, norms, least)
        return pairs(index_of(subscriptions, workload.vocabulary).match_block(block))

    right = returned(expected)
    uniform: dict[str, Sequence[Norm]] = {str(each): [each] * len(expected) for each in USED}
    return {
        name: f_measure(returned(norms), right)
        for name, norms in (uniform | {WEIGHTED: weights}).items()
    }


def _with_norms(
    workload: Workload, norms: Sequence[Norm], least: AtLeast
) -> Iterator[Subscription]:
    for subscription, norm in zip(workload.subscriptions_as(), norms, strict=True):
        parts = (subscription.where or "").split(" and ")
        assert len(parts) == PER_SUBSCRIPTION
        where = " and ".join(f"{part} {POSSIBLE}" for part in parts)
        yield replace(subscription, where=where, norm=norm, at_least=least)


def f_measure(returned: Pairs, right: Pairs) -> float:
    """Of two sets.

    >>> round(f_measure(np.array([1, 2, 3]), np.array([2, 3, 4, 5])), 4)
    0.5714
    """
    both = np.intersect1d(returned, right).size
    if not both:
        return 0.0
    precision, recall = both / returned.size, both / right.size
    return 2 * precision * recall / (precision + recall)


def draw(measures: dict[str, Any], canvas: Canvas, _figure: object) -> None:
    axes = canvas.subplots(1, 2, sharey=True)
    for which, one in zip(("possibility", "both"), axes, strict=True):
        lines = {
            f"{norm} for all": [100 * each for each in measures[f"{norm}, {which}"]]
            for norm in (*USED, WEIGHTED)
        }
        draw_lines(one, measures["thresholds"], lines)
        one.axhline(95, color="black", linewidth=0.8, label="the paper: around 95")
        words = "possibility" if which == "possibility" else "possibility and necessity"
        one.set_xlabel(f"least {words}")
        one.set_ylim(0, 102)
    axes[0].set_ylabel("F-measure (%)")
    axes[0].legend(loc="lower left")
