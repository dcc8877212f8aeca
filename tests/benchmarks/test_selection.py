"""The benchmark of selection runs, compares, reports and draws."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "selection.py"


@pytest.mark.soak
def test_a_small_run(tmp_path: Path) -> None:
    sizes = ["--publications", "3000", "--subscriptions", "4", "--shortlists", "300"]
    sizes += ["--candidates", "1500", "--films", "100", "--quick"]
    places = ["--data", str(tmp_path), "--out", str(tmp_path / "results")]
    command = [sys.executable, str(SCRIPT), *sizes, *places]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (tmp_path / "results" / "selection.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert printed.splitlines()[: len(lines)] == lines
    assert "Windows on one core" in printed
    compared = {(row["of"], row["to"]) for row in rows if row["figure"] == "equal"}
    assert compared == {
        *(("windows", other) for other in ("candidate list", "sorted list", "duckdb")),
        *(("audience", other) for other in ("numpy", "duckdb")),
        ("crowds", "plain"),
        ("engines", "plain"),
    }
    data = {row["data"] for row in rows if row["figure"] == "windows"}
    assert data == {"uniform", "clustered"}
    measured = {row["figure"] for row in rows}
    assert measured >= {"window growth", "updates", "probabilistic", "crowds", "saving"}
    assert (tmp_path / "results" / "selection.png").stat().st_size > 10_000
