"""One driver at a time: who was there before neither writes nor removes what the next one uses."""

import threading

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import log_stream, running
from shortlist.live.driver import Driver, Finished
from shortlist.live.files import epoch_of
from shortlist.live.lanes import ProcessGround
from shortlist.live.log_stream import LogStream, StillBusy
from shortlist.live.registers import take_over
from shortlist.live.rescaling import rescale
from shortlist.live.running import Running, Wanted
from shortlist.log.base import DELIVERIES, INPUT, Moved
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Limits, Settings
from tests.live.test_driver_faults import at, beat, made, publications


def driver_of(deployment):
    return Driver(
        deployment.registers,
        deployment.files,
        deployment.settings,
        deployment.everywhere,
        deployment.outlet,
    )


def test_who_was_there_before_commits_nothing_more():
    deployment = made()
    before = deployment.driver
    deployment.start()
    with pytest.raises(Moved, match="another driver has taken over"):
        before.check_epoch()
    with pytest.raises(Moved):
        before.run_batch(deployment.read([(1, at(1, "x")), (2, beat(2))]))
    assert deployment.outlet.deliveries == []
    deployment.run([(1, at(1, "x")), (2, beat(2))])
    assert publications(deployment.outlet.deliveries) == ["x"]


def test_who_was_there_before_removes_nothing_that_the_next_one_has_written():
    """However long it slept, and whatever it takes for needed."""
    deployment = made()
    deployment.run([(1, at(1, "x")), (2, beat(2))])
    before = deployment.driver
    deployment.start()
    deployment.run([(3, at(3, "y")), (4, beat(4))])
    written = {*deployment.driver.manifest.files} - {*before.manifest.files}
    assert written
    assert {epoch_of(name) for name in written} == {before.manifest.epoch + 1}
    before._files.collect({*before.manifest.files}, retention=0)
    deployment.start()
    deployment.run([(5, at(5, "z")), (6, beat(6))])
    assert publications(deployment.outlet.deliveries) == ["x", "y", "z"]


def test_a_rescale_has_an_epoch_of_its_own():
    deployment = made()
    before = deployment.driver
    rescale(deployment.registers, deployment.files, 2, Limits())
    before._files.collect({*before.manifest.files}, retention=0)
    with pytest.raises(Moved):
        before.run_batch(deployment.read([(1, at(1, "x"))]))
    deployment.start()
    assert len(deployment.driver.manifest.shards) == 2


def test_whoever_takes_over_gets_past_one_that_commits_all_the_time(monkeypatch):
    deployment = made()
    log, put, times = deployment.registers, deployment.registers.put, iter(range(5))

    def after_another(name, content, revision):
        if next(times, None) is not None:
            put(name, content, revision)
        return put(name, content, revision)

    monkeypatch.setattr(log, "put", after_another)
    epoch = deployment.driver.manifest.epoch
    assert take_over(log)[1].epoch == epoch + 6


def test_what_the_last_batch_led_to_is_put_out_after_the_end(monkeypatch):
    deployment = made()

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(deployment.outlet, "deliver", killed)
        with pytest.raises(KeyboardInterrupt):
            deployment.run([(1, at(1, "x"))], last=True)
    assert deployment.registers.end(DELIVERIES) == 0
    with pytest.raises(Finished):
        deployment.start()
    assert publications(deployment.outlet.deliveries) == ["x"]


def test_both_may_put_out_the_same_at_the_same_time(monkeypatch):
    """The next one finds that somebody was faster, and looks again."""
    deployment = made()
    log, append = deployment.registers, deployment.registers.append

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(deployment.outlet, "deliver", killed)
        with pytest.raises(KeyboardInterrupt):
            deployment.run([(1, at(1, "x")), (2, beat(2))])

    def after_another(*words, **more):
        monkeypatch.setattr(log, "append", append)
        append(*words, **more)
        return append(*words, **more)

    monkeypatch.setattr(log, "append", after_another)
    driver_of(deployment)
    assert [*publications(entry.content for entry in log.read(DELIVERIES, 0))] == ["x"]


@pytest.fixture
def stuck():
    """A batch that does not end before it is told to."""
    deployment, begun, ending = made(), threading.Event(), threading.Event()

    def commit_batch(items, commands, laps, admitted, ready):
        begun.set()
        ending.wait(60)

    deployment.registers.append(INPUT, [at(1, "x").encode()])
    deployment.driver.commit_batch = commit_batch
    yield deployment, begun
    ending.set()


def test_stopping_does_not_wait_for_ever(stuck, monkeypatch):
    monkeypatch.setattr(log_stream, "STOP_SECONDS", 0.01)
    deployment, begun = stuck
    stream = LogStream(deployment.registers, deployment.driver, 10, lambda *_: None)
    with stream:
        stream.start()
        begun.wait(60)
        with pytest.raises(StillBusy, match=r"batch 1 has not come to its end within 0\.01 s"):
            stream.stop()


class Quiet:
    """Hears that a deployment has started."""

    def __init__(self):
        self.has_started, self.failures = threading.Event(), []

    def compiling(self, left): ...

    def started(self, driver, log):
        self.has_started.set()

    def ran(self, *_): ...

    def failed(self, error, pause):
        self.failures.append(error)

    def stopped(self): ...


def test_a_deployment_that_nobody_writes_to_stops_when_another_has_taken_over(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.0)
    wanted = Wanted(
        log=f"sqlite:{tmp_path}/city.log",
        folder=tmp_path / "state",
        registry=registry_from_documents({}),
        settings=Settings(lateness=0),
        heartbeat=20_000,
    )
    observer, ended = Quiet(), []

    def run():
        try:
            Running(wanted, ProcessGround(1), observer).run()
        except Moved as error:
            ended.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert observer.has_started.wait(60)
    log = SqliteLog(tmp_path / "city.log")
    take_over(log)
    thread.join(60)
    assert ended == ["another driver has taken over"]
    assert observer.failures == []
