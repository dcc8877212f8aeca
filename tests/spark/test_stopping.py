"""A stream that is stopped while a batch is under way, or about to begin: nobody waits for ever."""

import threading
from types import SimpleNamespace

import pytest

from shortlist.live.files import Files
from shortlist.live.log_stream import StillBusy
from shortlist.spark import streaming
from shortlist.spark.streaming import STOPPED, Stopped, Stream

PATIENCE = 30.0


class Query:
    """A query that stops when its next batch has returned, as Spark's does."""

    def __init__(self, stream):
        self.stream = stream
        self.heard = []

    def stop(self):
        batch = threading.Thread(target=self._batch)
        batch.start()
        batch.join(PATIENCE)
        assert not batch.is_alive(), "the batch waits for whoever waits for it"

    def _batch(self):
        try:
            self.stream._batch(None, 2)
        except Stopped as error:
            self.heard.append(str(error))

    def exception(self):
        return None


@pytest.fixture
def stream(tmp_path):
    """With a driver that takes no items but the last."""
    finished = []
    driver = SimpleNamespace(
        manifest=SimpleNamespace(number=4, pending=()),
        files=Files(tmp_path),
        run_batch=lambda items, last: finished.append(last),
        finished=finished,
    )
    lines = SimpleNamespace(frame=SimpleNamespace(columns=[]), tabular=False)
    stream = Stream(lines, driver, tmp_path)
    stream._query = Query(stream)
    return stream


def test_a_batch_that_begins_meanwhile_is_turned_away(stream):
    stream.finish()
    assert stream._query.heard == [STOPPED]
    assert stream._driver.finished == [True]


def test_a_batch_that_does_not_end_is_given_up(stream, monkeypatch):
    monkeypatch.setattr(streaming, "STOP_SECONDS", 0.01)
    begun, ending = threading.Event(), threading.Event()

    def run_batch(frame, number):
        begun.set()
        ending.wait(PATIENCE)

    stream._run_batch = run_batch
    batch = threading.Thread(target=stream._batch, args=(None, 1))
    batch.start()
    begun.wait(PATIENCE)
    with pytest.raises(StillBusy, match=r"batch 5 has not come to its end within 0\.01 s"):
        stream.finish()
    assert stream._driver.finished == []
    ending.set()
    batch.join(PATIENCE)
