"""What the Parquet job reads, and how its matches are counted."""

from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.common.live_load import ATTRIBUTES, wishes
from benchmarks.common.parquet_job import count_matches, write_flats


def test_matches_are_those_of_all_pairs(tmp_path: Path) -> None:
    found, file = wishes(60, share=0.4), write_flats(tmp_path, 80)
    flats = pq.read_table(file).to_pylist()
    pairs = [
        all(
            low <= flat[name] <= high
            for name, low, high in zip(ATTRIBUTES, wish.lows, wish.highs, strict=True)
        )
        for flat in flats
        for wish in found
    ]
    assert count_matches(file, found) == sum(pairs) > 0


def test_flats_are_publications_in_order(tmp_path: Path) -> None:
    flats = pq.read_table(write_flats(tmp_path, 1_000))
    assert flats.column_names == ["id", "source", "time", *ATTRIBUTES]
    times = flats.column("time").to_pylist()
    assert times == sorted(set(times))
    assert {(flat["source"], flat["id"]) for flat in flats.to_pylist()} == {
        ("ads", f"f{number}") for number in range(1_000)
    }
