"""The log as a sink has every batch once and in order, whatever fails in between."""

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from shortlist.live.files import Files
from shortlist.log.base import Log, LogUnavailable, Moved
from shortlist.spark import append_once
from shortlist.spark.append_once import LINES as APPENDED
from shortlist.spark.append_once import AppendOnce
from shortlist.spark.log_format import LogFormat, LogWriter

LINES = StructType().add("line", "string").add("key", "string")


def lines_table(contents, keys=None):
    return pa.table([contents, keys or pa.nulls(len(contents), pa.string())], schema=APPENDED)


@pytest.fixture
def once(tmp_path):
    """Appends lines under a name."""

    def append(log: Log, query: str | None, number: int, *lines: bytes, name: str = "q") -> None:
        files = Files(tmp_path / "staging")
        AppendOnce(log, "deliveries", name, files)(query, number, lines_table(lines))

    return append


@pytest.fixture
def formats(spark):
    spark.dataSource.register(LogFormat)
    return spark


def contents(log: Log, stream: str = "deliveries", key: str | None = None) -> list[bytes]:
    return [entry.content for entry in log.read(stream, 0, key=key)]


class Unreliable:
    """A log that fails before or after a change, or lets others append in between, as told."""

    def __init__(self, log: Log, plan: Sequence[str]) -> None:
        self._log = log
        self._plan = list(plan)
        self.end, self.read, self.register = log.end, log.read, log.register

    def append(self, stream, contents, *, keys=None, expected_end=None):
        return self._change(
            lambda: self._log.append(stream, contents, keys=keys, expected_end=expected_end)
        )

    def put(self, name, content, revision):
        return self._change(lambda: self._log.put(name, content, revision))

    def _change(self, change):
        event = self._plan.pop(0) if self._plan else "works"
        if event == "other":
            self._log.append("deliveries", [b"other"])
        if event == "before":
            raise LogUnavailable(event)
        result = change()
        if event == "after":
            raise LogUnavailable(event)
        return result


@pytest.mark.parametrize("seed", range(200))
def test_a_batch_is_appended_once_whatever_fails(log, once, monkeypatch, seed):
    """Each attempt after a failure has its lines in another order, as a shuffle may bring them."""
    pick = random.Random(seed)
    monkeypatch.setattr(append_once, "PART_ENTRIES", pick.choice((1, 2, 1000)))
    monkeypatch.setattr(append_once, "PART_BYTES", pick.choice((1, 1000)))
    events = ("works", "works", "before", "after", "other")
    written = []
    for number in range(3):
        lines = [b"%d %d" % (number, row) for row in range(pick.randrange(1, 6))]
        while True:
            pick.shuffle(lines)
            try:
                once(
                    Unreliable(log, pick.choices(events, k=pick.randrange(6))), "q", number, *lines
                )
                break
            except LogUnavailable:
                pass
        if pick.random() < 0.3:
            once(log, "q", number, *lines)
        written.append(sorted(lines))
    found = [line for line in contents(log) if line != b"other"]
    for lines in written:
        assert sorted(found[: len(lines)]) == lines
        del found[: len(lines)]
    assert found == []


def test_a_large_batch_comes_in_parts_with_its_keys(log, tmp_path, monkeypatch):
    monkeypatch.setattr(append_once, "PART_ENTRIES", 2)
    lines = lines_table([b"a", b"b", b"c"], ["x", "y", "x"])
    AppendOnce(log, "deliveries", "q", Files(tmp_path))("q", 0, lines)
    assert contents(log, key="x") == [b"a", b"c"]


def test_a_second_driver_of_one_name_is_refused(log, once):
    """The first put its intent, then slept while another driver did the batch."""

    def overtaken(stream, contents, **how):
        log.append = original
        once(log, "q", 0, b"quick")
        return original(stream, contents, **how)

    original, log.append = log.append, overtaken
    with pytest.raises(Moved):
        once(log, "q", 0, b"slow")
    assert contents(log) == [b"quick"]


def test_a_driver_that_was_believed_dead_may_be_faster(log, once):
    """It put its intent and is about to append; another one sees that it has not."""
    with pytest.raises(LogUnavailable):
        once(Unreliable(log, ["works", "before"]), "q", 0, b"old", b"lines")

    def overtaken(stream, contents, **how):
        original(stream, [b"old", b"lines"], expected_end=0)
        return original(stream, contents, **how)

    original, log.append = log.append, overtaken
    once(log, "q", 0, b"lines", b"old")
    assert contents(log) == [b"old", b"lines"]


def test_a_driver_that_was_believed_dead_appends_while_another_one_looks(log, once):
    """The end is taken before: what comes until then is seen, what comes later moves the end."""
    with pytest.raises(LogUnavailable):
        once(Unreliable(log, ["works", "before"]), "q", 0, b"old", b"lines")
    original = log.end

    def overtaken(stream):
        log.end = original
        log.append(stream, [b"old", b"lines"], expected_end=0)
        return original(stream)

    log.end = overtaken
    once(log, "q", 0, b"old", b"lines")
    assert contents(log) == [b"old", b"lines"]


