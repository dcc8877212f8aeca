"""The skew of the stream changes in the middle, from 0.75 to 1.25."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np

from experiments.novelty.changing import draw_entropies, entropies
from experiments.novelty.streams import KINDS, length, zipf_stream
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    half = length(run) // 2
    flatter = zipf_stream(run, "flatter half", half, skew=0.75)
    steeper = zipf_stream(run, "steeper half", half, skew=1.25)
    return entropies(run, "skew changes", np.concatenate([flatter, steeper]))


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_entropies(measures, canvas, figure, best=log2(KINDS))
