"""Figures 5 and 6: John's six movies, without and with expiry.

He gives comedies 0.9 and dramas 0.8, and wants the best two. A theatre announces each movie an hour
before it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

GENRES = ("comedy", "drama", "comedy", "drama", "drama", "drama")
ANNOUNCED = ("19:00", "19:30", "20:30", "22:00", "22:10", "22:20")
AHEAD = timedelta(hours=1)
CASES = ("without expiry", "with expiry")
REGISTRY = {
    "shortlists": [{"id": "john", "subscriber": "john", "policy": {"kind": "top-k", "k": 2}}],
    "subscriptions": [
        {"id": "comedies", "shortlist": "john", "where": "genre = 'comedy'", "score": 0.9},
        {"id": "dramas", "shortlist": "john", "where": "genre = 'drama'", "score": 0.8},
    ],
}


def measure(run: Run) -> Measures:
    return {case: _delivered(run, case == "with expiry") for case in CASES}


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    panels = canvas.subplots(len(CASES), 1, sharex=True)
    for axes, case in zip(panels, CASES, strict=True):
        places = range(1, len(GENRES) + 1)
        fills = ["#1b3a6b" if came else "white" for came in measures[case]]
        axes.bar(places, [1] * len(GENRES), 0.7, color=fills, edgecolor="black")
        for place, genre, time, came in zip(places, GENRES, ANNOUNCED, measures[case], strict=True):
            said = f"n{place} at {time}\n{genre}\n{'delivered' if came else 'withheld'}"
            ink = "white" if came else "black"
            axes.text(place, 0.5, said, ha="center", va="center", color=ink, fontsize=8)
        axes.set_title(case, fontsize=9)
        axes.set_yticks([])
        axes.set_xticks([])
        axes.grid(False)
        axes.spines["left"].set_visible(False)


def _delivered(run: Run, expire: bool) -> list[float]:
    """1 for each that John gets, 0 for the others."""
    publications = []
    for number, (genre, time) in enumerate(zip(GENRES, ANNOUNCED, strict=True), 1):
        at = datetime.fromisoformat(f"2026-01-01T{time}:00").replace(tzinfo=UTC)
        publication: dict[str, Any] = {
            "id": f"n{number}",
            "source": "theatre",
            "time": at.isoformat(),
        }
        if expire:
            publication["expirytime"] = (at + AHEAD).isoformat()
        publications.append(publication | {"data": {"genre": genre}})
    came = run.rank(REGISTRY, publications).deliveries["publication"].to_pylist()
    return [float(f"n{number}" in came) for number in range(1, len(GENRES) + 1)]