def test_lines_are_known_in_the_order_in_which_another_driver_tried_them(log, once):
    """The first append is on its way while a second driver puts its own intent, and dies."""
    for lines in ((b"old", b"lines"), (b"lines", b"old")):
        with pytest.raises(LogUnavailable):
            once(Unreliable(log, ["works", "before"]), "q", 0, *lines)
    log.append("deliveries", [b"old", b"lines"], expected_end=0)
    once(log, "q", 0, b"lines", b"old")
    assert contents(log) == [b"old", b"lines"]


def test_an_append_is_given_up_when_others_never_pause(log, once, monkeypatch):
    monkeypatch.setattr(append_once, "ATTEMPTS", 3)
    with pytest.raises(Moved, match="others appended to deliveries in between, 3 times"):
        once(Unreliable(log, ["works", "other"] * 3), "q", 0, b"one")


def test_batch_ids_that_start_over_need_a_new_name(log, once):
    once(log, "first", 0, b"one")
    once(log, "first", 1, b"two")
    with pytest.raises(ValueError, match="up to batch 1 by a query with another checkpoint"):
        once(log, "second", 0, b"three")
    with pytest.raises(ValueError, match="a new checkpoint needs a new name"):
        once(log, "first", 0, b"one")
    once(log, "second", 0, b"three", name="r")
    assert contents(log) == [b"one", b"two", b"three"]


def test_a_name_for_one_frame(log, once):
    once(log, None, 0, b"one", b"two")
    once(log, None, 0, b"two", b"one")
    with pytest.raises(ValueError, match="name: q was used for other lines"):
        once(log, None, 0, b"three")
    assert contents(log) == [b"one", b"two"]


@pytest.mark.parametrize(
    ("options", "schema", "problem"),
    [
        ({"stream": "input"}, LINES, "log: expected a log"),
        ({"log": "sqlite:l"}, LINES, "stream: expected a stream of the log"),
        ({"log": "nats://here", "stream": "input"}, LINES, "staging: expected a folder"),
        ({"log": "sqlite:l", "stream": "input", "name": "a/b"}, LINES, "name: expected letters"),
        (
            {"log": "sqlite:l", "stream": "input"},
            StructType().add("line", "string").add("position", "long"),
            "expected the columns line .* found struct<line:string,position:bigint>",
        ),
        ({"log": "sqlite:l", "stream": "input"}, StructType().add("line", "integer"), "line:int"),
    ],
)
def test_options_and_columns_that_mean_nothing(options, schema, problem):
    with pytest.raises(ValueError, match=problem):
        LogWriter(options, schema, overwrite=False)


def test_a_log_is_not_overwritten():
    with pytest.raises(ValueError, match="expected the mode append"):
        LogWriter({"log": "sqlite:l", "stream": "input"}, LINES, overwrite=True)


@pytest.mark.spark
def test_a_frame_in_the_order_of_its_partitions(formats, tmp_path, url, log):
    frame = formats.range(3000).repartitionByRange(3, "id").sortWithinPartitions("id")
    frame = frame.selectExpr("rpad(id, 100, '.') as line", "string(id % 2) as key")
    writer = frame.write.format("shortlist_log").mode("append")
    writer = writer.options(log=url, stream="deliveries", name="import")
    writer.save()
    expected = [str(number).ljust(100, ".").encode() for number in range(3000)]
    assert contents(log) == expected
    assert contents(log, key="1") == expected[1::2]
    writer.save()
    assert contents(log) == expected
    assert [
        path for path in Path(f"{tmp_path}/city.log.staging").rglob("*") if path.is_file()
    ] == []
    with pytest.raises(Exception, match="was used for other lines"):
        frame.limit(5).write.format("shortlist_log").mode("append").options(
            log=url, stream="deliveries", name="import"
        ).save()
    with pytest.raises(Exception, match="in every row, found null"):
        formats.sql("select string(null) as line").write.format("shortlist_log").mode(
            "append"
        ).options(log=url, stream="deliveries").save()
    unnamed = formats.sql("select binary('last') as line").write.format("shortlist_log")
    for _ in range(2):
        unnamed.mode("append").options(log=url, stream="deliveries").save()
    assert contents(log)[3000:] == [b"last", b"last"]


@pytest.mark.spark
def test_a_query_from_log_to_log(formats, tmp_path, url, log):
    """Also when the last batch is committed again, and with a fresh checkpoint."""
    lines = [b"%03d" % number for number in range(5)]
    log.append("input", lines)

    def run(checkpoint: str) -> None:
        entries = formats.readStream.format("shortlist_log").options(log=url, at_most=3).load()
        (
            entries.select("line")
            .writeStream.format("shortlist_log")
            .options(log=url, stream="deliveries", checkpointLocation=f"{tmp_path}/{checkpoint}")
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )

    run("first")
    assert contents(log) == lines
    for name in ("1", ".1.crc"):
        Path(f"{tmp_path}/first/commits/{name}").unlink(missing_ok=True)
    run("first")
    assert contents(log) == lines
    run("second")
    assert contents(log) == lines + lines
