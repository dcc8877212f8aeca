"""Cells of a regular grid, as brokers may agree upon: when does what a window wants change?"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cell_scores(point: Floats, cells: int) -> Floats:
    """What the nearest points of all cells of the unit cube score, ascending, if the score is the
    negative distance to a point; each axis has so many cells.

    A window that wants what scores at least a threshold is interested in the cells whose nearest
    point does, so its cells change when the threshold moves across one of these.

    >>> cell_scores(np.array([0.5, 0.5, 0.5, 0.5]), 10)[[0, -1]]
    array([-0.8,  0. ])
    """
    edges = np.arange(cells) / cells
    squares = np.zeros(1)
    for value in point:
        away = np.maximum(0.0, np.maximum(edges - value, value - edges - 1 / cells))
        squares = np.add.outer(squares, away**2).ravel()
    return np.unique(-np.sqrt(squares).round(9)) + 0.0
