"""The picture of all policies: a mark for each, and the same in numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shortlist.experiments.picture import INKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SINGLE, CHAINED, PLAIN = INKS[0], INKS[1], "#777777"
WITHOUT_POLICY = ("everything", "by chance")
BETWEEN_LABELS = 0.045
"""Of the height, so that none overlaps another."""
BESIDE = 0.09
"""How far a label is from its mark, across."""
TICKS = (0, 50, 80, 90, 95, 98)
COLUMNS = (
    ("traffic\nsaved", "saved", "{:.0%}"),
    ("held-out\nrating", "stars", "{:.2f} ★"),
    ("against all\nmatched", "gain", "{:+.2f} ★"),
    ("favourites\nkept", "favourites", "{:.0%}"),
    ("variety of\ngenres (bits)", "variety", "{:.2f}"),
)


def draw_marks(measures: Mapping[str, Any], axes: Axes, chains: Collection[str]) -> None:
    """Traffic saved across, quality kept upwards; the larger a mark, the more varied its genres."""
    columns = (measures[name] for name in ("policy", "saved", "gain", "error", "variety"))
    low, high = min(measures["variety"]), max(measures["variety"])
    places = {}
    for name, saved, gain, error, variety in zip(*columns, strict=True):
        ink = _ink(name, chains)
        share = (variety - low) / (high - low) if high > low else 0.5
        places[name] = (_across(saved), gain)
        axes.errorbar(*places[name], 1.96 * error, color=ink, alpha=0.35, lw=1.2, zorder=2)
        marker = "D" if name in chains else "X" if name in WITHOUT_POLICY else "o"
        size = 20 + 110 * share
        axes.scatter(*places[name], size, color=ink, marker=marker, ec="white", zorder=3)
    axes.axhline(0, color="black", lw=0.8)
    axes.set_xlim(-0.06, _across(0.993))
    axes.set_xticks([_across(tick / 100) for tick in TICKS], [f"{tick} %" for tick in TICKS])
    axes.set_xlabel("traffic saved against Boolean matching (scale: logarithm of what is left)")
    axes.set_ylabel("rating of what is delivered, against all\nthat matched the same user (stars)")
    _label(axes, places, chains)
    for marker, ink, said in (
        ("o", SINGLE, "one policy"),
        ("D", CHAINED, "a chain of policies"),
        ("X", PLAIN, "no ranking at all"),
    ):
        axes.scatter([], [], 60, color=ink, marker=marker, label=said)
    axes.plot([], [], color=PLAIN, alpha=0.5, label="95 % interval")
    axes.scatter([], [], 120, color="white", ec="#777777", label="larger: more varied genres")
    axes.legend(loc="center left")


def draw_table(measures: Mapping[str, Any], axes: Axes, chains: Collection[str]) -> None:
    axes.axis("off")
    count = len(measures["policy"])
    axes.set_xlim(0, 1)
    axes.set_ylim(-count, 2)
    ends = [0.4 + 0.145 * number for number in range(len(COLUMNS))]
    axes.text(0.02, 0.9, "policy", weight="bold", va="center")
    for end, (title, _, _) in zip(ends, COLUMNS, strict=True):
        axes.text(end, 0.9, title, weight="bold", ha="right", va="center")
    axes.plot([0.02, 1], [-0.1, -0.1], color="black", lw=0.8)
    for row, name in enumerate(measures["policy"]):
        axes.text(0.02, -row - 0.6, name, color=_ink(name, chains), va="center")
        for end, (_, column, form) in zip(ends, COLUMNS, strict=True):
            number = round(measures[column][row], 4) + 0.0  # a zero without a sign
            said = form.format(number).replace("-", "−")
            axes.text(end, -row - 0.6, said, ha="right", va="center")


def _across(saved: float) -> float:
    """Where a share of traffic saved stands: what is left of it, on a scale of logarithms."""
    return -math.log10(max(1 - saved, 1e-3))


def _label(axes: Axes, places: Mapping[str, tuple[float, float]], chains: Collection[str]) -> None:
    """Names beside the marks: those of chains on the right, the others on the left."""
    bottom, top = axes.get_ylim()
    apart = BETWEEN_LABELS * (top - bottom)
    lifted = {name: y + apart * (name in WITHOUT_POLICY) for name, (_, y) in places.items()}
    right = [name for name in places if name in chains or name == "everything"]
    for side, chosen in ((1, right), (-1, [name for name in places if name not in right])):
        upwards = sorted(chosen, key=lambda name: lifted[name])
        heights = _spread([lifted[name] for name in upwards], apart)
        for name, height in zip(upwards, heights, strict=True):
            x, y = places[name]
            axes.annotate(
                name,
                (x, y),
                (x + side * BESIDE, height),
                ha="left" if side > 0 else "right",
                va="center",
                color=_ink(name, chains),
                arrowprops={"arrowstyle": "-", "color": "#aaaaaa", "lw": 0.6, "shrinkB": 4},
            )


def _spread(heights: Sequence[float], apart: float) -> list[float]:
    """Rising heights, moved as little as lets each stand this far from the next.

    >>> [round(height, 3) for height in _spread([0.0, 0.5, 0.6], 0.3)]
    [0.0, 0.4, 0.7]
    """
    moved = [*heights]
    for _ in range(200):
        for below in range(len(moved) - 1):
            missing = apart - (moved[below + 1] - moved[below])
            if missing > 0:
                moved[below] -= missing / 2
                moved[below + 1] += missing / 2
    return moved


def _ink(name: str, chains: Collection[str]) -> str:
    return PLAIN if name in WITHOUT_POLICY else CHAINED if name in chains else SINGLE
