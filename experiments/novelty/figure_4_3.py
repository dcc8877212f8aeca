"""Threshold with periods of 100 matches, in place of 1000, and what is printed beside ours.

As printed a subscription that was never delivered has the interval 1, the least there is, so that
whatever the first short period leaves out stays out. The proofs take rates of the present period.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.novelty.as_printed import NeverDeliveredAsPrinted, RatesOfThePeriod, printed
from experiments.novelty.drawing import draw_over_time
from experiments.novelty.measuring import ENTROPY, MEAN, in_all, over_time
from experiments.novelty.shortlists import MODES, policy
from experiments.novelty.streams import KINDS, length, zipf_stream
from experiments.novelty.synthetic import VARIANTS, four_variants
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SHORT = 100
STRETCHES = 10
AS_PRINTED = tuple(f"{mode} interval as printed" for mode in MODES)
OF_THE_PERIOD = "lazy rate of the period"


def measure(run: Run) -> Measures:
    found = {
        **four_variants(run, "threshold", SHORT, STRETCHES),
        **run.point("as printed", lambda: _as_printed(run)),
    }
    longer = four_variants(run, "threshold")
    names = [*VARIANTS, *AS_PRINTED, OF_THE_PERIOD]
    return {
        **found,
        **{f"off the ideal mean, {each}": _off(found, each) for each in names},
        **{
            f"entropy in all, period 1000, {each}": longer[f"{ENTROPY} in all, {each}"]
            for each in VARIANTS
        },
    }


def _as_printed(run: Run) -> dict[str, Any]:
    stream = zipf_stream(run, "zipf", length(run))
    shortlists = {
        name: printed(
            NeverDeliveredAsPrinted, stream, policy(period=SHORT, mode=mode, measure="interval")
        )
        for mode, name in zip(MODES, AS_PRINTED, strict=True)
    }
    shortlists[OF_THE_PERIOD] = printed(RatesOfThePeriod, stream, policy(period=SHORT))
    return {
        **in_all(shortlists, stream.size),
        **over_time(shortlists, stream.size, stretches=STRETCHES),
    }


def _off(found: dict[str, Any], name: str) -> float:
    return abs(float(found[f"{MEAN} in all, {name}"]) - KINDS)


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_over_time(measures, canvas, figure, [*VARIANTS, *AS_PRINTED, OF_THE_PERIOD])
