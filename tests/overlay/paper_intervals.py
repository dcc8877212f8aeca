"""Subscriptions as the rank-cover paper draws them."""

import numpy as np

from shortlist.covering.condition_graph import Boxes


def paper_intervals(count: int, seed: int = 0) -> Boxes:
    """Intervals on one attribute, 30 to 60 % of its range wide, uniformly placed."""
    draw = np.random.default_rng(seed)
    widths = draw.uniform(0.3, 0.6, count)
    lows = draw.uniform(0.0, 1.0 - widths)
    return Boxes.closed(lows[:, None], (lows + widths)[:, None])
