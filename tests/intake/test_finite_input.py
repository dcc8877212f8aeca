"""Lines of finite inputs are read piece by piece, compressed ones as far as they may unpack."""

import bz2
import gzip
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.cli.batch import numbered_lines
from shortlist.engine.stages import ReadTable
from shortlist.intake import finite_input
from shortlist.intake.finite_input import FiniteInput, pieces_of
from shortlist.intake.input_files import NoInput, most_unpacked
from shortlist.model.items import REJECT, Items, Wanted
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
MARK = b"\xef\xbb\xbf"


def lines_in(content: bytes) -> list[bytes]:
    """What the lines of a file are: the last counts without a newline too."""
    content = content.removeprefix(MARK)
    return content.removesuffix(b"\n").split(b"\n") if content else []


@pytest.mark.parametrize("suffix", PACKED)
def test_lines_have_their_positions_however_they_are_cut(tmp_path, monkeypatch, suffix):
    random_ = random.Random(suffix)
    for round_ in range(60):
        monkeypatch.setattr(finite_input, "PIECE_BYTES", random_.choice((3, 4, 10, 100)))
        monkeypatch.setattr(finite_input, "BATCH_BYTES", random_.choice((1, 20, 1000)))
        folder = tmp_path / f"{round_}"
        folder.mkdir()
        every: list[bytes] = []
        for name in "ab":
            pieces = (b"\n", b"\n\n\n", b"a", b"bc\n", "å".encode(), b"\r\n", b"x" * 30)
            content = b"".join(random_.choices(pieces, k=random_.randrange(12)))
            content = MARK * random_.randrange(2) + content
            (folder / f"{name}.jsonl{suffix}").write_bytes(PACKED[suffix](content))
            every += lines_in(content)
        at_once = random_.randint(1, 5)
        source = FiniteInput.at(folder)
        found = pa.Table.from_batches(source.batches(at_once), finite_input.LINES)
        batches = [*source.batches(at_once)]
        assert all(0 < batch.num_rows <= at_once for batch in batches)
        numbered = [(number, line) for number, line in enumerate(every, 1) if line]
        assert [tuple(row.values()) for row in found.to_pylist()] == numbered
        assert source.every_line() == every
        assert source.places == FiniteInput.at(folder).places
        assert source.places.ends[-1] == len(every)


def test_millions_of_empty_lines(tmp_path):
    file = tmp_path / "in.jsonl.gz"
    file.write_bytes(gzip.compress(b"\n" * 3_000_000 + b"{}\n"))
    source = FiniteInput.at(file)
    assert [batch.to_pylist() for batch in source.batches()] == [
        [{"position": 3_000_001, "line": b"{}"}]
    ]
    assert source.places.ends == (3_000_001,)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_what_unpacks_to_too_much_is_refused_meanwhile(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(finite_input, "PIECE_BYTES", 1000)
    file = tmp_path / f"in.jsonl{suffix}"
    file.write_bytes(PACKED[suffix](b"0" * 100_000))
    assert sum(map(len, pieces_of(file, 100_000))) == 100_000
    with pytest.raises(NoInput, match=r"in.jsonl.*: expected at most 20,000 bytes unpacked"):
        [*pieces_of(file, 20_000)]


def test_lines_that_are_all_held_take_more_than_their_text(tmp_path, monkeypatch):
    monkeypatch.setattr(finite_input, "LINE_BYTES", 2**20)
    file = tmp_path / "in.jsonl.gz"
    file.write_bytes(gzip.compress(b"\n" * 10_000))
    with pytest.raises(NoInput, match=r"expected at most 512 lines, found more"):
        FiniteInput.at(file).every_line()


def test_large_files_may_unpack_to_more(tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    with large.open("wb") as file:
        file.truncate(10**8)
    assert most_unpacked([small]) == 2**29
    assert most_unpacked([small, large]) == 10**10 + 100


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_damaged_files(tmp_path, suffix):
    whole = PACKED[suffix](b"".join(b'{"id": "%d"}\n' % number for number in range(1000)))
    file = tmp_path / f"in.jsonl{suffix}"
    refused = []
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            FiniteInput.at(file).every_line()
        except ShortlistError as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert all(text.startswith(f"{file}: ") for text in refused)


def test_a_row_over_the_payload_limit_is_a_reject_and_loses_nothing_else(tmp_path):
    file = tmp_path / "in.parquet"
    row = {"source": "s", "time": "2026-01-01T00:00:00Z"}
    rows = [{"id": f"p{at}", "title": "x" * size, **row} for at, size in enumerate((5, 3000, 5))]
    pq.write_table(pa.Table.from_pylist(rows), file)
    read = ReadTable(vocabulary=Vocabulary(), limits=Limits(payload_bytes=2000), wanted=Wanted())
    (batch,) = read(FiniteInput.at(file).batches())
    items = Items(batch)
    bad = items.kept(items.kinds == REJECT)
    assert len(items) == 3
    assert bad.values("position") == [2]
    assert bad.values("reason")[0].startswith("over the size limit: expected at most 2000 bytes")


def test_values_that_python_has_none_for_are_texts(tmp_path):
    file = tmp_path / "in.parquet"
    table = pa.table(
        {
            "id": ["a", "b"],
            "day": pa.array([2**31 - 1, 0], pa.date32()),
            "when": pa.array([[2**62], []], pa.list_(pa.timestamp("us"))),
        }
    )
    pq.write_table(table, file)
    first, second = map(json.loads, FiniteInput.at(file).every_line())
    assert first["data"] == {
        "day": "a date32[day] out of range",
        "when": "a list<element: timestamp[us]> out of range",
    }
    assert second["data"] == {"day": "1970-01-01", "when": []}


def test_text_that_is_none_is_told_for_the_file(tmp_path):
    file = tmp_path / "in.parquet"
    bad = pa.array([b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"id": bad}), file)
    with pytest.raises(ShortlistError, match=r"^in.parquet: .*[Ii]nvalid UTF8"):
        [*FiniteInput.at(file).batches()]


def test_very_wide_rows_become_objects_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(finite_input, "CELLS_AT_ONCE", 50)
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({f"c{at}": range(20) for at in range(9)}), file)
    assert [batch.num_rows for batch in FiniteInput.at(file).batches()] == [5] * 4


def test_questions_are_asked_of_compressed_lines_too(tmp_path):
    file = tmp_path / "in.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"id": "a"}\n\nbad\n'))
    places, lines = numbered_lines(file)
    assert lines == [b'{"id": "a"}', b"", b"bad"]
    assert places.name(3) == "in.jsonl.gz:3"
