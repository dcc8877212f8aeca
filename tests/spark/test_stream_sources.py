"""Streaming sources give the same rows for every cut, once, also across restarts."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.intake.input_files import NoInput
from shortlist.intake.tables import POSITION, row_lines
from shortlist.log.opening import open_log
from shortlist.spark.sources import Lines, read_files, read_table
from shortlist.spark.streaming import stream_files, stream_lines, stream_log

pytestmark = pytest.mark.spark


class Collected:
    """Rows as micro-batches bring them; a query may stop before it commits one of them."""

    def __init__(self, checkpoint: Path, columns: tuple[str, ...] = ("position", "line")) -> None:
        self.checkpoint = checkpoint
        self.columns = columns
        self.batches: dict[int, list[tuple]] = {}

    def run(self, lines: Lines, fail_at: int | None = None) -> None:
        """All that is there now; stops with an error at one of its batches."""

        def collect(frame, number):
            self.batches[number] = [tuple(row) for row in frame.select(*self.columns).collect()]
            if number == fail_at:
                raise RuntimeError("stopped")

        query = (
            lines.frame.writeStream.foreachBatch(collect)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    @property
    def rows(self) -> list[tuple]:
        return [row for number in sorted(self.batches) for row in self.batches[number]]


def documents(rows) -> list[tuple]:
    """Positions and lines, as what the lines say."""
    return [(position, json.loads(line)) for position, line in rows]


def documents_of_table(lines: Lines) -> list[tuple]:
    """What the rows of a table would say as lines."""
    table = lines.frame.orderBy(POSITION).toArrow()
    (batch,) = table.combine_chunks().to_batches()
    return documents(zip(table[POSITION].to_pylist(), row_lines(batch), strict=True))


def of_batch(spark, path) -> list[tuple]:
    return [tuple(row) for row in read_files(spark, path).frame.orderBy("position").collect()]


def write_lines(folder: Path, seed: int) -> list[bytes]:
    """Some files with blank lines, carriage returns, a mark at the beginning, torn letters."""
    pick = random.Random(seed)
    folder.mkdir(exist_ok=True)
    for name in pick.sample("abcdefg", 3):
        kinds = (b"", b"{}", b"two words\r", "über".encode(), b"\xff\xfe", b"x" * 50)
        content = b"\n".join(pick.choices(kinds, k=pick.randrange(20)))
        content = pick.choice((b"", b"\xef\xbb\xbf")) + content + pick.choice((b"", b"\n"))
        (folder / f"{name} [1]*.jsonl").write_bytes(content)


@pytest.mark.parametrize(("seed", "at_most"), [(0, None), (1, 7)])
def test_finite_files_have_the_rows_of_a_batch(spark, tmp_path, seed, at_most):
    folder = tmp_path / "in put"
    write_lines(folder, seed)
    expected = of_batch(spark, folder)
    collected = Collected(tmp_path / "checkpoint")
    collected.run(stream_files(spark, folder, finite=True, at_most=at_most))
    assert collected.rows == expected
    largest = max(map(len, collected.batches.values()))
    assert largest == min(at_most or len(expected), len(expected))


def test_growing_files_after_a_restart(spark, tmp_path):
    folder = tmp_path / "input"
    folder.mkdir()
    (folder / "b.jsonl").write_bytes(b"one\ntwo\nthr")
    collected = Collected(tmp_path / "checkpoint")
    with pytest.raises(Exception, match="stopped"):
        collected.run(stream_files(spark, folder, at_most=1), fail_at=1)
    assert collected.rows == [(1, b"one"), (2, b"two")]
    (folder / "b.jsonl").write_bytes(b"one\ntwo\nthree\n")
    (folder / "c.jsonl").write_bytes(b"four\nfi")
    collected.run(stream_files(spark, folder))
    expected = list(enumerate([b"one", b"two", b"three", b"four"], 1))
    assert collected.rows == expected
    (folder / "a.jsonl").write_bytes(b"zero\n")
    with pytest.raises(Exception, match=r"a.jsonl: expected a name behind c.jsonl"):
        collected.run(stream_files(spark, folder))
    assert collected.rows == expected


def test_a_folder_may_be_empty_at_first(spark, tmp_path):
    collected = Collected(tmp_path / "checkpoint")
    folder = tmp_path / "input"
    folder.mkdir()
    lines = stream_files(spark, folder)
    collected.run(lines)
    assert collected.rows == []
    (folder / "a.jsonl").write_bytes(b"one\n")
    collected.run(lines)
    assert collected.rows == [(1, b"one")]


def test_rows_of_tables_are_the_lines_of_a_batch(spark, tmp_path):
    """Types whose text Spark decides, columns that not every file has, and one called position."""
    folder = tmp_path / "table"
    folder.mkdir()
    noon = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC)
    first = pa.table(
        {
            "id": ["p1", "p2", "p3"],
            "time": pa.array([noon, None, noon], pa.timestamp("us", "UTC")),
            "local": pa.array([noon.replace(tzinfo=None)] * 3, pa.timestamp("us")),
            "rent": [900.0, float("nan"), 1e10],
            "rooms": pa.array([1, 255, None], pa.uint8()),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "data": [{"city": "Oslo", "tags": ["x", None]}, {"city": None, "tags": []}, None],
            "scores": pa.array([[("a", 1)], [("b", 2)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    second = pa.table({"id": ["p4"] * 5, "position": [7] * 5, "photo": [b"\x00\xff"] * 5})
    pq.write_table(first, folder / "1.parquet", row_group_size=2)
    pq.write_table(second, folder / "2.parquet")
    expected = documents_of_table(read_files(spark, folder))
    assert len(expected) == 8
    collected = Collected(tmp_path / "checkpoint")
    lines = stream_files(spark, folder, at_most=4)
    assert lines.tabular
    collected.run(lines)
    assert documents(collected.rows) == expected
    pq.write_table(pa.table({"id": ["p5"], "colour": ["red"]}), folder / "3.parquet")
    with pytest.raises(Exception, match=r"3.parquet: has the column colour"):
        collected.run(lines)


@pytest.fixture
def log(tmp_path):
    opened = open_log(f"sqlite:{tmp_path}/city.log")
    yield opened
    opened.close()


def test_a_log_after_a_restart(spark, tmp_path, log):
    contents = [f"line {number}".encode() for number in range(1, 8)]
    log.append("input", contents[:5])
    lines = stream_log(spark, f"sqlite:{tmp_path}/city.log", after=1, at_most=2)
    columns = ("position", "appended", "line")
    collected = Collected(tmp_path / "checkpoint", columns)
    with pytest.raises(Exception, match="stopped"):
        collected.run(lines, fail_at=1)
    log.append("input", contents[5:])
    collected.run(lines)
    expected = [tuple(entry) for entry in log.read("input", 1)]
    assert [row[2] for row in expected] == contents[1:]
    assert collected.rows == expected
    assert [len(rows) for rows in collected.batches.values()] == [2, 2, 2]


def test_a_large_log_is_read_by_several_tasks(spark, tmp_path, log):
    contents = [b"%d" % number for number in range(5000)]
    log.append("input", contents)
    table = spark.read.format("shortlist_log").option("log", f"sqlite:{tmp_path}/city.log")
    assert table.load().rdd.getNumPartitions() == 1
    frame = table.option("partitions", 2).load()
    assert frame.rdd.getNumPartitions() == 2
    assert [bytes(row.line) for row in frame.orderBy("position").collect()] == contents
    assert table.option("stream", "rejects").load().collect() == []


def test_lines_of_another_source(spark, tmp_path):
    """Spark's own text files, as Kafka's values are."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "input" / "b.txt").write_text("three\n")
    frame = spark.readStream.text(str(tmp_path / "input"))
    lines = stream_lines(frame.selectExpr("value as line", "length(value) as position"))
    collected = Collected(tmp_path / "checkpoint")
    collected.run(lines)
    assert not lines.tabular
    assert sorted(collected.rows) == [(3, b"one"), (3, b"two"), (5, b"three")]

    unplaced = stream_lines(frame.selectExpr("value as line", "1L as appended"))
    assert unplaced.frame.columns == ["line", "appended"]


def test_a_stream_of_publications(spark, tmp_path):
    """Rows become the lines that a batch makes of them."""
    rows = [("p1", "ads", datetime(2026, 3, 1, 12), 900, 1), ("p2", "ads", None, None, 2)]
    schema = "id string, source string, time timestamp, rent int, position bigint"
    table = spark.createDataFrame(rows, schema)
    table.write.parquet(str(tmp_path / "input"))
    lines = stream_lines(spark.readStream.schema(schema).parquet(str(tmp_path / "input")))
    collected = Collected(tmp_path / "checkpoint")
    collected.run(lines)
    assert lines.tabular
    assert sorted(documents(collected.rows)) == documents_of_table(read_table(table))


@pytest.mark.parametrize("columns", ["'a' as value", "1 as line", "'a' as line, 'b' as other"])
def test_frames_that_are_no_input(spark, columns):
    with pytest.raises(NoInput, match=r"expected .* found "):
        stream_lines(spark.range(1).selectExpr(*columns.split(", ")))
