"""The rank-cover paper's experiments in small."""

from pathlib import Path

import pytest
from rich.console import Console

from experiments.rank_cover.section_5 import _simulated
from experiments.rank_cover.shares import ANCESTOR, CHAIN, REGULAR, RULES, percents
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.progress import Steps

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def run_of(folder: Path, seed: int = 0) -> Run:
    return Run(InProcess(), Steps(Console(), True), folder, quick=True, seed=seed)


def test_all_rules_are_plain_covering_at_k_1_and_forward_all_at_last(tmp_path: Path) -> None:
    found = percents(run_of(tmp_path), 300, [1, 10, 300])
    assert {found[name][0] for name in RULES} == {found[REGULAR][0]}
    assert {found[name][-1] for name in RULES if name != REGULAR} == {100.0}
    assert found[REGULAR][0] < found[ANCESTOR][1] < found[CHAIN][1]


def test_shares_follow_the_seed(tmp_path: Path) -> None:
    one, other = (percents(run_of(tmp_path, seed), 300, [10]) for seed in (0, 1))
    assert one != other


def test_brokers_deliver_what_one_engine_delivers(tmp_path: Path) -> None:
    found = _simulated(run_of(tmp_path), "ancestor-cover-k")
    assert (found["missing"], found["wrong"]) == (0, 0)
    assert found["delivered"] > 0
    assert found["reached"] == pytest.approx(found["computed"], abs=1)
