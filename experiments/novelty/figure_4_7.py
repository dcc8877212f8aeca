"""Popularity is reversed in the middle: the most popular subscription becomes the rarest."""

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
    first, second = (zipf_stream(run, name, half) for name in ("first half", "second half"))
    return entropies(run, "popularity reversed", np.concatenate([first, KINDS - 1 - second]))


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_entropies(measures, canvas, figure, best=log2(KINDS))
