"""Kernels are there before a deployment is ready, and compiled once."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from shortlist.engine.admission import Admission
from shortlist.intake.files import registry_from_documents
from shortlist.live import rehearsal, warming
from shortlist.live.lanes import ProcessGround
from shortlist.live.running import Running, Wanted
from shortlist.live.warming import (
    CHAIN,
    FUZZY,
    MATCHING,
    NICE,
    PARTS,
    KernelCompiler,
    missing,
    parts_of,
    rehearse_once,
)
from shortlist.model.settings import Settings

TOP_K = {"kind": "top-k", "k": 1}
NEEDED = [
    ({}, [MATCHING]),
    ({"subscriptions": [{"id": "a", "where": "rent < 900", "policy": TOP_K}]}, [MATCHING, "top-k"]),
    ({"subscriptions": [{"id": "a", "where": "rent\nis around(900, 50)"}]}, [MATCHING, FUZZY]),
    ({"subscriptions": [{"id": "a", "where": "rent IS around(900, 50)"}]}, [MATCHING, FUZZY]),
    (
        {"vocabulary": {"mood": {"type": "string", "terms": {"glad": {"values": {"happy": 1}}}}}},
        [MATCHING, FUZZY],
    ),
    (
        {
            "shortlists": [
                {"id": "s", "subscriber": "u", "policy": [TOP_K, {"kind": "digest", "every": "1h"}]}
            ]
        },
        [MATCHING, "top-k", "digest", CHAIN],
    ),
]


@pytest.mark.parametrize(("document", "parts"), NEEDED)
def test_a_registry_needs_what_its_policies_and_conditions_call(document, parts):
    registry = registry_from_documents(document)
    assert parts_of(Admission(registry, Settings(lateness=0)).roster) == parts


def test_every_part_has_a_registry_with_its_policies():
    for part in PARTS:
        registry = registry_from_documents(rehearsal.registry_of(part))
        found = parts_of(Admission(registry, Settings(lateness=0)).roster)
        assert part in found
        assert {*found} <= {MATCHING, FUZZY, part} or part == CHAIN


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """An empty folder for what was compiled; what is rehearsed in this process is written down."""
    monkeypatch.setattr(warming, "kept_in", lambda kernel: tmp_path)
    rehearsed = []
    monkeypatch.setattr(rehearsal, "rehearse", rehearsed.append)
    yield rehearsed
    warming._stamp.cache_clear()


def test_a_part_is_rehearsed_once_for_the_same_sources_and_cpu(kept, monkeypatch):
    assert missing(PARTS) == [*PARTS]
    rehearse_once("window")
    rehearse_once("window")
    assert kept == ["window"]
    assert "window" not in missing(PARTS)
    monkeypatch.setattr(warming, "VERSIONS", (0, "other"))
    warming._stamp.cache_clear()
    assert "window" in missing(PARTS)


def test_a_part_that_fails_is_not_said_to_be_there(kept, monkeypatch):
    def fail(part):
        raise OSError("disk full")

    monkeypatch.setattr(rehearsal, "rehearse", fail)
    with pytest.raises(OSError, match="disk full"):
        rehearse_once("window")
    assert "window" in missing(PARTS)


def test_processes_that_want_the_same_part_wait_for_the_first(kept, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def rehearse(part):
        kept.append(part)
        begun.set()
        assert go_on.wait(60)

    monkeypatch.setattr(rehearsal, "rehearse", rehearse)
    first, second = (threading.Thread(target=rehearse_once, args=("cap",)) for _ in range(2))
    first.start()
    assert begun.wait(60)
    second.start()
    go_on.set()
    first.join(60)
    second.join(60)
    assert kept == ["cap"]


def test_a_failure_is_logged_and_the_others_are_compiled(caplog, monkeypatch):
    monkeypatch.setattr(
        warming, "BEGIN", "import sys; sys.exit('no room' if sys.argv[1] == 'cap' else 0)"
    )
    told = []
    with closing(KernelCompiler(at_once=2)) as compiler:
        compiler.compile([MATCHING, "cap", "window"], told.append)
    assert [record.getMessage() for record in caplog.records] == [
        "kernels of cap were not compiled: no room"
    ]
    assert told == []  # nothing was really compiled, so there is nothing to say


def test_progress_is_told_once_a_kernel_is_compiled(monkeypatch):
    monkeypatch.setattr(warming, "BEGIN", f"print('{warming.COMPILING}')")
    told = []
    with closing(KernelCompiler()) as compiler:
        compiler.compile([MATCHING, "cap", "window"], told.append)
    assert told == [[MATCHING, "cap", "window"], ["cap", "window"], ["window"], []]
    assert compiler._processes == set()


class SlowEvent(threading.Event):
    """Leaves other threads time to ask, too, before the caller acts on the answer."""

    def is_set(self):
        answer = super().is_set()
        time.sleep(0.3)
        return answer


def test_parts_that_are_compiled_together_begin_once(monkeypatch):
    monkeypatch.setattr(warming, "BEGIN", f"print('{warming.COMPILING}')")
    slow = SimpleNamespace(**vars(threading) | {"Event": SlowEvent})
    monkeypatch.setattr(warming, "threading", slow)
    told = []
    with closing(KernelCompiler(at_once=2)) as compiler:
        compiler.compile(["cap", "window"], told.append)
    # once at the beginning; the two may have ended by the time that the end of one is told
    assert [len(left) for left in told].count(2) == 1


WAITS = "import sys; print('{}', flush=True); {}sys.stdin.read()"


def test_processes_end_when_the_compiler_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(warming, "BEGIN", WAITS.format(warming.COMPILING, ""))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = threading.Event()
    compiler = KernelCompiler()
    task = threading.Thread(
        target=compiler.compile, args=([MATCHING, "cap"], lambda _: begun.set())
    )
    task.start()
    assert begun.wait(60)
    compiler.close()
    task.join(60)
    assert not task.is_alive()
    assert [*tmp_path.iterdir()] == []


PARENT = """
import os
from shortlist.live import warming
warming.BEGIN = (
    "import os, sys; sys.stderr = open(os.devnull); print('compiling', flush=True);"
    "open({file!r}, 'w').write(str(os.getpid()));"
    "from shortlist.live.warming import _end_with_parent; _end_with_parent()"
)
warming.KernelCompiler().compile(["cap"], lambda left: os._exit(9))
"""


def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    file = str(tmp_path / "pid")
    done = subprocess.run([sys.executable, "-c", PARENT.format(file=file)], check=False)
    assert done.returncode == 9
    for _ in range(600):
        if not _runs(file):
            return
        threading.Event().wait(0.05)
    pytest.fail("it still runs")


def _runs(file):
    try:
        os.kill(int(Path(file).read_text() or 0) or os.getpid(), 0)
    except (ProcessLookupError, FileNotFoundError):
        return not Path(file).exists()
    return True


RECORDS = """
import sys
with open({file!r}, "a") as file:
    print(sys.argv[1], sys.argv[2], file=file)
