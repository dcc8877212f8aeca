"""Cells of a grid, by what their nearest points score."""

from math import hypot

import numpy as np
import pytest

from experiments.top_k_w.grid_cells import cell_scores


def test_cells_of_a_grid() -> None:
    found = cell_scores(np.array([0.05, 0.05, 0.05, 0.05]), 10)
    assert found[[0, -2, -1]].tolist() == pytest.approx([-1.7, -0.05, 0.0])


def test_every_cell_has_its_distance() -> None:
    found = cell_scores(np.array([0.1, 0.3]), 2).tolist()
    assert found == pytest.approx([-hypot(0.4, 0.2), -0.4, -0.2, 0.0])
