"""The top-k/w paper's experiments: what they are drawn from, and what they find in small."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments.top_k_w import table_3
from experiments.top_k_w.figure_18 import _Moves
from experiments.top_k_w.watching import watch
from experiments.top_k_w.workloads import (
    MINUTE,
    clustered,
    counts_by_prefix,
    publications,
    uniform,
    windows,
)
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.progress import Steps

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def run_of(folder: Path, seed: int = 0) -> Run:
    return Run(InProcess(), Steps(Console(), True), folder, quick=True, seed=seed)


def test_points_are_in_the_unit_cube_and_follow_the_seed(tmp_path: Path) -> None:
    for points in (uniform, clustered):
        one, other = (points(run_of(tmp_path, seed), 500, "some") for seed in (0, 1))
        assert ((one >= 0) & (one <= 1)).all()
        assert not np.array_equal(one, other)
        assert np.array_equal(one, points(run_of(tmp_path), 500, "some"))


def test_jobs_and_the_watched_engine_see_the_same_windows(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    points, wanted = uniform(run, 600, "publications"), uniform(run, 2, "subscriptions").round(6)
    table = publications(points, 100)
    subscriptions = windows(wanted, "some", k=3, minutes=2)
    delivered = run.rank({"subscriptions": subscriptions}, table).deliveries
    seen = []
    watch(subscriptions, table, seen.append, at_once=200)
    distances = np.linalg.norm(points[400:] - wanted[0], axis=1)
    assert -seen[-1].thresholds[0] == pytest.approx(np.sort(distances)[2], abs=1e-9)
    times = np.array(delivered.column("time").to_numpy(), "M8[us]").astype(np.int64)
    assert times.max() - seen[-1].time <= 2 * MINUTE
    assert counts_by_prefix(delivered) == {"some": len(delivered)}


def test_moves_are_counted_by_cells() -> None:
    moves = _Moves([np.array([-0.5, 0.0])])
    for number in (-0.7, -0.6, -0.2, -0.2, -0.1, -0.6):
        moves.see(np.array([number]))
    assert (moves.changes, moves.cell_changes) == (5, 2)


def test_formulas_give_the_papers_totals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_3, "_simulated", lambda run: {})
    found = table_3.measure(run_of(tmp_path))
    papers = [total for _, total in table_3.PAPERS.values()]
    assert found["windows, millions"] == pytest.approx(papers, abs=0.01)
