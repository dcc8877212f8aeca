"""The aging factor γ of lazy variants: the less, the more the past of a subscription counts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from experiments.novelty.as_printed import SHORTLIST, printed
from experiments.novelty.drawing import NAMES, draw_series, finish
from experiments.novelty.measuring import (
    DEVIATION,
    ENTROPY,
    OF_ALL,
    ends_of_stretches,
    in_all,
    over_time,
)
from experiments.novelty.shortlists import deliver, policy, seed_of, seeded
from experiments.novelty.streams import length, zipf_stream
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run
from shortlist.selection.novelty import NoveltySelector

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

FACTORS = (1.0, 0.5, 0.1)


def named(factor: float) -> str:
    """
    >>> named(1.0), named(0.5)
    ('γ = 1', 'γ = 0.5')
    """
    return f"γ = {factor:g}"


def aged(run: Run, as_printed: type[NoveltySelector], **settings: Any) -> dict[str, Any]:
    """The measures for each factor, ours and as printed."""

    def found() -> dict[str, Any]:
        shortlists = {}
        for factor in FACTORS:
            aged_policy = policy(aging=factor, **settings)
            # a run for each, under one name, so that all of them draw the same
            ours = deliver(run, stream, {SHORTLIST: aged_policy})
            shortlists[named(factor)] = ours[SHORTLIST]
            theirs = printed(as_printed, stream, seeded(aged_policy, seed_of(run)))
            shortlists[f"{named(factor)} as printed"] = theirs
        series = over_time(shortlists, stream.size)
        return {**in_all(shortlists, stream.size), **series}

    stream = zipf_stream(run, "zipf", length(run))
    measures = run.point("aging", found)
    return {"period": ends_of_stretches(stream.size), **measures, **_by_factor(measures)}


def _by_factor(measures: dict[str, Any]) -> dict[str, list[float]]:
    """In all, and in the first and the last stretch."""
    found = {}
    for measure, how in product((ENTROPY, DEVIATION, OF_ALL), ("", " as printed")):
        lines = [f"{named(factor)}{how}" for factor in FACTORS]
        series = [measures[f"{measure}, {line}"] for line in lines]
        for when, values in {
            "": [measures[f"{measure} in all, {line}"] for line in lines],
            " at first": [each[0] for each in series],
            " at last": [each[-1] for each in series],
        }.items():
            found[f"{measure}{when}{how}, γ from 1 to 0.1"] = values
    return found


def draw_aged(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.set_size_inches(7.5, 4.6)
    lines = [*map(named, FACTORS), *(f"{named(factor)} as printed" for factor in FACTORS[1:])]
    for axes, measure in zip(canvas.subplots(1, 2), (ENTROPY, DEVIATION), strict=True):
        draw_series(axes, measures, {name: f"{measure}, {name}" for name in lines})
        axes.set_ylabel(NAMES[measure])
    finish(canvas, figure)
