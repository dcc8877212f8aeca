"""The examples in the docstrings of what the benchmarks share."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

COMMON = Path(__file__).parents[2] / "benchmarks" / "common"


@pytest.mark.parametrize("name", sorted(file.stem for file in COMMON.glob("*.py")))
def test_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(f"benchmarks.common.{name}")).failed == 0
