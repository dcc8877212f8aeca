"""Figures of two runs side by side."""

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from scipy.stats import t

Row = dict[str, Any]

ABOUT_THE_RUN = {"figure", "load"}


def figures(output: Iterable[str]) -> list[Row]:
    """What a benchmark printed: the lines that are JSON and name a figure.

    >>> figures(["a table", '{"figure": "speed", "seconds": 2}'])
    [{'figure': 'speed', 'seconds': 2}]
    """
    return [json.loads(line) for line in output if line.startswith('{"figure"')]


def compared(base: Sequence[list[Row]], here: Sequence[list[Row]]) -> list[Row]:
    """Compare the figures that both sides print: the medians of their runs, and this to that.

    Figures of one name belong together in the order in which they are printed. Of each, facts that
    are numbers and differ are compared; what is the same stands as it is. From three rounds on the
    95 % interval of the ratio stands beside it.

    >>> before, now = ({"figure": "speed", "size": 9, "seconds": took} for took in (2.0, 1.0))
    >>> (row,) = compared([[before]], [[now]])
    >>> row["size"], row["base"], row["here"], row["ratio"]
    (9, {'seconds': 2.0}, {'seconds': 1.0}, {'seconds': 0.5})
    """
    before, now = _by_name(base), _by_name(here)
    return [_beside(key[0], before[key], now[key]) for key in now if key in before]


def _by_name(runs: Sequence[list[Row]]) -> dict[tuple[str, int], list[Row]]:
    """The rows of each figure, one of each run."""
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for run in runs:
        seen: dict[str, int] = defaultdict(int)
        for row in run:
            name = row["figure"]
            found[name, seen[name]].append(row)
            seen[name] += 1
    return found


def _beside(name: str, before: list[Row], now: list[Row]) -> Row:
    same: Row = {}
    sides: tuple[Row, Row, Row] = ({}, {}, {})
    intervals: Row = {}
    for fact in now[0]:
        if fact in ABOUT_THE_RUN or fact not in before[0]:
            continue
        values = [row[fact] for row in (*before, *now) if fact in row]
        if all(value == values[0] for value in values):
            same[fact] = values[0]
        elif all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
            there, here = (statistics.median(row[fact] for row in rows) for rows in (before, now))
            for side, value in zip(sides, (there, here, _ratio(here, there)), strict=True):
                side[fact] = value
            bounds = interval([row[fact] for row in before], [row[fact] for row in now])
            if bounds is not None:
                intervals[fact] = bounds
    found = {"figure": name, **same} | dict(zip(("base", "here", "ratio"), sides, strict=True))
    return {**found, "interval": intervals} if intervals else found


def interval(before: Sequence[float], now: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean ratio of paired runs; None where there is none.

    Runs of one round are a pair, so that what slows the machine down for a while slows both. The
    logarithms of their ratios are taken to be normal (Student's t).

    >>> interval([1.0, 2.0, 1.0], [1.1, 2.2, 1.1])
    (1.1, 1.1)
    >>> interval([1.0, 1.0], [1.0, 1.0])
    """
    if len(before) < 3 or len(before) != len(now) or min(*before, *now) <= 0:
        return None
    logs = [math.log(here / there) for there, here in zip(before, now, strict=True)]
    mean = statistics.fmean(logs)
    spread = statistics.stdev(logs) / math.sqrt(len(logs)) * float(t.ppf(0.975, len(logs) - 1))
    low, high = (float(f"{math.exp(bound):.4g}") for bound in (mean - spread, mean + spread))
    return low, high


def _ratio(here: float, there: float) -> float | None:
    return float(f"{here / there:.4g}") if there else None
