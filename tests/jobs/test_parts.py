"""Deliveries of several shards are written in one order, however they are cut into parts."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from shortlist.engine.deliveries import DELIVERIES, file_text, put_in_order
from shortlist.jobs import parts
from shortlist.jobs.parts import cuts, put_parts
from shortlist.jobs.shares import Place, Selected, Wave, written
from shortlist.live.here import run_here


def delivery(time, position, shortlist):
    texts = dict.fromkeys(("id", "subscriber", "source", "publication", "subscription"), "x")
    numbers = dict.fromkeys(("score", "possibility", "necessity"), 1.0)
    row = {"time": time, "position": position, "shortlist": shortlist, "rank": 1}
    return row | texts | numbers | {"cause": "arrival", "data": None}


def selected(folder, pieces):
    batches = [pa.RecordBatch.from_pylist(rows, DELIVERIES) for rows in pieces]
    ends = [max(Place(row["time"], row["position"]) for row in rows) for rows in pieces]
    found = [Wave(end, len(rows)) for end, rows in zip(ends, pieces, strict=True)]
    return Selected(written(str(folder), batches, DELIVERIES), found, {})


@pytest.mark.parametrize("seed", range(20))
def test_parts_together_are_all_deliveries_in_order(tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    monkeypatch.setattr(parts, "MOST_AT_ONCE", draw.choice([1, 3, 10, 1000]))
    shards, every = [], []
    for shard in range(draw.randrange(1, 4)):
        time, pieces = 0, []
        for _ in range(draw.randrange(4)):
            # one instant may be in two pieces
            latest = time + draw.randrange(4)
            rows = [
                delivery(draw.randint(time, latest), draw.randrange(9), f"L{shard}{n}")
                for n in range(draw.randrange(1, 6))
            ]
            time = latest
            pieces.append(rows)
            every += rows
        shards.append(selected(tmp_path, pieces))
    out = Path(tmp_path, "out.jsonl")
    put_parts(run_here, shards, out, False, lanes=draw.randrange(1, 4))
    expected = put_in_order(pa.Table.from_pylist(every, DELIVERIES))
    assert out.read_bytes() == file_text(expected, False).to_pybytes()


def test_what_was_made_together_is_cut_only_where_others_end():
    assert cuts([], 2) == []
    first, second, third, last = Place(5, 1), Place(5, 3), Place(6, 2), Place(8, 4)
    assert len(cuts([Wave(first, 100)], 4)) == 2
    assert cuts([Wave(each, 1) for each in (first, first, third, last)], 2)[1:-1] == [first]
    assert cuts([Wave(each, 1) for each in (first, second, third, last)], 2)[1:-1] == [second]
