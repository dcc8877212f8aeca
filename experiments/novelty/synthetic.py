"""The four variants of an algorithm on the stream of the paper's defaults."""

from __future__ import annotations

from typing import Any

from experiments.novelty.measuring import ends_of_stretches, in_all, over_time
from experiments.novelty.shortlists import EVERYTHING, deliver, variants
from experiments.novelty.streams import length, zipf_stream
from shortlist.experiments.run import Run

VARIANTS = tuple(variants("threshold"))


def four_variants(run: Run, algorithm: str, **settings: Any) -> dict[str, Any]:
    """Their measures, in all and over time; beside them what came in."""

    def found() -> dict[str, Any]:
        policies = {**variants(algorithm, **settings), "everything": EVERYTHING}
        shortlists = deliver(run, stream, policies)
        return {**in_all(shortlists, stream.size), **over_time(shortlists, stream.size)}

    stream = zipf_stream(run, "zipf", length(run))
    named = ", ".join(f"{name} {value}" for name, value in settings.items())
    return {
        "period": ends_of_stretches(stream.size),
        **run.point(f"{algorithm} {named}".strip(), found),
    }


def apart(found: dict[str, Any], measure: str, scoring: str) -> float:
    """How far lazy and eager are from each other."""
    lazy, eager = (found[f"{measure} in all, {mode} {scoring}"] for mode in ("lazy", "eager"))
    return abs(lazy - eager)
