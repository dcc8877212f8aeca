"""The benchmark of matching runs, compares, reports and draws."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "matching.py"


@pytest.mark.soak
def test_a_small_run(tmp_path: Path) -> None:
    sizes = ["--quick", "--sizes", "100,300", "--films", "200", "--mixes", "selective,fuzzy"]
    places = ["--data", str(tmp_path), "--skip", "spark", "--out", str(tmp_path / "results")]
    command = [sys.executable, str(SCRIPT), *sizes, *places]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (tmp_path / "results" / "matching.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert printed.splitlines()[: len(lines)] == lines
    assert "Shortlist's index on one core" in printed
    assert {row["data"] for row in rows} == {"generated"}
    compared = {row["to"] for row in rows if row["figure"] == "equal"}
    assert compared == {"plain", "plain, of fuzzy films", "numpy", "duckdb", "its saved copy"}
    assert {row["figure"] for row in rows} >= {"matching", "fuzzy", "fuzzy facts", "growth"}
    assert (tmp_path / "results" / "matching.png").stat().st_size > 10_000
