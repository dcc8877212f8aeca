"""In the middle of a stream the user cancels every second subscription, five of ten.

From then on only what matches the other five is published, as always with the share that it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.novelty.drawing import NAMES, draw_series, finish, last_place
from experiments.novelty.measuring import (
    ENTROPY,
    MEAN,
    STRETCHES,
    ends_of_stretches,
    measured,
    over_time,
    part,
)
from experiments.novelty.shortlists import (
    DISJOINT,
    got_of,
    registry,
    subscription_id,
    variants,
)
from experiments.novelty.streams import KINDS, SKEW, Kinds, drawn, length, zipf_shares, zipf_stream
from experiments.novelty.synthetic import VARIANTS
from experiments.picture import draw_paper
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

KEPT = tuple(range(0, KINDS, 2))
CANCELLED = tuple(range(1, KINDS, 2))
BEST = {ENTROPY: (log2(KINDS), log2(len(KEPT))), MEAN: (KINDS, len(KEPT))}
"""Before and after."""


def half_cancelled(run: Run, algorithm: str) -> dict[str, Any]:
    """Entropy and mean distance of the four variants over time, and of the second half."""

    def found() -> dict[str, Any]:
        policies = variants(algorithm)
        documents = registry(run, policies, DISJOINT)
        ranked = run.rank(documents, timeline(stream, [*policies]), commands=True)
        shortlists = got_of(ranked.deliveries, stream, policies)
        series = over_time(shortlists, stream.size)
        half = stream.size // 2
        after = {
            name: measured(part(got, half, stream.size), half) for name, got in shortlists.items()
        }
        return {
            **series,
            **{
                f"{measure} after, {name}": value
                for name, values in after.items()
                for measure, value in values.items()
            },
            **{
                f"{measure} just after, {name}": series[f"{measure}, {name}"][STRETCHES // 2]
                for name in shortlists
                for measure in BEST
            },
        }

    stream = halved_stream(run)
    return {"period": ends_of_stretches(stream.size), **run.point("half is cancelled", found)}


def halved_stream(run: Run) -> Kinds:
    half = length(run) // 2
    shares = zipf_shares(SKEW)
    shares[list(CANCELLED)] = 0.0
    return np.concatenate([zipf_stream(run, "of ten", half), drawn(run, "of five", half, shares)])


def timeline(stream: Kinds, shortlists: list[str]) -> Iterator[Mapping[str, Any]]:
    """Publications, one a second, and in the middle the commands of the user."""
    for place, kind in enumerate(stream.tolist()):
        time = datetime.fromtimestamp(place, UTC).isoformat()
        if place == stream.size // 2:
            for name in shortlists:
                for each in CANCELLED:
                    yield {"time": time, "unsubscribe": subscription_id(name, each)}
        yield {"id": str(place), "source": "stream", "time": time, "data": {"kind": kind}}


def draw_halves(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    for axes, measure in zip(canvas.subplots(1, 2), BEST, strict=True):
        draw_series(axes, measures, {name: f"{measure}, {name}" for name in VARIANTS})
        end = last_place(axes)
        axes.axvline(end / 2, color="grey", linewidth=0.8)
        axes.set_ylabel(NAMES[measure])
        draw_paper(axes, [end / 2, end], BEST[measure])
    finish(canvas, figure)
