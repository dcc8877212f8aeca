"""A log as a source, without Spark: offsets, cuts, limits."""

import pickle

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from shortlist.log.base import LogUnavailable
from shortlist.log.opening import open_log
from shortlist.spark import log_format as log_source
from shortlist.spark.log_format import LEAST_ENTRIES, LogStream, LogStreamReader


def test_offsets_follow_the_limit_and_the_log(url, log):
    reader = LogStreamReader({"log": url, "after": "1", "at_most": "2"})
    assert reader.getDefaultReadLimit() == ReadMaxRows(2)
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadMaxRows(2)) == start == {"offset": 1}
    log.append("input", [b"one", b"two", b"three", b"four"])
    assert reader.latestOffset(start, ReadMaxRows(2)) == {"offset": 3}
    assert reader.latestOffset(start, ReadAllAvailable()) == {"offset": 4}
    reader.prepareForTriggerAvailableNow()
    log.append("input", [b"five"])
    assert reader.latestOffset({"offset": 3}, ReadMaxRows(2)) == {"offset": 4}
    assert reader.latestOffset({"offset": 4}, ReadMaxRows(2)) == {"offset": 4}
    assert reader.reportLatestOffset() == {"offset": 5}
    reader.stop()


def test_a_micro_batch_has_so_many_bytes_at_most(url, log):
    """But for its last entry, which may be larger by itself."""
    log.append("input", [b"four"] * 7 + [b"x" * 100, b"one"])
    reader = LogStreamReader({"log": url, "most_bytes": "10"})
    ends = [0]
    while ends[-1] < 9:
        ends.append(reader.latestOffset({"offset": ends[-1]}, ReadAllAvailable())["offset"])
    assert ends == [0, 3, 6, 8, 9]
    reader.stop()


def test_a_log_that_lost_entries_is_reported(url, log):
    log.append("input", [b"one"])
    reader = LogStreamReader({"log": url})
    with pytest.raises(LogUnavailable, match="input was known up to 2, and ends at 1"):
        reader.latestOffset({"offset": 2}, ReadAllAvailable())
    (piece,) = reader.partitions({"offset": 0}, {"offset": 2})
    with pytest.raises(LogUnavailable, match="the log lost entries, or is another one"):
        list(reader.read(piece))
    reader.stop()


@pytest.mark.parametrize("partitions", [1, 3, 100])
def test_a_range_of_offsets_is_cut_without_gaps(partitions):
    stream = LogStream({"log": "sqlite:none", "partitions": str(partitions)})
    for after, until in ((0, 0), (0, 1), (7, 2007), (7, 2008), (0, 100_000)):
        cuts = [part.value for part in stream.cut(after, until)]
        assert len(cuts) == min(partitions, -(-(until - after) // LEAST_ENTRIES))
        assert [n for start, end in cuts for n in range(start, end)] == list(range(after, until))


def test_planning_keeps_one_log_that_is_not_pickled(url, log, monkeypatch):
    opened = []
    monkeypatch.setattr(log_source, "open_log", lambda url: opened.append(url) or open_log(url))
    reader = LogStreamReader({"log": url})
    assert opened == []
    log.append("input", [b"one"])
    first = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    log.append("input", [b"two"])
    assert reader.latestOffset(first, ReadAllAvailable()) == {"offset": 2}
    copy = pickle.loads(pickle.dumps(reader))
    (piece,) = copy.partitions({"offset": 0}, {"offset": 2})
    assert len(opened) == 1
    assert [batch["line"].to_pylist() for batch in copy.read(piece)] == [[b"one", b"two"]]
    reader.stop()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "log: expected a log such as sqlite:city.log, found none"),
        ({"log": "sqlite:l", "at_most": "0"}, "at_most: expected a whole number of at least 1"),
        ({"log": "sqlite:l", "after": "-1"}, "after: expected a whole number of at least 0"),
    ],
)
def test_options_that_mean_nothing(options, problem):
    with pytest.raises(ValueError, match=problem):
        LogStreamReader(options)
