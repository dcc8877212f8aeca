"""What a table takes is known before its values are decoded; what takes too much is not read."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from shortlist.intake import parquet_sizes
from shortlist.intake.cutting import parts_of_file
from shortlist.intake.files import read_registry
from shortlist.intake.finite_input import FiniteInput
from shortlist.intake.input_files import MOST_UNPACKED, UNPACKED_PER_BYTE
from shortlist.intake.parquet_sizes import TooLarge, table_size
from shortlist.intake.tables import NotATable, check_sizes, first_publication_lines
from shortlist.model.problem import InvalidRegistry

MEGABYTE = 2**20


def repeated(value, count: int) -> pa.Array:
    """One value in every row, without the memory that the rows would take."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))


def bomb(form: str, count: int = 3_000) -> pa.Table:
    """A table of some kilobytes whose rows have a megabyte each."""
    long = repeated("x" * MEGABYTE, count)
    match form:
        case "texts":
            return pa.table({"id": pa.array(range(count)), "title": long})
        case "bytes":
            return pa.table({"raw": repeated(b"x" * MEGABYTE, count)})
        case "lists":
            offsets = pa.array(range(count + 1), pa.int32())
            return pa.table({"tags": pa.ListArray.from_arrays(offsets, long)})
        case "objects":
            return pa.table({"deep": pa.StructArray.from_arrays([long], names=["a"])})
        case "maps":
            offsets = pa.array(range(count + 1), pa.int32())
            return pa.table(
                {"pairs": pa.MapArray.from_arrays(offsets, long, pa.array(range(count)))}
            )
        case "twice":
            return pa.table([pa.array(["a"] * count), long], names=["a", "a"])
        case "dotted":
            few = pa.array([str(row % 9) for row in range(count)])
            return pa.table({"a": few, "a.b": long})
        case "after nulls":
            places = pa.array([None] * (count - 2_000) + [0] * 2_000, pa.int32())
            return pa.table({"a": pa.DictionaryArray.from_arrays(places, long.dictionary)})
    raise ValueError(form)


FORMS = ["texts", "bytes", "lists", "objects", "maps", "twice", "dotted", "after nulls"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", [{}, {"data_page_version": "2.0", "compression": "zstd"}])
def test_long_values_that_are_repeated(tmp_path, form, how):
    file = tmp_path / "in.parquet"
    pq.write_table(bomb(form), file, store_schema=False, row_group_size=1_000, **how)
    assert file.stat().st_size < MEGABYTE
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(NotATable, match=r"^in.parquet: expected at most 536,870,912 bytes"):
            [*FiniteInput.at(file).batches()]
    finally:
        pa.set_memory_pool(usual)
    assert counted.max_memory() < 100 * MEGABYTE


def test_prefixes_that_are_shared(tmp_path):
    long = pa.array(["x" * MEGABYTE + str(row) for row in range(20)])
    file = tmp_path / "in.parquet"
    how = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    pq.write_table(pa.table({"a": long}), file, **how)
    assert file.stat().st_size < MEGABYTE
    assert table_size(file, 2**40) >= 20 * MEGABYTE
    with pytest.raises(TooLarge):
        table_size(file, 10 * MEGABYTE)


def test_a_number_that_is_repeated_and_rows_of_nothing(tmp_path):
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**6, np.int64)}), file)
    assert file.stat().st_size < 10_000
    assert 8 * 10**6 < table_size(file, 2**40) < 10**8
    pq.write_table(pa.table({"a": pa.nulls(10**7)}), file)
    with pytest.raises(TooLarge):
        table_size(file, 10**8)


def test_a_page_that_compresses_well_counts_as_what_it_unpacks_to(tmp_path):
    file = tmp_path / "in.parquet"
    table = pa.table({"a": [b"\0" * (30 * MEGABYTE)]})
    pq.write_table(table, file, compression="zstd", use_dictionary=False)
    assert file.stat().st_size < 10_000
    with pytest.raises(TooLarge):
        table_size(file, 29 * MEGABYTE)


def test_very_many_columns(tmp_path):
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({f"c{at}": [1] for at in range(10_001)}), file)
    with pytest.raises(NotATable, match=r"expected at most 10,000 columns, found 10,001"):
        check_sizes([file])


def test_a_table_of_a_registry(tmp_path):
    count = 10_000
    where = repeated("rent < 1 or " * 5_000 + "rent < 2", count)
    ids = pa.array([f"s{row}" for row in range(count)])
    table = pa.table({"id": ids, "where": where})
    pq.write_table(table, tmp_path / "subscriptions.parquet", store_schema=False)
    with pytest.raises(InvalidRegistry) as refused:
        read_registry(tmp_path)
    expected = "expected at most 536,870,912 bytes of values, found more"
    assert str(refused.value) == f"subscriptions.parquet: {expected}"
    with pytest.raises(NotATable, match=f"^{expected}"):
        parts_of_file(tmp_path / "subscriptions.parquet", lanes=2)


