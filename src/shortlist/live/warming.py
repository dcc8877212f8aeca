"""Compile kernels before a deployment needs them, in processes of their own.

What `rehearsal` calls is compiled into the folder that numba keeps code in, which all processes of
a machine share. A file beside that code says which parts were rehearsed with these sources, on this
CPU: a start that finds the files for all parts has nothing to do.
"""

import fcntl
import hashlib
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from numba.core import event

from shortlist.intake.columns import live_documents
from shortlist.intake.roster import Roster
from shortlist.matching.kernels.compiling import VERSIONS, compiled_for, kept_in
from shortlist.matching.kernels.numbering import enter_all
from shortlist.matching.kernels.sources import PACKAGE, ROOT, source_stamp
from shortlist.model.policy import POLICIES, Chain, policies_of

LOGGER = logging.getLogger("shortlist.warming")
MATCHING, FUZZY, CHAIN = "matching", "fuzzy conditions", "chains"
# What can be rehearsed by itself: reading, matching, scoring and writing, which every deployment
# needs; fuzzy conditions; each kind of policy, but for `everything`, which is in the first; and
# policies one behind the other.
PARTS = (MATCHING, FUZZY, *(kind for kind in POLICIES if kind != "everything"), CHAIN)
# A word that all fuzzy predicates have, and otherwise only texts. Keywords have no case.
FUZZY_WORD = re.compile(r"\bis\b", re.IGNORECASE)
# How far processes that compile for later give way to all others.
NICE = 19
# Processes that compile at the same time before a start: each takes up to 0.7 GB.
MOST_AT_ONCE = 2
BEGIN = "import os, sys; os.nice(int(sys.argv[2])); from shortlist.live.warming import run; run()"
# What a process says when it compiles the first kernel: until then it may find all of them.
COMPILING = "compiling"


def parts_of(roster: Roster) -> list[str]:
    """Return the parts that a registry needs from its first publication on."""
    parts = {MATCHING}
    for shortlist in roster.shortlists.values():
        parts |= {each.kind for each in policies_of(shortlist.policy)}
        if isinstance(shortlist.policy, Chain):
            parts.add(CHAIN)
    documents = live_documents(roster.subscriptions)
    # where there are terms, publications may have fuzzy values though no condition asks for one
    has_terms = any(each.terms for each in roster.vocabulary.now().attributes.values())
    if has_terms or any(FUZZY_WORD.search(each.get("where", "")) for each in documents):
        parts.add(FUZZY)
    return [part for part in PARTS if part in parts]


def missing(parts: Iterable[str]) -> list[str]:
    """Return those parts that were not rehearsed with these sources, here."""
    return [part for part in parts if not _mark(part).exists()]


