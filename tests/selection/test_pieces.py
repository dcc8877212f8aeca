"""Rows in a few pieces."""

import numpy as np
import pyarrow as pa
import pytest

from shortlist.selection.bank import pieces
from shortlist.selection.bank.pieces import Pieces


@pytest.mark.parametrize("most", [1, 40, 2**30])
def test_rows_are_the_same_however_large_pieces_may_be(monkeypatch, most):
    monkeypatch.setattr(pieces, "MOST_BYTES", most)
    rows, names = Pieces(pa.schema({"id": pa.string()})), [f"p{n}" for n in range(20)]
    for first in range(0, 20, 4):
        rows.add(pa.record_batch({"id": names[first : first + 4]}))
    assert len(rows) == 20
    assert rows.taken(["id"], np.arange(20))[0].to_pylist() == names
    rows.keep(np.arange(1, 20, 2))
    assert rows.taken(["id"], np.arange(10))[0].to_pylist() == names[1::2]
    assert rows.value("id", 9) == "p19"
