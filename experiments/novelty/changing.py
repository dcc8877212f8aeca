"""Streams that change in the middle: what eight variants make of it, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.novelty.drawing import draw_series, finish, last_place
from experiments.novelty.measuring import (
    ENTROPY,
    STRETCHES,
    ends_of_stretches,
    measured,
    over_time,
    part,
)
from experiments.novelty.shortlists import Got, deliver, variants
from experiments.novelty.streams import Kinds
from experiments.picture import draw_paper
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ALGORITHMS = ("threshold", "sampling")


def eight_variants() -> dict[str, Mapping[str, Any]]:
    return {
        f"{algorithm} {name}": policy
        for algorithm in ALGORITHMS
        for name, policy in variants(algorithm).items()
    }


def entropies(run: Run, name: str, stream: Kinds) -> dict[str, Any]:
    """Entropy over time of all variants, and how much of it the change costs.

    Before the change only the second quarter counts, when every variant has settled.
    """

    def found() -> dict[str, Any]:
        shortlists = deliver(run, stream, eight_variants())
        series = over_time(shortlists, stream.size)
        return {
            **{name: values for name, values in series.items() if name.startswith(f"{ENTROPY},")},
            **{
                f"{ENTROPY} lost, {name}": lost_entropy(got, stream.size)
                for name, got in shortlists.items()
            },
            **{
                f"{ENTROPY} just after, {name}": series[f"{ENTROPY}, {name}"][STRETCHES // 2]
                for name in shortlists
            },
        }

    return {"period": ends_of_stretches(stream.size), **run.point(name, found)}


def lost_entropy(got: Got, count: int) -> float:
    """Of the second half, against the second quarter."""
    before = part(got, count // 4, count // 2)
    after = part(got, count // 2, count)
    return measured(before, count // 4)[ENTROPY] - measured(after, count // 2)[ENTROPY]


def draw_entropies(
    measures: Measures,
    canvas: Canvas,
    figure: Figure,
    best: float,
    changes: bool = True,
) -> None:
    """Threshold and sampling beside each other, and whatever else was measured for one of them."""
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, algorithm in zip(panels, ALGORITHMS, strict=True):
        head = f"{ENTROPY}, {algorithm} "
        series = {name.removeprefix(head): name for name in measures if name.startswith(head)}
        draw_series(axes, measures, series)
        axes.set_title(algorithm)
        end = last_place(axes)
        if changes:
            axes.axvline(end / 2, color="grey", linewidth=0.8)
        draw_paper(axes, [end], [best])
    panels[0].set_ylabel("output entropy (bits)")
    finish(canvas, figure)
