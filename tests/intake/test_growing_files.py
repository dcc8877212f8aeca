"""Growing files give each line once, in order, however they are cut; what changed is reported."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.intake import growing_files
from shortlist.intake.growing_files import ChangedBehind, GrowingFiles, Place
from shortlist.intake.input_files import NoInput
from shortlist.intake.tables import NotATable


def taken(files: GrowingFiles, start: Place, end: Place) -> list[tuple[int, bytes]]:
    found = []
    for piece in files.between(start, end):
        lines = files.lines(piece)
        assert len(lines) == piece.length
        found += enumerate(lines, piece.position)
    return found


def all_lines(folder: Path) -> list[bytes]:
    """Every line of every file, those included that have no newline."""
    lines = []
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        lines += content.removesuffix(b"\n").split(b"\n") if content else []
    return lines


def writings(pick: random.Random, folder: Path):
    """Appends to the last file, or begins one behind it."""
    number = 0
    for _ in range(pick.randrange(1, 8)):
        number += pick.choice((0, 0, 1, 3))
        with (folder / f"{number:02}.jsonl").open("ab") as file:
            file.write(bytes(pick.choices(b"ab\n\r", k=pick.randrange(12))))
        yield


def test_every_line_comes_once_and_in_order(tmp_path, monkeypatch):
    for seed in range(1000):
        pick, folder = random.Random(seed), tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.setattr(growing_files, "PIECE_BYTES", pick.choice((1, 3, 8, 1 << 20)))
        files = GrowingFiles(folder, tabular=False)
        place, found, cuts = Place(), [], []
        for _ in writings(pick, folder):
            end = files.advanced(place, files.listing(), pick.choice((None, 1, 2, 5)))
            cuts.append((place, end))
            found += taken(files, place, end)
            place = end
        finite = GrowingFiles(folder, tabular=False, finite=True)
        while (end := finite.advanced(place, finite.listing(), 3)) != place:
            assert 1 <= end.position - place.position <= 3, seed
            cuts.append((place, end))
            found += taken(finite, place, end)
            place = end
        assert found == list(enumerate(all_lines(folder), 1)), seed
        assert found == [pair for start, end in cuts for pair in taken(files, start, end)], seed
        assert found == taken(files, Place(), place), seed


def test_a_line_is_taken_once_it_is_whole(tmp_path):
    file = tmp_path / "lines.jsonl"
    files = GrowingFiles(file, tabular=False)
    file.write_bytes(b"one\ntw")
    first = files.advanced(Place(), files.listing())
    assert taken(files, Place(), first) == [(1, b"one")]
    assert files.advanced(first, files.listing()) == first
    file.write_bytes(b"one\ntwo\n")
    second = files.advanced(first, files.listing())
    assert taken(files, first, second) == [(2, b"two")]


def test_a_file_is_over_once_there_is_a_later_one(tmp_path):
    (tmp_path / "1").write_bytes(b"one\ntwo")
    files = GrowingFiles(tmp_path, tabular=False)
    assert files.advanced(Place(), files.listing()).position == 1
    (tmp_path / "2").touch()
    assert files.advanced(Place(), files.listing()).position == 1
    (tmp_path / "2").write_bytes(b"three")
    assert files.advanced(Place(), files.listing()).position == 2


@pytest.fixture
def half_read(tmp_path):
    """Two files of which the second was begun, and the place there."""
    (tmp_path / "2.jsonl").write_bytes(b"one\n")
    (tmp_path / "4.jsonl").write_bytes(b"two\nthree\n")
    files = GrowingFiles(tmp_path, tabular=False)
    place = files.advanced(Place(), files.listing(), 2)
    assert place == Place("4.jsonl", 4, 2, {"2.jsonl": 4})
    return files, place


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("1.jsonl", b"new\n", "1.jsonl: expected a name behind 4.jsonl"),
        ("3.jsonl", b"new\n", "3.jsonl: expected a name behind 4.jsonl"),
        ("2.jsonl", b"one\nmore\n", "2.jsonl: was read to its end, 4 bytes, and has 9 now"),
        ("2.jsonl", b"o\n", "2.jsonl: was read to its end, 4 bytes, and has 2 now"),
        ("4.jsonl", b"t\n", "4.jsonl: was read up to 4 bytes, and has 2 now"),
        ("4.jsonl", b"", "4.jsonl: was read up to 4 bytes, and has 0 now"),
    ],
)
def test_what_changed_behind_is_named(half_read, name, content, problem):
    files, place = half_read
    (files.path / name).write_bytes(content)
    with pytest.raises(ChangedBehind, match=problem):
        files.advanced(place, files.listing())


def test_what_was_read_may_be_removed(half_read):
    files, place = half_read
    (files.path / "2.jsonl").unlink()
    end = files.advanced(place, files.listing())
    assert end == Place("4.jsonl", 10, 3, {})
    assert taken(files, place, end) == [(3, b"three")]


def test_a_last_line_that_was_taken_must_not_grow(tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"one\ntwo")
    files = GrowingFiles(file, tabular=False, finite=True)
    place = files.advanced(Place(), files.listing())
    assert place.position == 2
    file.write_bytes(b"one\ntwo\n")
    with pytest.raises(ChangedBehind, match="its last line was taken, and grew"):
        files.advanced(place, files.listing())


def test_a_listing_keeps_what_comes_later_out(tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"one\n")
    files = GrowingFiles(tmp_path, tabular=False)
    listing = files.listing()
    file.write_bytes(b"one\ntwo\n")
    (tmp_path / "more.jsonl").write_bytes(b"three\n")
    assert files.advanced(Place(), listing).position == 1
    assert files.advanced(Place(), files.listing()).position == 3


@pytest.mark.parametrize("at_most", [1, 3, 7, None])
def test_rows_of_tables(tmp_path, monkeypatch, at_most):
    monkeypatch.setattr(growing_files, "PIECE_ROWS", 4)
    for name, count in (("a", 5), ("b", 0), ("c", 9)):
        pq.write_table(pa.table({"n": list(range(count))}), tmp_path / f"{name}.parquet")
    files = GrowingFiles(tmp_path, tabular=True)
    place, rows = Place(), []
    while (end := files.advanced(place, files.listing(), at_most)) != place:
        for piece in files.between(place, end):
            assert piece.length == piece.end - piece.start
            rows += [(piece.file, row) for row in range(piece.start, piece.end)]
        place = end
    assert rows == [("a.parquet", n) for n in range(5)] + [("c.parquet", n) for n in range(9)]
    assert place.before == {"a.parquet": 5}


@pytest.mark.parametrize(
    ("name", "tabular", "problem"),
    [
        ("a.parquet", False, "expected JSON lines, found a.parquet"),
        ("a.jsonl", True, "expected Parquet, found a.jsonl"),
        ("folder/a.jsonl", False, "expected JSON lines, found folder/a.jsonl"),
        ("a.jsonl.gz", False, "a.jsonl.gz: is compressed"),
    ],
)
def test_files_of_another_form_are_named(tmp_path, name, tabular, problem):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"content\n")
    with pytest.raises(NoInput, match=problem):
        GrowingFiles(tmp_path, tabular=tabular).listing()


def test_what_is_not_parquet_is_named(tmp_path):
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with pytest.raises(NotATable, match=r"torn.parquet: "):
        GrowingFiles(tmp_path, tabular=True).listing()


def test_hidden_names_and_empty_folders(tmp_path):
    for name in ("_temporary", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jsonl").write_bytes(b"one\n")
    files = GrowingFiles(tmp_path, tabular=False)
    assert files.listing() == {}
    assert files.advanced(Place(), {}) == Place()
    with pytest.raises(NoInput, match="expected a file or a folder, found nothing"):
        GrowingFiles(tmp_path / "none", tabular=False).listing()
