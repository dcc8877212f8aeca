"""Kept code is run as long as nothing has changed that it was made of, and never after that."""

import pickle
import sys
from importlib import import_module
from pathlib import Path

import pytest
from numba import config
from numba.core.registry import cpu_target

import shortlist
from shortlist.matching.kernels import compiling, sources
from shortlist.matching.kernels.sources import PACKAGE, ROOT, reachable

PROGRAM = {
    "outer": """
from shortlist.matching.kernels.compiling import kernel
from inner import changed
from rows import (
    LARGEST,
    Row,
)

@kernel
def answer(number):
    return changed(Row(first=number, second=100)) + LARGEST
""",
    "inner": """
from shortlist.matching.kernels.compiling import kernel

@kernel
def changed(row):
    return row[0] + 1
""",
    "rows": """
from typing import NamedTuple
from constants import LARGEST

class Row(NamedTuple):
    first: int
    second: int
""",
    "constants": "LARGEST = 1000\n",
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Starts the program anew, as another process would: what it answers, and how many of its
    kernels it compiled."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it is kept by second and size
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, **PROGRAM)

    def start():
        for name in PROGRAM:
            sys.modules.pop(name, None)
        for known in (sources.source_stamp, sources._read, sources._file_of):
            known.cache_clear()
        outer, inner = import_module("outer"), import_module("inner")
        return outer.answer(5), compiled(outer.answer) + compiled(inner.changed)

    yield start
    for name in PROGRAM:
        sys.modules.pop(name, None)


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def compiled(kernel):
    return sum(kernel.stats.cache_misses.values())


CHANGES = {
    "the kernel": ("outer", "+ LARGEST", "+ LARGEST + 3", 1009),
    "a kernel that it calls": ("inner", "row[0] + 1", "row[0] + 2", 1007),
    "the fields of a tuple": (
        "rows",
        "first: int\n    second: int",
        "second: int\n    first: int",
        1101,
    ),
    "a constant of another file": ("constants", "1000", "2000", 2006),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_to_what_a_kernel_reaches_compiles_it_anew(change, program, tmp_path):
    assert program() == (1006, 2)
    assert program() == (1006, 0)
    name, before, after, answer = CHANGES[change]
    write(tmp_path, **{name: PROGRAM[name].replace(before, after)})
    found, count = program()
    assert found == answer
    assert count > 0
    assert program() == (answer, 0)


def test_a_change_elsewhere_compiles_nothing(program, tmp_path):
    assert program() == (1006, 2)
    write(tmp_path, other="LARGEST = 2\n")
    assert program() == (1006, 0)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_code_of_other_versions_is_compiled_anew(place, program, monkeypatch):
    assert program() == (1006, 2)
    with monkeypatch.context() as patch:
        others = [*compiling.VERSIONS]
        others[place] = "0.0"
        patch.setattr(compiling, "VERSIONS", (*others,))
        assert program() == (1006, 2)
    assert program()[0] == 1006


def test_each_cpu_has_its_own_code_in_the_same_folder(program, monkeypatch):
    assert program() == (1006, 2)
    codegen = type(cpu_target.target_context.codegen())
    with monkeypatch.context() as patch:
        patch.setattr(codegen, "magic_tuple", lambda self: ("x86_64", "another", "+avx9"))
        assert program() == (1006, 2)
        assert program() == (1006, 0)
    assert program() == (1006, 0)


class Gone:
    """A class whose module is not there when it is read again."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __reduce__(self):
        return _named, (self.module, self.name)


def _named(module, name):
    return getattr(import_module(module), name)


DAMAGED = {
    "names a module that is gone": pickle.dumps(Gone("shortlist.gone", "Offers")),
    "names a class that is gone": pickle.dumps(Gone("shortlist.selection.bank.offers", "Gone")),
    "is empty": b"",
    "ends early": pickle.dumps(["cut off"] * 9)[:-4],
    "is no pickle": bytes(64),
    "is of something else": pickle.dumps(7),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_an_index_that_cannot_be_read_counts_as_empty(damage, program, tmp_path):
    assert program() == (1006, 2)
    for file in (tmp_path / "kept").rglob("*.nbi"):
        with file.open("rb") as index:
            version = pickle.load(index)
        file.write_bytes(pickle.dumps(version) + DAMAGED[damage])
    assert program() == (1006, 2)
    assert program() == (1006, 0)


def test_an_index_without_its_version_counts_as_empty(program, tmp_path):
    assert program() == (1006, 2)
    for file, content in zip((tmp_path / "kept").rglob("*.nbi"), DAMAGED.values(), strict=False):
        file.write_bytes(content)
    assert program() == (1006, 2)


@pytest.mark.parametrize("damage", [each for each in DAMAGED if each != "is of something else"])
def test_code_that_cannot_be_read_is_compiled_anew(damage, program, tmp_path):
    assert program() == (1006, 2)
    for file in (tmp_path / "kept").rglob("*.nbc"):
        file.write_bytes(DAMAGED[damage])
    assert program() == (1006, 2)
    assert program() == (1006, 0)


def test_every_import_of_this_package_is_followed():
    """`reachable` reads imports by a pattern: the imports that Python made must be among them."""
    folder = Path(ROOT, PACKAGE.strip("."))
    for file in folder.rglob("kernels/*.py"):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        module = import_module(name)
        owners = {getattr(each, "__module__", None) for each in vars(module).values()}
        used = {sys.modules[owner].__file__ for owner in owners if _is_ours(owner)}
        assert used <= reachable(str(file)), name


def _is_ours(owner):
    return isinstance(owner, str) and owner.startswith(f"{shortlist.__name__}.")
