"""The grid finds what a scan of all pairs finds, and the loop in DuckDB keeps the best of it."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.common.duckdb_loop import DuckDbLoop, best_by_scan
from benchmarks.common.grid import CUBE, SQUARE, Grid
from benchmarks.common.live_load import ATTRIBUTES, RANGE, backlog, wishes
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog

GRIDS = (SQUARE, CUBE, Grid(("year",), 4))


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)
def test_every_wish_is_in_the_cells_that_it_touches_once(grid: Grid) -> None:
    found = wishes(50)
    cut = grid.cut(found).to_pylist()
    axes = [ATTRIBUTES.index(name) for name in grid.attributes]
    for number, wish in enumerate(found):
        cells = np.zeros(1, int)
        for axis in axes:
            values = np.arange(wish.lows[axis], wish.highs[axis] + 1)
            touched = np.unique(values // (RANGE // grid.cells))
            cells = np.add.outer(cells * grid.cells, touched).ravel()
        rows = [row for row in cut if row["subscription"] == number]
        assert sorted(row["cell"] for row in rows) == sorted(cells)
        for row in rows:
            assert tuple(row[f"{name}_low"] for name in ATTRIBUTES) == wish.lows
            assert tuple(row[f"{name}_high"] for name in ATTRIBUTES) == wish.highs


def test_cells_are_all_of_the_same_width() -> None:
    with pytest.raises(ValueError, match="expected a divisor of 1000, found 7"):
        _ = Grid(("price",), 7).width


@pytest.mark.parametrize("floors", [False, True])
@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)
def test_the_loop_keeps_the_best(grid: Grid, floors: bool, tmp_path: Path) -> None:
    found, log = wishes(300, share=0.3), SqliteLog(tmp_path / "flats.log")
    backlog(log, 400)
    outlet = SqliteLog(tmp_path / "deliveries.log")
    loop = DuckDbLoop(tmp_path / "loop.db", found, grid, floors=floors, outlet=outlet)
    speed = loop.run(log, at_most=70, warm_up=100)
    everyone = range(len(found))
    expected = best_by_scan(log, found, everyone)
    assert loop.best_of(everyone) == expected
    assert sum(len(best) for best in expected.values()) > 700
    for number, best in expected.items():
        delivered = [
            json.loads(entry.content) for entry in outlet.read(DELIVERIES, 0, key=f"s{number}")
        ]
        assert {(-each["score"], each["position"]) for each in delivered} >= {*best}
        assert len({each["position"] for each in delivered}) == len(delivered)
    assert speed.publications_per_second > speed.deliveries_per_second / len(found) > 0


def test_the_loop_wants_more_than_it_warms_up_with(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "flats.log")
    backlog(log, 10)
    loop = DuckDbLoop(tmp_path / "loop.db", wishes(5), SQUARE)
    with pytest.raises(ValueError, match=f"more than 10 entries, found {log.end(INPUT)}"):
        loop.run(log, at_most=10, warm_up=10)