print("compiling", flush=True)
{then}
"""


class Watcher:
    """Writes down what it hears, and stops the deployment once it has started."""

    def __init__(self):
        self.heard, self.began = [], threading.Event()

    def compiling(self, left):
        self.heard.append([*left])
        self.began.set()

    def started(self, driver, log):
        self.heard.append("started")

    def ran(self, report, driver, log, appended): ...

    def failed(self, error, pause):
        self.heard.append(error)

    def stopped(self):
        self.heard.append("stopped")


@pytest.fixture
def deployed(tmp_path, kept, monkeypatch):
    """Runs a deployment whose kernels are compiled by a program; what was asked of that, so far."""
    asked = tmp_path / "asked"

    def run(then, until):
        monkeypatch.setattr(warming, "BEGIN", RECORDS.format(file=str(asked), then=then))
        document = {"subscriptions": [{"id": "a", "policy": TOP_K}]}
        wanted = Wanted(
            log=f"sqlite:{tmp_path / 'log'}",
            folder=tmp_path / "state",
            registry=registry_from_documents(document),
        )
        watcher = Watcher()
        running = Running(wanted, ProcessGround(1), watcher)
        thread = threading.Thread(target=running.run)
        thread.start()
        for _ in range(1200):
            parts = asked.read_text().splitlines() if asked.exists() else []
            if until(watcher.heard, parts):
                break
            threading.Event().wait(0.05)
        running.stop()
        thread.join(60)
        assert not thread.is_alive()
        return watcher.heard, parts

    return run


def test_what_the_registry_needs_is_compiled_before_it_starts_and_the_rest_behind_it(deployed):
    heard, parts = deployed("", lambda heard, parts: len(parts) == len(PARTS))
    assert heard == [[MATCHING, "top-k"], ["top-k"], [], "started", "stopped"]
    assert parts[:2] == [f"{MATCHING} 0", "top-k 0"]
    assert {*parts[2:]} == {f"{part} {NICE}" for part in PARTS if part not in (MATCHING, "top-k")}


def test_a_start_that_finds_everything_compiles_nothing_and_says_nothing(deployed, monkeypatch):
    for part in PARTS:
        rehearse_once(part)
    heard, parts = deployed("", lambda heard, parts: "started" in heard)
    assert (heard, parts) == (["started", "stopped"], [])


def test_a_deployment_that_is_stopped_while_it_compiles_never_starts(deployed):
    heard, parts = deployed("sys.stdin.read()", lambda heard, parts: heard)
    assert heard == [[MATCHING, "top-k"], "stopped"]
    assert parts == [f"{MATCHING} 0"]


def kernel_calls(*arguments, **environment):
    """What a process of its own calls, or compiles."""
    command = [sys.executable, "-m", "tests.live.kernel_calls", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return {*json.loads(done.stdout)}


@pytest.mark.parametrize("kind", ["top-k"])
def test_drawn_deployments_call_nothing_that_was_not_rehearsed(kind):
    rehearsed = kernel_calls("rehearse", MATCHING, kind)
    assert kernel_calls("deploy", kind, 4) - rehearsed == set()


@pytest.mark.soak
def test_drawn_deployments_of_every_kind_call_nothing_that_was_not_rehearsed():
    rehearsed = kernel_calls("rehearse", *PARTS)
    assert kernel_calls("deploy-all", 40) - rehearsed == set()


@pytest.mark.soak
def test_after_a_deployment_is_ready_its_first_publications_compile_nothing(tmp_path):
    cold = str(tmp_path / "kept")
    (tmp_path / "first").mkdir()
    assert kernel_calls("run", "top-k", tmp_path / "first", NUMBA_CACHE_DIR=cold) == set()
