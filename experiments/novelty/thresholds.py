"""The threshold as a run goes on, which deliveries do not tell: from the plain selector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.novelty.as_printed import SHORTLIST, play
from experiments.novelty.shortlists import Settings
from experiments.novelty.streams import Kinds
from shortlist.model.policy import Novelty
from shortlist.selection.novelty import NoveltySelector


class ShowingThreshold(NoveltySelector):
    """The plain selector, which shows what the next publication has to reach."""

    @property
    def threshold(self) -> float:
        return self._present_threshold()


def thresholds(settings: Settings, stream: Kinds) -> list[float]:
    """At the end of each period."""
    selector = ShowingThreshold(Novelty(**settings), SHORTLIST)
    found = []
    for period in np.split(stream, stream.size // settings["period"]):
        play(selector, period)
        found.append(selector.threshold)
    return found


def settled(series: Sequence[float], share: float = 0.1) -> float:
    """The first point from which on a series stays near its last tenth: no further off than a share
    of its range.

    >>> settled([0, 9, 10, 2, 10, 10, 10, 10, 10, 10])
    4.0
    """
    values = np.array(series, float)
    near = np.abs(values - values[-max(1, len(values) // 10) :].mean()) <= share * np.ptp(values)
    far = np.flatnonzero(~near)
    return float(far[-1] + 1) if far.size else 0.0
