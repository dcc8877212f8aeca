"""Theorem 2.3: a delivery of the most novel subscription raises the output entropy most.

At many points of a history, each subscription is tried as the next delivery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.novelty.histories import POLICIES, histories
from experiments.novelty.shortlists import Got
from experiments.novelty.streams import KINDS
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run
from shortlist.measures.spread import entropy

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

POINTS = 400
NOVELTIES = ("rate", "interval")
MILLIBITS = 1000


def measure(run: Run) -> Measures:
    return {
        "rank": [float(rank) for rank in range(1, KINDS + 1)],
        **run.point("gains", lambda: _found(run)),
    }


def _found(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, got in histories(run).items():
        gains, counts, most_novel = tried(got)
        by_novelty = np.argsort(counts, axis=1, kind="stable")
        gains_by_rank = np.take_along_axis(gains, by_novelty, axis=1)
        for novelty in NOVELTIES:
            best = [bool(row[most_novel[novelty][at]] >= row.max()) for at, row in enumerate(gains)]
            found[f"gains most by {novelty}, {name}"] = float(np.mean(best))
        found[f"gain, {name}"] = (gains_by_rank.mean(axis=0) * MILLIBITS).tolist()
    return found


def tried(got: Got) -> tuple[np.ndarray, np.ndarray, dict[str, list[int]]]:
    """What each subscription would add at points of a history, how often each was delivered, and
    which one is the most novel by rate and by interval."""
    gains, counted = [], []
    most_novel: dict[str, list[int]] = {novelty: [] for novelty in NOVELTIES}
    for end in np.linspace(got.kinds.size // 10, got.kinds.size, POINTS).astype(int):
        delivered = got.kinds[:end]
        counts = np.bincount(delivered, minlength=KINDS)
        last = np.full(KINDS, -1)
        last[delivered] = np.arange(end)
        counted.append(counts)
        now = entropy(counts.tolist())
        gains.append([entropy((counts + one).tolist()) - now for one in np.eye(KINDS, dtype=int)])
        most_novel["rate"].append(int(counts.argmin()))
        most_novel["interval"].append(int(last.argmin()))
    return np.array(gains).round(12), np.array(counted), most_novel


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    found: Any = measures
    axes = canvas.subplots()
    draw_lines(axes, found["rank"], {name: found[f"gain, {name}"] for name in POLICIES})
    axes.set_xlabel("subscription, by how seldom it was delivered (1 is the most novel)")
    axes.set_ylabel("what one more delivery adds\nto the output entropy (millibits)")
    axes.legend(title="history of deliveries")
    canvas.suptitle(figure.title)
