"""Tasks in other processes: the same answers, from the same process for the same shard."""

import os
import signal
from contextlib import closing
from dataclasses import dataclass

import pytest

from shortlist.live import lanes
from shortlist.live.here import run_here
from shortlist.live.lanes import ProcessGround, Workers, WorkersEnded
from shortlist.log.base import LogUnavailable
from tests.faults.processes import wait_until
from tests.live.test_forking import is_alive


@dataclass(frozen=True)
class Numbered:
    shard: int
    number: int = 0


def doubled(work):
    return 2 * work.number


def whereabouts(work):
    return work.shard, os.getpid()


def refused(work):
    if work.number == 1:
        raise ValueError("one is too few")
    return work.number


def ended_if_told(work):
    """Ends its process unless a file says that it did so before."""
    if os.path.exists(work.number):
        return "done"
    open(work.number, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def ended(work):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def workers():
    with closing(Workers(2)) as workers:
        yield workers


def test_answers_come_in_the_order_of_works(workers):
    works = [Numbered(shard, number) for number, shard in enumerate([3, 0, 1, 2, 2, 0])]
    assert workers(doubled, works) == run_here(doubled, works) == [0, 2, 4, 6, 8, 10]
    assert workers(doubled, []) == []


def test_a_shard_is_always_in_the_same_process(workers):
    works = [Numbered(shard) for shard in range(5)]
    first, again = dict(workers(whereabouts, works)), dict(workers(whereabouts, works[::-1]))
    assert first == again
    assert len({*first.values()}) == 2
    assert os.getpid() not in first.values()


def test_what_a_task_raises_is_raised_here_and_the_next_is_answered(workers):
    works = [Numbered(0, 1), Numbered(1, 2)]
    with pytest.raises(ValueError, match="one is too few"):
        workers(refused, works)
    assert workers(refused, works[1:]) == [2]


def test_one_that_was_killed_is_replaced_and_its_works_done(workers, tmp_path):
    before = dict(workers(whereabouts, [Numbered(0), Numbered(1)]))
    works = [Numbered(0, str(tmp_path / "first")), Numbered(1, str(tmp_path))]
    assert workers(ended_if_told, works) == ["done", "done"]
    after = dict(workers(whereabouts, [Numbered(0), Numbered(1)]))
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)
    os.kill(after[1], signal.SIGKILL)
    assert workers(doubled, [Numbered(1, 4)]) == [8]


def test_answers_to_what_was_asked_ahead_are_passed_over(workers):
    works = [Numbered(shard, number) for number, shard in enumerate([0, 1, 2])]
    workers.ahead(refused, works)
    workers.ahead(whereabouts, works[:1])
    assert workers(doubled, works) == [0, 2, 4]


def test_one_that_ends_by_what_was_asked_ahead_is_replaced(workers):
    workers.ahead(ended, [Numbered(0)])
    assert workers(doubled, [Numbered(0, 4), Numbered(1, 5)]) == [8, 10]


def test_one_that_ends_again_and_again_is_given_up(workers):
    with pytest.raises(WorkersEnded, match="ended 3 times"):
        workers(ended, [Numbered(0)])
    assert workers(doubled, [Numbered(0, 4)]) == [8]


def test_none_is_left_when_they_are_closed():
    workers = Workers(2)
    workers.start()
    found = workers.processes
    workers.close()
    assert len(found) == 2
    for process in found:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    assert not workers.processes


def reserved():
    workers = Workers(2)
    workers.start_here()
    return closing(workers)


def end_and_wait(process):
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not is_alive(process), "its end")


def test_those_in_reserve_come_first(monkeypatch):
    with reserved() as workers:
        spare = [worker.process.pid for worker in workers._spare]
        monkeypatch.setattr(lanes, "fork", lambda _: pytest.fail("nobody of the reserve"))
        for _ in spare:
            end_and_wait(workers.processes[0])
            assert workers(doubled, [Numbered(0, 4), Numbered(1, 5)]) == [8, 10]
        assert workers.processes[0] == spare[0]
    for process in spare:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_who_was_killed_in_the_reserve_replaces_nobody():
    with reserved() as workers:
        for worker in workers._spare:
            end_and_wait(worker.process.pid)
        end_and_wait(workers.processes[1])
        assert workers(doubled, [Numbered(1, 5)]) == [10]


def test_who_has_ended_is_replaced_before_anybody_asks(tmp_path):
    with reserved() as workers:
        first, second = workers.processes
        workers.mend(doubled, lambda: pytest.fail("nobody has ended"))
        end_and_wait(second)
        marks = [Numbered(shard, str(tmp_path / str(shard))) for shard in range(4)]

        def has_begun():
            # the process that forks may tell a moment later that this one has ended
            workers.mend(marked, lambda: marks)
            return (tmp_path / "3").exists()

        wait_until(has_begun, "a mark")
        assert (tmp_path / "1").exists()
        assert not (tmp_path / "0").exists()
        assert workers.processes[0] == first != workers.processes[1]
        assert workers(doubled, [Numbered(0, 4), Numbered(1, 5)]) == [8, 10]


def marked(work):
    open(work.number, "w").close()


def attempted(ground, task):
    """Who was there for it."""
    with ground.lanes() as workers:
        found = workers.processes
        task(workers)
    return found


def test_after_a_failure_workers_stay_unless_it_was_theirs():
    with closing(ProcessGround(2)) as ground:
        before = attempted(ground, lambda workers: None)
        with pytest.raises(LogUnavailable):
            attempted(ground, unavailable)
        assert attempted(ground, lambda workers: None) == before
        with pytest.raises(WorkersEnded):
            attempted(ground, lambda workers: workers(ended, [Numbered(0)]))
        after = attempted(ground, lambda workers: workers._workers[0].ask((doubled, [])))
        assert not {*before} & {*after}
        last = attempted(ground, lambda workers: None)
        assert [one == other for one, other in zip(after, last, strict=True)] == [False, True]


def unavailable(workers):
    raise LogUnavailable("the log is away")
