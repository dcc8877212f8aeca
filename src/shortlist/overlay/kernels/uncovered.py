"""Which rows no other covers, where more than rows decides."""

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]


@kernel
def uncovered_rows(
    rows: Ints,
    scores: Ints,
    shapes: Ints,
    reaches: Bools,
    thresholds: NDArray[np.float64],
    born: Ints,
    is_thresholded: Bools,
    is_alone: Bools,
) -> Bools:
    """Those that none of the others that stay covers.

    Each row stands after all that could cover it. One covers another that it exceeds nowhere, if
    they have one score, or its shape reaches the other's; if it is not younger than one with a
    threshold to come; and with a threshold of its own only if both are alone, have one score, and
    its threshold is not the higher.

    >>> rows = np.array([[0], [1], [2]], np.int32)
    >>> none, no = np.full(3, -np.inf), np.zeros(3, np.bool_)
    >>> same, reaches = np.zeros(3, np.int32), np.zeros((1, 1), np.bool_)
    >>> scores = np.array([0, 1, 0], np.int32)
    >>> uncovered_rows(rows, scores, same, reaches, none, same, no, no).tolist()
    [True, True, False]
    """
    count, width = rows.shape
    stays = np.zeros(count, np.bool_)
    wide = np.empty(count, np.int32)  # those that stay and reach other scores
    wides = 0
    last = np.full(count, -1, np.int32)  # by score, the last one that stays
    before = np.full(count, -1, np.int32)
    reaches_any = np.zeros(reaches.shape[0], np.bool_)
    for shape in range(reaches.shape[0]):
        reaches_any[shape] = reaches[shape].any()
    for row in range(count):
        is_covered = False
        other = last[scores[row]]
        while other >= 0 and not is_covered:
            is_open = thresholds[other] == -np.inf
            if is_open or (
                is_alone[other] and is_alone[row] and thresholds[other] <= thresholds[row]
            ):
                is_covered = _covers(rows, born, is_thresholded, other, row, width)
            other = before[other]
        place = 0
        while place < wides and not is_covered:
            other = wide[place]
            if reaches[shapes[other], shapes[row]]:
                is_covered = _covers(rows, born, is_thresholded, other, row, width)
            place += 1
        if not is_covered:
            stays[row] = True
            before[row] = last[scores[row]]
            last[scores[row]] = row
            if reaches_any[shapes[row]] and thresholds[row] == -np.inf:
                wide[wides] = row
                wides += 1
    return stays


@kernel
def _covers(
    rows: Ints, born: Ints, is_thresholded: Bools, general: int, special: int, width: int
) -> bool:
    if is_thresholded[special] and born[general] > born[special]:
        return False
    column = 0
    while column < width and rows[general, column] <= rows[special, column]:
        column += 1
    return bool(column == width)
