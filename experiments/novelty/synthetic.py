"""The four variants of an algorithm on the stream of the paper's defaults."""

from __future__ import annotations

from typing import Any

from experiments.novelty.measuring import STRETCHES, ends_of_stretches, in_all, over_time
from experiments.novelty.shortlists import EVERYTHING, deliver, variants
from experiments.novelty.streams import PERIOD, length, zipf_stream
from shortlist.experiments.run import Run

VARIANTS = tuple(variants("threshold"))


def four_variants(
    run: Run, algorithm: str, period: int = PERIOD, stretches: int = STRETCHES
) -> dict[str, Any]:
    """Their measures, in all and over time; beside them what came in."""

    def found() -> dict[str, Any]:
        policies = {**variants(algorithm, period=period), "everything": EVERYTHING}
        shortlists = deliver(run, stream, policies)
        series = over_time(shortlists, stream.size, stretches=stretches)
        return {**in_all(shortlists, stream.size), **series}

    stream = zipf_stream(run, "zipf", length(run))
    return {
        "period": ends_of_stretches(stream.size, period, stretches),
        **run.point(f"{algorithm}, period {period}", found),
    }


def apart(found: dict[str, Any], measure: str, scoring: str) -> float:
    """How far lazy and eager are from each other."""
    lazy, eager = (found[f"{measure} in all, {mode} {scoring}"] for mode in ("lazy", "eager"))
    return abs(lazy - eager)
