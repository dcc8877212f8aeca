"""Observation 2.2: entropy is at its best up to a rate of m times the share of the rarest of m.

Lazy thresholds by rate with ever larger delivery rates, on the stream of the paper's defaults; and
the two examples of section 2.3.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.novelty.drawing import NAMES, finish
from experiments.novelty.measuring import DELIVERED, ENTROPY, measured
from experiments.novelty.shortlists import deliver, policy
from experiments.novelty.streams import KINDS, length, zipf_stream
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run
from shortlist.measures.spread import entropy, fairness

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ALGORITHMS = ("threshold", "sampling")
RATES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 1.0)
EXAMPLE = (20, 30, 50)
"""Deliveries of three subscriptions."""


def measure(run: Run) -> Measures:
    found = run.point("rates", lambda: _found(run))
    best = found["largest good rate"]
    below = [rate <= best for rate in RATES]
    split = {
        f"{ENTROPY} {side} it, {name}": [
            value
            for value, is_below in zip(found[f"{ENTROPY}, {name}"], below, strict=True)
            if is_below == (side == "up to")
        ]
        for name in ALGORITHMS
        for side in ("up to", "above")
    }
    return {
        "rate": [*RATES],
        **found,
        **split,
        "example entropy": entropy(EXAMPLE),
        "example fairness": fairness(EXAMPLE),
    }


def _found(run: Run) -> dict[str, Any]:
    stream = zipf_stream(run, "zipf", length(run))
    found: dict[str, Any] = {
        "largest good rate": float(KINDS * np.bincount(stream, minlength=KINDS).min() / stream.size)
    }
    for name in ALGORITHMS:
        policies = {str(rate): policy(algorithm=name, rate=rate) for rate in RATES}
        each = [measured(got, stream.size) for got in deliver(run, stream, policies).values()]
        for key in (ENTROPY, DELIVERED):
            found[f"{key}, {name}"] = [one[key] for one in each]
    return found


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    found: Any = measures
    for axes, key in zip(canvas.subplots(1, 2), (ENTROPY, DELIVERED), strict=True):
        draw_lines(axes, RATES, {name: found[f"{key}, {name}"] for name in ALGORITHMS})
        axes.axvline(
            found["largest good rate"], color="black", linewidth=1, label="the paper: largest rate"
        )
        axes.set_xlabel("maximum delivery rate")
        axes.set_ylabel(NAMES[key])
    canvas.axes[0].axhline(log2(KINDS), color="grey", linewidth=0.8, label="maximum")
    finish(canvas, figure)
