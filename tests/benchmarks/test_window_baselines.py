"""What windows are measured against places the same, also where windows are short and full of
ties."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.common.streams import FILE, MEASURED, Stream, clustered, streams, uniform
from benchmarks.common.window_baselines import best_at_arrival, candidate_list, sorted_list
from benchmarks.common.window_figures import differences, played
from benchmarks.common.windows import keys_of
from shortlist.model.durations import Span
from shortlist.model.policy import Window

SECOND = 1_000_000
STREAMS = [
    uniform(1_200),
    clustered(1_200),
    Stream("tied", uniform(1_200).points.round(1)),
    Stream("worse and worse", np.sort(uniform(1_200).points, axis=0)),
]
CORNERS = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.5, 0.0]])
MILLIS = [30, 60, 61, 1_000, 20_000]


def windows(k):
    return [Window(k=k, window=Span(millis * 1_000)) for millis in MILLIS]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
@pytest.mark.parametrize("baseline", [candidate_list, sorted_list])
def test_lists_place_what_the_bank_places(baseline, stream):
    for policy in [*windows(k=1), *windows(k=3)]:
        keys, _ = baseline(stream, CORNERS, policy)
        expected = keys_of(played(stream, CORNERS, policy).placements)
        assert np.sort(keys).tolist() == expected.tolist()


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_a_window_function_finds_the_best_at_arrival(stream):
    for policy in windows(k=1):
        keys, _ = best_at_arrival(stream, CORNERS, policy)
        placed = played(stream, CORNERS, policy).placements
        assert np.sort(keys).tolist() == keys_of(placed.kept(~placed.promoted)).tolist()


def test_every_offer_or_only_the_hopeful_ones():
    policy = Window(k=3, window=Span(20 * SECOND))
    for stream in STREAMS:
        some, others = (
            played(stream, CORNERS, policy, every_offer).placements for every_offer in (False, True)
        )
        assert keys_of(some).tolist() == keys_of(others).tolist()


def test_differences():
    policy = Window(k=2, window=Span(SECOND))
    placed = played(STREAMS[0], CORNERS, policy).placements
    count = placed.places.size
    assert differences(placed, placed) == (0, 0)
    assert differences(placed.kept(slice(3, None)), placed.kept(slice(0, count - 2))) == (3, 2)


def test_sensors_are_left_out_without_their_file(tmp_path: Path) -> None:
    assert [stream.name for stream in streams(5, tmp_path)] == ["uniform", "clustered"]


def test_a_file_of_sensors(tmp_path: Path) -> None:
    lines = ["station_id,epoch_s," + ",".join(MEASURED), *(f"1,{n},{n},{n},,3" for n in range(9))]
    lines += [f"1,{n},{n},{2 * n},{n},{n % 2}" for n in range(101)]
    (tmp_path / FILE).write_bytes(gzip.compress("\n".join(lines).encode()))
    found = streams(60, tmp_path)[-1]
    assert (found.name, len(found)) == ("sensors", 60)
    assert found.points[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert found.points[51].round(3).tolist() == [0.51, 0.51, 0.51, 1.0]
