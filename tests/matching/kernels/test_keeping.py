"""Compiled code is kept for the types that it was compiled for, whoever else is compiling."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations
from threading import Condition

import pytest

from shortlist.matching.kernels.compiling import KeptCode

STEPS = ("_load_index", "_save_data", "_save_index")
"""Of `save`, each at once: another process comes before or after it."""
ORDERS = [
    "".join("a" if at in mine else "b" for at in range(6)) for mine in combinations(range(6), 3)
]


class Turns:
    """Lets two processes take steps in a given order."""

    def __init__(self, order):
        self._left, self._changed = [*order], Condition()

    @contextmanager
    def taken_by(self, name):
        with self._changed:
            self._changed.wait_for(lambda: self._left[0] == name, timeout=60)
            yield
            self._left.pop(0)
            self._changed.notify_all()


def save(name, place, turns):
    process = KeptCode(*place)
    for step in STEPS:
        setattr(process, step, in_turn(getattr(process, step), name, turns))
    process.save(name, f"code for {name}")


def in_turn(step, name, turns):
    def taken(*arguments):
        with turns.taken_by(name):
            return step(*arguments)

    return taken


@pytest.mark.parametrize("order", ORDERS)
def test_two_processes_never_take_each_others_code(tmp_path, order):
    place, turns = (str(tmp_path), "kernel", "stamp"), Turns(order)
    with ThreadPoolExecutor(2) as processes:
        for done in [processes.submit(save, name, place, turns) for name in "ab"]:
            done.result()
    found = {name: KeptCode(*place).load(name) for name in "ab"}
    assert any(found.values())
    assert all(code in (None, f"code for {name}") for name, code in found.items())


def test_code_of_another_version_is_not_taken(tmp_path):
    KeptCode(str(tmp_path), "kernel", "old").save("a", "old code")
    new = KeptCode(str(tmp_path), "kernel", "new")
    assert new.load("a") is None
    new.save("a", "new code")
    assert new.load("a") == "new code"


def test_whoever_is_killed_before_the_code_is_there_has_not_said_that_it_is(tmp_path, monkeypatch):
    KeptCode(str(tmp_path), "kernel", "old").save("a", "old code")
    killed = KeptCode(str(tmp_path), "kernel", "new")

    def kill(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(killed, "_save_data", kill)
    with pytest.raises(KeyboardInterrupt):
        killed.save("a", "new code")
    assert KeptCode(str(tmp_path), "kernel", "new").load("a") is None


LAYOUTS = """
import sys
import numpy as np
from shortlist.matching.kernels.compiling import kernel

@kernel
def doubled(rows):
    more = np.empty(2 * rows.size, rows.dtype)
    more[: rows.size] = rows
    return more

if __name__ == "__main__":
    for name in sys.argv[1:]:
        rows = np.zeros(3, [(name, "f8"), ("rest", "i4")])
        rows[name] = 7.0
        print(doubled(rows).dtype.names[0], doubled(rows)[name][2])
"""


def test_who_loads_the_code_of_two_processes_runs_each_for_its_own_rows(tmp_path):
    program = tmp_path / "layouts.py"
    program.write_text(LAYOUTS)
    for names in (["score"], ["length"], ["score", "length"]):
        done = subprocess.run(
            [sys.executable, program, *names], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines() == [f"{name} 7.0" for name in names]
    kept = [*tmp_path.rglob("*.nbc")]
    assert len(kept) == 2  # the third has compiled nothing


TWICE = """
from shortlist.matching.kernels.compiling import kernel

@kernel
def scaled(x):
    return x * {factor}
"""
CALLED = """
import sys
from pathlib import Path
from times import scaled

for text in sys.argv[1:]:
    Path("times.py").write_text(text)
print(scaled(2.0))
"""


def test_code_of_a_source_that_changed_since_it_was_imported_is_not_kept_for_the_new_one(tmp_path):
    (tmp_path / "times.py").write_text(TWICE.format(factor=2.5))
    (tmp_path / "called.py").write_text(CALLED)
    told = [
        subprocess.run(
            # -B: Python would keep its own bytecode by the second and the size of a source
            [sys.executable, "-B", "called.py", *texts],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for texts in ([TWICE.format(factor=7.5)], [])
    ]
    assert told == ["5.0\n", "15.0\n"]


INNER = """
import numpy as np
from shortlist.matching.kernels.compiling import kernel

@kernel
def largest_first(numbers):
    if not numbers.size:
        raise ValueError("expected some numbers")
    return np.sort(numbers)[::-1]
"""
OUTER = """
import sys
import numpy as np
from numba.core.registry import cpu_target
from inner import largest_first
from shortlist.matching.kernels.compiling import kernel

@kernel
def best(numbers):
    return largest_first(numbers)[0]

numbers = np.array([2.0, 7.0, 5.0])
print(largest_first(numbers).tolist())
print(len(cpu_target.typing_context._registries) > 0)
if "compile" in sys.argv:
    print(best(numbers))
try:
    largest_first(np.empty(0))
except ValueError as error:
    print(error)
"""


def test_kept_code_runs_without_what_compiling_needs_and_others_are_compiled_with_it(tmp_path):
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER)

    def told(*arguments):
        command = [sys.executable, "outer.py", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    ordered, refused = "[7.0, 5.0, 2.0]", "expected some numbers"
    assert told() == [ordered, "True", refused]
    assert told() == [ordered, "False", refused]
    assert told("compile") == [ordered, "False", "7.0", refused]
    assert told("compile") == [ordered, "False", "7.0", refused]
