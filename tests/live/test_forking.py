"""Processes that are forked from this one, or from another that imports the same."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.live.forking import fork
from tests.faults.processes import wait_until

PROGRAM = """
import os, signal, threading
from tests.live.test_forking import tell_parents
from shortlist.live.forking import fork_here

if __name__ == "__main__":
    if {with_threads}:
        threading.Thread(target=signal.pause, daemon=True).start()
    children = [fork_here(tell_parents) for _ in range(2)]
    for process, connection in children:
        print(process.pid, connection.recv() == os.getpid(), flush=True)
    signal.pause()
"""


def tell_parents(asked):
    """Who has forked it; then it waits until nobody can ask any more."""
    asked.send(os.getppid())
    try:
        asked.recv()
    except EOFError:
        return


@pytest.mark.parametrize("with_threads", [False, True])
def test_children_end_with_whoever_asked_for_them(tmp_path, with_threads):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(with_threads=with_threads))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    command = [sys.executable, str(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        told = [process.stdout.readline().split() for _ in range(2)]
        # one with threads is not forked itself
        assert [is_ours for _, is_ours in told] == [str(not with_threads)] * 2
        for pid, _ in told:
            os.kill(int(pid), signal.SIGINT)  # as a terminal would
        assert all(is_alive(pid) for pid, _ in told)
        process.send_signal(signal.SIGKILL)
    for pid, _ in told:
        wait_until(lambda pid=pid: not is_alive(pid), "the end of a child")


def is_alive(pid):
    """Whether it runs: one that has ended may still wait for its parent to hear of it."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_arguments():
    process, connection = fork(send_back, 1, "two")
    assert connection.recv() == (1, "two")
    process.join()


def send_back(asked, *arguments):
    asked.send(arguments)