def test_a_folder_of_tables_of_a_registry(tmp_path):
    folder = tmp_path / "subscriptions.parquet"
    folder.mkdir()
    good = pa.table({"id": ["a"], "where": ["rent < 1"]})
    pq.write_table(good, folder / "part-0.parquet")
    pq.write_table(pa.table({"id": ["b"], "where": ["rent < 2"]}), folder / "part-1.parquet")
    assert [made.id for made in read_registry(tmp_path).subscriptions] == ["a", "b"]
    pq.write_table(bomb("texts"), folder / "part-1.parquet", store_schema=False)
    with pytest.raises(InvalidRegistry, match=r"^subscriptions.parquet: expected at most"):
        read_registry(tmp_path)


def test_long_values_among_short_ones_are_counted_as_they_are(tmp_path):
    """By the longest value of its dictionary alone this would be 40 GB."""
    words = ["x" * 100_000, *(f"t{row % 50}" for row in range(400_000))]
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({"a": words, "tags": [[word] for word in words]}), file)
    assert table_size(file, MOST_UNPACKED) < 50 * MEGABYTE
    assert len(FiniteInput.at(file).places.ends) == 1


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", [None, "PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_a_bound_is_one(tmp_path, monkeypatch, version, encoding):
    """Whatever values there are, they take no more than is said, and little less than is needed."""
    monkeypatch.setattr(parquet_sizes, "LITTLE", 100)
    rng = np.random.default_rng(7)
    for round_ in range(8):
        count = int(rng.integers(1, 3_000))
        texts = ["x" * int(size) for size in rng.integers(0, 80, count)]
        table = pa.table(
            {
                "a": [text if rng.random() < 0.8 else None for text in texts],
                "b": [[text] * (at % 4) for at, text in enumerate(texts)],
                "c": [{"d": text, "e": {"f": at}} for at, text in enumerate(texts)],
                "g": rng.random(count),
                "h": pa.array(rng.integers(0, 9, count), pa.int16()),
                "i": pa.array([b"12345678"] * count, pa.binary(8)),
                "j": rng.random(count) < 0.5,
            }
        )
        how = {"use_dictionary": True}
        if encoding:
            texts_in = {"a": encoding, "b.list.element": encoding, "c.d": encoding}
            how = {"use_dictionary": False, "column_encoding": texts_in}
        file = tmp_path / f"{round_}.parquet"
        pq.write_table(
            table,
            file,
            data_page_version=version,
            row_group_size=int(rng.integers(100, 3_000)),
            data_page_size=int(rng.integers(100, 50_000)),
            compression=str(rng.choice(["none", "snappy", "gzip"])),
            **how,
        )
        assert table.nbytes <= table_size(file, 2**40)
        texts_size = pc.sum(pc.binary_length(table["a"])).as_py()
        with pytest.raises(TooLarge):
            table_size(file, texts_size)


def test_a_file_is_opened_twice_however_many_columns_it_has(tmp_path, monkeypatch):
    # to open a file is to parse a footer that describes all columns of all row groups
    file, opened = tmp_path / "wide.parquet", []
    texts = repeated("x" * 9_000, 400).dictionary_decode()
    pq.write_table(
        pa.table({f"c{number}": texts for number in range(12)}), file, row_group_size=200
    )

    class Counted(pq.ParquetFile):
        def __init__(self, *arguments, **options):
            opened.append(options.get("read_dictionary"))
            super().__init__(*arguments, **options)

    monkeypatch.setattr(pq, "ParquetFile", Counted)
    assert 12 * 400 * 9_000 <= table_size(file, 2**30) < 12 * 400 * 9_000 * 1.1
    with pytest.raises(TooLarge):
        table_size(file, 2**24)
    assert [len(kept or ()) for kept in opened] == [0, 12] * 2


def test_the_beginning_of_a_table(tmp_path):
    file = tmp_path / "in.parquet"
    pq.write_table(bomb("texts"), file, store_schema=False)
    assert len(first_publication_lines(file, 2_000)) == 64
    pq.write_table(pa.table({"id": [f"p{at}" for at in range(300)]}), file)
    assert len(first_publication_lines(file, 200)) == 200
    assert len(first_publication_lines(file, 2_000)) == 300


def test_files_together(tmp_path):
    count = MOST_UNPACKED // MEGABYTE * 6 // 10
    for name in "ab":
        pq.write_table(bomb("texts", count), tmp_path / f"{name}.parquet", store_schema=False)
    assert table_size(tmp_path / "a.parquet", MOST_UNPACKED) > MOST_UNPACKED // 2
    with pytest.raises(NotATable, match=r"^b.parquet: expected at most"):
        [*FiniteInput.at(tmp_path).batches()]


def test_large_files_may_hold_more(tmp_path):
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(1).random(10**6)}), file)
    assert UNPACKED_PER_BYTE * file.stat().st_size > MOST_UNPACKED
    check_sizes([file])
