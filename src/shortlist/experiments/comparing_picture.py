"""Policies side by side, as a picture: a panel for each measure, a bar for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shortlist.experiments.comparing import Comparand
from shortlist.experiments.picture import INKS, canvas

PANELS = {
    "saved": "matches not delivered, share",
    "entropy": "entropy, bits",
    "fairness": "fairness, 0 to 1",
    "deviation": "deviation of the distance, deliveries",
    "threshold_changes": "changes of thresholds",
    "score": "mean score",
    "quality": "mean quality",
}
MOST_IN_A_ROW = 4


def draw_comparison(found: Sequence[Comparand], file: Path) -> None:
    """Measures of which nothing can be said have no panel."""
    shown = {name: title for name, title in PANELS.items() if any(getattr(c, name) for c in found)}
    columns = min(len(shown), MOST_IN_A_ROW)
    lines = -(-len(shown) // columns)
    size = (1.6 + 2.4 * columns, lines * (0.9 + 0.28 * len(found)))
    with canvas(file, size=size) as picture:
        panels = picture.subplots(lines, columns, sharey=True, squeeze=False).flat
        names = [each.policy for each in found]
        for panel, (name, title) in zip(panels, shown.items(), strict=False):
            values = [getattr(each, name) or 0.0 for each in found]
            panel.barh(range(len(names)), values, color=INKS[0])
            panel.set_yticks(range(len(names)), names)
            panel.set_xlabel(title)
            panel.grid(visible=False, axis="y")
        next(iter(picture.axes)).invert_yaxis()
        for empty in picture.axes[len(shown) :]:
            empty.set_visible(False)
