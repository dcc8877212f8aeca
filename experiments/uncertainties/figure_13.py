"""Figure 13: what degrees in a few bits cost in precision, and save in space.

Every subscription has a threshold of its own. The paper does not say how they are drawn: here from
0 to 1 for the possibility, from 0 to 0.4 for the possibility, or from 0 to 1 for both degrees. The
first run is exact; in the others a threshold counts from the start of its cell. Precision is the
paper's: what the exact run returns over what the coarse one returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.picture import draw_paper
from experiments.uncertainties.matching import grown, pairs
from experiments.uncertainties.workload import Workload
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run
from shortlist.matching.index.matches import Matches
from shortlist.model.settings import Bits, Limits
from shortlist.model.subscription import AtLeast, Subscription

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.papers import Figure

BITS: tuple[Bits, ...] = (8, 4, 3, 2)
THRESHOLDS = {
    "possibility": "possibility up to 1",
    "low": "possibility up to 0.4",
    "both": "both degrees up to 1",
}


def measure(run: Run) -> dict[str, Any]:
    sizes = run.pick(full=[5_000, 10_000, 20_000], quick=[1_000, 2_000, 4_000])
    workload = Workload(run.draws("workload"), sizes[-1], run.pick(full=100, quick=40))
    measures: dict[str, Any] = {"subscriptions": sizes, "missed": 0}
    for thresholds in THRESHOLDS:
        found = run.point(
            f"Precision, {thresholds}", partial(compared, run, workload, sizes, thresholds)
        )
        measures["missed"] += found.pop("missed")
        measures |= found
    return measures


def compared(run: Run, workload: Workload, sizes: list[int], thresholds: str) -> dict[str, Any]:
    block = workload.block_as()
    subscriptions = [*_with_thresholds(run, workload, thresholds)]

    def found(bits: Bits | None) -> list[Matches]:
        limits = Limits(degree_bits=bits)
        return grown(subscriptions, sizes, block, workload.vocabulary, limits)

    exact = found(None)
    told: dict[str, Any] = {"missed": 0, "bytes of 64 bits": 2 * np.float64().nbytes}
    for bits in BITS:
        coarse = found(bits)
        told[f"{bits} bits, {thresholds}"] = [
            a.count / b.count for a, b in zip(exact, coarse, strict=True)
        ]
        told[f"bytes of {bits} bits"] = _degree_bytes(coarse[-1], bits)
        told["missed"] += int(np.setdiff1d(pairs(exact[-1]), pairs(coarse[-1])).size)
    return told


def _with_thresholds(run: Run, workload: Workload, thresholds: str) -> Iterator[Subscription]:
    most = 0.4 if thresholds == "low" else 1.0
    least = (most * run.draws("thresholds").random(workload.subscriptions)).round(6).tolist()
    for subscription, threshold in zip(workload.subscriptions_as(), least, strict=True):
        necessity = threshold if thresholds == "both" else 0.0
        yield replace(subscription, at_least=AtLeast(possibility=threshold, necessity=necessity))


def _degree_bytes(matches: Matches, bits: Bits) -> float:
    """What the two degrees of a match take that is not certain, as numbers of cells, packed."""
    degrees = np.append(matches.possibilities, matches.necessities)
    cells = np.minimum(degrees * 2**bits, 2**bits - 1).astype(np.uint8)
    packed = np.packbits(np.unpackbits(cells[:, np.newaxis], axis=1)[:, 8 - bits :])
    return packed.nbytes / matches.possibilities.size


def draw(measures: dict[str, Any], canvas: Canvas, figure: Figure) -> None:
    axes = canvas.subplots(1, len(THRESHOLDS), sharey=True)
    over = [size / 1000 for size in measures["subscriptions"]]
    given = sorted(
        {100 * each.value for each in figure.claims if isinstance(each.value, float)} - {0}
    )
    for (thresholds, words), one in zip(THRESHOLDS.items(), axes, strict=True):
        lines = {
            f"{bits} bits: {measures[f'bytes of {bits} bits']:.3g} bytes a match": [
                100 * each for each in measures[f"{bits} bits, {thresholds}"]
            ]
            for bits in BITS
        }
        draw_lines(one, over, lines)
        one.set_xlabel("subscriptions (thousands)")
        draw_paper(one, [over[len(over) // 2]] * len(given), given)
        one.set_ylim(0, 102)
        one.set_title(f"thresholds of {words}", fontsize=9)
    axes[0].set_ylabel("precision (%)")
    axes[0].legend(loc="lower left")
