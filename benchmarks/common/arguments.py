"""What the command lines of benchmarks share."""

import argparse
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[3] / "shared" / "data"
RESULTS = Path(__file__).parents[1] / "results"


def filled(
    asked: argparse.Namespace, quick: Mapping[str, Any], thorough: Mapping[str, Any]
) -> argparse.Namespace:
    """Gives what was not asked for the sizes of a quick run, or of a thorough one."""
    for name, value in (quick if asked.quick else thorough).items():
        if getattr(asked, name, None) is None:
            setattr(asked, name, value)
    return asked


def names(known: Collection[str]) -> Callable[[str], list[str]]:
    """Reads some of these, comma-separated.

    >>> names(["duckdb", "spark"])("spark,duckdb")
    ['spark', 'duckdb']
    """

    def read(text: str) -> list[str]:
        found = text.split(",")
        if unknown := set(found) - set(known):
            expected = ", ".join(known)
            raise argparse.ArgumentTypeError(f"expected some of {expected}, found {unknown.pop()}")
        return found

    return read
