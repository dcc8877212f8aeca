"""Streaming DataFrames of the user's own, ranked: the same deliveries, also over restarts."""

import json
import math
import random
import shutil
import threading
from contextlib import suppress
from functools import partial
from itertools import count

import pytest

import shortlist
from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.input_files import NoInput
from shortlist.intake.reading import LineReader
from shortlist.live.driver import Driver, Finished
from shortlist.live.locking import AlreadyRunning
from shortlist.live.same_registry import OtherRegistry
from shortlist.log.durable import NotLocal
from shortlist.model.items import COMMAND, PUBLICATION, Wanted
from shortlist.model.settings import Limits, Settings
from shortlist.model.vocabulary import Vocabulary
from shortlist.spark import dataframes
from shortlist.spark.streaming import Stream
from tests.faults.processes import wait_until
from tests.strategies import registry, seeded, timeline

pytestmark = pytest.mark.spark


def text_stream(spark, folder):
    """Spark's own source of text files, with their lines as they are."""
    return spark.readStream.text(str(folder)).withColumnRenamed("value", "line")


def delivered(out):
    return [
        line
        for file in sorted((out / "deliveries").glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]


def in_order(vocabulary, lines):
    """The lines of a micro-batch in the order that SEMANTICS.md, section 1 gives them."""
    read = LineReader(vocabulary, Limits(), Wanted())
    items = read.lines(range(len(lines)), [line.encode() for line in lines]).batch.to_pylist()
    kinds = {COMMAND: 0, PUBLICATION: 1}

    def key(at):
        found = items[at]
        time = math.inf if found["time"] is None else found["time"]
        kind = kinds.get(found["kind"], 2)
        return time, kind, found["source"] or "", found["id"] or "", lines[at]

    return [lines[at] for at in sorted(range(len(lines)), key=key)]


def texts(deliveries):
    return [json.dumps(each.document(), ensure_ascii=False) for each in deliveries]


def test_another_source_gives_what_the_engine_gives(tmp_path, spark):
    pick = seeded(21)
    made, lines = registry_from_documents(registry(pick)), timeline(pick, 40)
    source, state, out = tmp_path / "in", tmp_path / "state", tmp_path / "out"
    source.mkdir()
    expected = []
    for number, part in enumerate((lines[:15], lines[15:])):
        (source / f"{number}.txt").write_text("\n".join(part))
        expected += in_order(made.vocabulary, part)
        ranked = shortlist.rank_stream(text_stream(spark, source), made, state, out, shards=2)
        with pytest.raises(AlreadyRunning):
            shortlist.rank_stream(text_stream(spark, source), made, state, out)
        ranked.process_all_available()
        ranked.stop() if number == 0 else ranked.finish()
    assert delivered(out) == texts(replay(made, expected, Settings(lateness=0)).deliveries)


def offer(number, **more):
    time = f"2026-03-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
    return {"id": f"f{number}", "source": "ads", "time": time, "data": {"rent": number}, **more}


EVERYTHING = {"subscriptions": [{"id": "all"}]}


def write_lines(file, documents):
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{json.dumps(each)}\n" for each in documents))


def publications(out):
    return [json.loads(line)["publication"] for line in delivered(out)]


def test_nothing_is_late_because_of_its_own_batch(tmp_path, spark):
    """Three files in order of time, of which Spark reads the largest first; one is backwards."""
    offers = [offer(number) for number in range(60)]
    write_lines(tmp_path / "in" / "1.jsonl", offers[:10])
    write_lines(tmp_path / "in" / "2.jsonl", offers[10:30][::-1])
    write_lines(tmp_path / "in" / "3.jsonl", offers[30:])
    frame = text_stream(spark, tmp_path / "in")
    ranked = shortlist.rank_stream(frame, EVERYTHING, tmp_path / "state", tmp_path / "out")
    ranked.process_all_available()
    ranked.finish()
    assert ranked.rejects == {}
    assert publications(tmp_path / "out") == [each["id"] for each in offers]


class Killed(Exception):
    """What a test ends a batch with."""


def test_a_batch_is_cut_and_goes_on_where_it_was_killed(tmp_path, spark, monkeypatch):
    """A driver ends between two cuts, before a commit and behind one, or is stopped there."""
    monkeypatch.setattr(dataframes, "Stream", partial(Stream, most_lines=13))
    schedule = {3: "before", 5: "behind", 6: "stop"}
    calls, taken, stopping = count(1), [], []
    run_batch = Driver.run_batch

    def ending(driver, items, **how):
        end = None if how.get("last") else schedule.get(next(calls))
        if end == "before":
            raise Killed
        if end == "stop":
            stopping.append(threading.Thread(target=ranked.stop))
            stopping[0].start()
            wait_until(lambda: ranked._is_stopping, "a stop")
        report = run_batch(driver, items, **how)
        taken.append((len(items), how.get("batch")))
        if end == "behind":
            raise Killed
        return report

    monkeypatch.setattr(Driver, "run_batch", ending)
    # the wish for `rent` comes with a command, behind the first cut
    wish = {"time": offer(20)["time"], "subscribe": {"id": "cheap", "where": "rent < 70"}}
    offers = [offer(number) for number in range(100)]
    mixed = [*offers, wish, offer(3), {"id": None}]
    random.Random(3).shuffle(mixed)
    for number in range(3):
        write_lines(tmp_path / "in" / f"{number}.jsonl", mixed[number::3])
    ends = 0
    for _ in range(len(schedule) + 1):
        frame = text_stream(spark, tmp_path / "in")
        ranked = shortlist.rank_stream(frame, EVERYTHING, tmp_path / "state", tmp_path / "out")
        with suppress(Exception):  # Spark's, with what went wrong in its texts
            ranked.process_all_available()
            break
        ends += 1
        with suppress(Killed):
            ranked.stop()
    stopping[0].join()
    ranked.finish()
    assert ends == len(schedule)
    lines = in_order(Vocabulary(), [json.dumps(each) for each in mixed])
    expected = replay(registry_from_documents(EVERYTHING), lines, Settings(lateness=0))
    assert delivered(tmp_path / "out") == texts(expected.deliveries)
    assert ranked.rejects == {"duplicate": 1, "unreadable": 1}
    sizes = [size for size, _ in taken[:-1]]
    assert sum(sizes) == len(mixed)
    assert max(sizes) == 13
    # those that a kill left behind their commit go later, with all that nobody needs
    assert len([*(tmp_path / "state" / "files").glob("piece-*")]) <= 2


def test_rejects_are_counted_and_told(tmp_path, spark, caplog):
    """Rows of a table that lack an id, and one that is late, by the position that it has."""
    rows = [(None, 1, 1, 9), (None, 2, 2, 9), ("a", 3, 3, 9), ("b", 4, 1, 9), (None, None, 1, 9)]
    table = spark.createDataFrame(rows, "id string, position long, minute int, rent long")
    table = table.selectExpr(
        "id", "'ads' source", "concat('2026-03-01T09:0', minute, ':00Z') time", "position", "rent"
    )
    table.write.parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    ranked = shortlist.rank_stream(frame, EVERYTHING, tmp_path / "state", tmp_path / "out")
    ranked.process_all_available()
    ranked.finish()
    assert ranked.rejects == {"unreadable": 3, "late": 1}
    assert publications(tmp_path / "out") == ["a"]
    (said,) = [each for each in caplog.records if each.name == "shortlist.streaming"]
    assert said.levelname == "WARNING"
    assert said.getMessage() == (
        "batch 1: 4 of 5 rows were rejected: 3 unreadable, 1 late;"
        " the first one: position: is missing"
    )


def test_positions_that_come_again_are_rejected_however_batches_are_cut(
    tmp_path, spark, monkeypatch
):
    """In the batch of the first one, or behind it; another query passes over what is known."""
    # of about 83 bytes a line: the third one crosses the limit
    monkeypatch.setattr(dataframes, "Stream", partial(Stream, most_bytes=200))
    rows = [(json.dumps(offer(at)), at) for at in (1, 2, 3, 4, 5, 6, 7)]
    again = [(json.dumps(offer(at + 70)), at) for at in (2, 3, 6)]
    schema = "line string, position long"
    spark.createDataFrame(rows + again, schema).write.parquet(str(tmp_path / "in"))
    for at in range(2):
        frame = spark.readStream.schema(schema).parquet(str(tmp_path / "in"))
        ranked = shortlist.rank_stream(frame, EVERYTHING, tmp_path / "state", tmp_path / "out")
        ranked.process_all_available()
        ranked.finish() if at else ranked.stop()
        assert at or ranked.manifest.number >= math.ceil(len(rows + again) / 3)
        shutil.rmtree(tmp_path / "state" / "checkpoint")
    assert ranked.rejects == {"unreadable": 3}
    assert publications(tmp_path / "out") == [f"f{at}" for at in range(1, 8)]


def test_streams_and_batches_share_a_session(tmp_path, spark):
    """Two streams and several `rank` at a time give what each of them gives alone."""
    offers = [offer(number) for number in range(40)]
    table = spark.createDataFrame(
        [(each["id"], each["source"], each["time"], each["data"]["rent"]) for each in offers],
        "id string, source string, time string, rent long",
    )
    registries = [
        {"subscriptions": [{"id": f"s{at}", "where": f"rent >= {at * 10}"} for at in some]}
        for some in ((0, 1), (2, 3))
    ]
    expected = [
        texts(
            replay(
                registry_from_documents(each), [*map(json.dumps, offers)], Settings(lateness=0)
            ).deliveries
        )
        for each in registries
    ]
    wrong, ranks = [], []

    def rank():
        while not wrong and not is_done.is_set():
            found = shortlist.rank(table, registries[0], shards=2).count()
            ranks.append(found)
            if found != len(expected[0]):
                wrong.append(found)

    is_done = threading.Event()
    threads = [threading.Thread(target=rank) for _ in range(2)]
    streams = []
    for at, made in enumerate(registries):
        write_lines(tmp_path / f"in{at}" / "0.jsonl", offers[:10])
        frame = text_stream(spark, tmp_path / f"in{at}")
        places = tmp_path / f"state{at}", tmp_path / f"out{at}"
        streams.append(shortlist.rank_stream(frame, made, *places, shards=2))
    for each in threads:
        each.start()
    for part in range(1, 4):
        for at in range(2):
            write_lines(tmp_path / f"in{at}" / f"{part}.jsonl", offers[part * 10 : part * 10 + 10])
        for each in streams:
            each.process_all_available()
    is_done.set()
    for thread in threads:
        thread.join()
    for each in streams:
        each.finish()
    assert ranks
    assert not wrong
    assert [delivered(tmp_path / f"out{at}") for at in range(2)] == expected


def test_another_registry_is_refused(tmp_path, spark):
    """What a state began with is right, and what commands have made of it since."""
    first = {"id": "s", "where": "rent < 30"}
    changed = {"subscriptions": [{**first, "score": "rent"}, {"id": "new"}]}
    changes = [
        {"time": offer(1)["time"], "update": {"subscription": "s", "score": "rent"}},
        {"time": offer(1)["time"], "subscribe": {"id": "new"}},
    ]
    write_lines(tmp_path / "in" / "0.jsonl", [offer(0), *changes, offer(2)])
    frame = text_stream(spark, tmp_path / "in")
    places = tmp_path / "state", tmp_path / "out"

    def start(registry):
        stream = shortlist.rank_stream(frame, registry, *places)
        stream.process_all_available()
        stream.stop()

    start({"subscriptions": [first]})
    start({"subscriptions": [first]})
    start(changed)
    with pytest.raises(OtherRegistry, match="subscription other is not in the state, subscription"):
        start({"subscriptions": [{**first, "score": "-rent"}, {"id": "other"}]})
    start(changed)  # what was refused has changed nothing


@pytest.mark.parametrize("url", ["s3a://bucket/city", "file:///srv/city", "dbfs:/city"])
def test_state_and_output_are_on_this_machine(tmp_path, spark, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    frame = text_stream(spark, tmp_path)
    for places in ((url, "out"), ("state", url)):
        with pytest.raises(NotLocal, match=f"{url}: expected a path that this machine mounts"):
            shortlist.rank_stream(frame, EVERYTHING, *places)
    assert not [*tmp_path.iterdir()]


def test_a_table_of_publications_with_positions(tmp_path, spark):
    (tmp_path / "in").mkdir()
    rows = [("f1", 2, 900), ("f2", 1, 800), ("f3", 3, 700)]
    table = spark.createDataFrame(rows, "id string, position long, rent long")
    table = table.selectExpr(
        "id", "position", "rent", "'ads' source", "'2026-03-01T09:00:00Z' time"
    )
    table.write.mode("append").parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    cheapest = {"id": "best", "score": "-rent", "policy": {"kind": "top-k", "k": 1}}
    ranked = shortlist.rank_stream(
        frame, {"subscriptions": [cheapest]}, tmp_path / "state", tmp_path / "out"
    )
    ranked.process_all_available()
    ranked.finish()
    found = [json.loads(line)["publication"] for line in delivered(tmp_path / "out")]
    assert found == ["f2", "f3"]


def test_a_column_can_be_the_arrival(tmp_path, spark):
    """Publications need no time of their own, and whatever they say is an attribute."""
    (tmp_path / "in").mkdir()
    rows = [("f1", 1, 900, 0), ("f2", 2, 950, 1200), ("f3", 3, 990, 1000), ("f4", 4, 980, 5400)]
    table = spark.createDataFrame(rows, "id string, position long, rent long, seconds long")
    table = table.selectExpr(
        "id", "position", "rent", "'ads' source", "timestamp_seconds(seconds) ingested"
    )
    table.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    window = {"kind": "window", "k": 1, "window": "1h"}
    registry = {"subscriptions": [{"id": "best", "score": "-rent", "policy": window}]}
    places = tmp_path / "state", tmp_path / "out"
    settings = Settings(time="arrival")
    with pytest.raises(NoInput, match="expected the name of a column as `arrival`"):
        shortlist.rank_stream(frame, registry, *places, settings)
    with pytest.raises(NoInput, match=r"taken: expected a column of timestamps .* found none in"):
        shortlist.rank_stream(frame, registry, *places, settings, arrival="taken")
    ranked = shortlist.rank_stream(frame, registry, *places, settings, arrival="ingested")
    ranked.process_all_available()
    ranked.finish()
    found = [json.loads(line) for line in delivered(tmp_path / "out")]
    assert [(each["publication"], each["time"]) for each in found] == [
        ("f1", "1970-01-01T00:00:00.000Z"),
        ("f2", "1970-01-01T01:00:00.000Z"),
        ("f4", "1970-01-01T01:30:00.000Z"),
    ]
    with pytest.raises(Finished):
        shortlist.rank_stream(frame, registry, *places, settings, arrival="ingested")