class KernelCompiler:
    """Compile the kernels of some parts, each in a process of its own.

    The processes end when the compiler is closed, or when this process ends, however it does.
    """

    def __init__(self, nice: int = 0, at_once: int = 1) -> None:
        self._nice, self._at_once = nice, at_once
        self._is_closed = False
        self._lock = threading.Lock()
        self._is_compiling = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()

    def compile(
        self,
        parts: Iterable[str],
        on_progress: Callable[[Sequence[str]], object] = lambda left: None,
    ) -> None:
        """Return when the parts are compiled, or the compiler is closed.

        `on_progress` is called with the parts that are left once a kernel is really compiled, and
        then after each part, in other threads. A part that fails is left to the deployment, which
        compiles what it calls.
        """
        left, begun = [*parts], threading.Event()

        def begin() -> None:
            with self._lock:  # parts that are compiled at the same time may begin at once
                if begun.is_set():
                    return
                begun.set()
            on_progress([*left])

        def compile_part(part: str) -> None:
            why = self._run(part, room, begin)
            left.remove(part)
            if self._is_closed:
                return
            if why is not None:
                LOGGER.warning("kernels of %s were not compiled: %s", part, why)
            if begun.is_set():
                on_progress([*left])

        with (
            self._is_compiling,
            # a process that is killed leaves its temporary files behind
            TemporaryDirectory(prefix="shortlist-", ignore_cleanup_errors=True) as room,
            ThreadPoolExecutor(self._at_once) as threads,
        ):
            # what matching needs, all others need, and would compile beside it
            for some in ({MATCHING} & {*left}, [part for part in left if part != MATCHING]):
                [*threads.map(compile_part, some)]

    def close(self) -> None:
        """End the processes: what they have compiled stays."""
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                process.kill()
        with self._is_compiling:
            pass  # `compile` has returned

    def _run(self, part: str, room: str, on_compiling: Callable[[], object]) -> str | None:
        """Rehearse a part in a process of its own; return what went wrong, if it did."""
        errors = Path(room, f"{part}.errors")
        with self._lock:
            if self._is_closed:
                return None
            with errors.open("w") as file:
                process = subprocess.Popen(
                    [sys.executable, "-c", BEGIN, part, str(self._nice)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=file,
                    env={
                        **os.environ,
                        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                        "TMPDIR": room,
                    },
                    text=True,
                    # an interrupt at the terminal is for this process, which ends the others
                    start_new_session=True,
                )
            self._processes.add(process)
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() == COMPILING:
                    on_compiling()
        with self._lock:
            self._processes.discard(process)
        if not process.returncode:
            return None
        told = errors.read_text().splitlines()
        return (told or [f"status {process.returncode}"])[-1]


def run() -> None:
    """Rehearse one part, in a process that `KernelCompiler` has started."""
    from shortlist.unused import leave_out_unused

    leave_out_unused()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    part = sys.argv[1]
    rehearse_once(part, lambda: print(COMPILING, flush=True))


def rehearse_once(part: str, on_compiling: Callable[[], object] = lambda: None) -> None:
    """Rehearse a part here, unless it was, or another process does so at this moment: then wait."""
    from shortlist.live.rehearsal import rehearse

    with _locked(part):
        if missing([part]):
            with _noticed(on_compiling):
                rehearse(part)
            _mark(part).touch()


def _end_with_parent() -> None:
    """End this process when standard input closes."""
    # not by `sys.stdin`, whose lock this thread would still have when the process ends
    while os.read(0, 1024):
        pass
    os._exit(1)


@contextmanager
def _noticed(on_compiling: Callable[[], object]) -> Iterator[None]:
    """Call back when a kernel is compiled for the first time."""
    listener = _FirstCompilation(on_compiling)
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]


class _FirstCompilation(event.Listener):
    def __init__(self, on_compiling: Callable[[], object]) -> None:
        self._on_compiling: Callable[[], object] | None = on_compiling

    def on_start(self, event: object) -> None:
        if self._on_compiling is not None:
            self._on_compiling()
        self._on_compiling = None

    def on_end(self, event: object) -> None:
        pass


@contextmanager
def _locked(part: str) -> Iterator[None]:
    """Let one process of this machine at a time compile a part: others find what it has made."""
    with open(_mark(part).with_suffix(".lock"), "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _mark(part: str) -> Path:
    """Return the file that is there once a part was rehearsed: beside the code of kernels."""
    return kept_in(enter_all) / f"rehearsed-{part.replace(' ', '-')}-{_stamp()}.mark"


@cache
def _stamp() -> str:
    """Return a digest of what decides which kernels are there, with which types and for which CPU.

    The types follow from code around the kernels as well, which changes with a version. A kernel
    that was compiled for another type in between is compiled where it is called, as any other.
    """
    kernels = sorted(Path(ROOT, PACKAGE.rstrip(".")).rglob("kernels/*.py"))
    rehearsal = Path(__file__).with_name("rehearsal.py").read_bytes()
    made_of = (
        VERSIONS,
        sys.version_info[:2],
        version(PACKAGE.rstrip(".")),
        compiled_for(),
        [source_stamp(str(file)) for file in kernels],
        hashlib.sha256(rehearsal).hexdigest(),
    )
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
