"""Algorithm 1 beside Definition 6.

Subscribers as in section 5 see 10,000 of the movies, in drawn order, one each t. Each movie expires
after 20t, or after a time of its own between t and 40t. Three deciders see the same matches: this
system, which follows Definition 6; Algorithm 1 as printed; and Algorithm 1 with the one sign that
the text around it has differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.preferential.as_printed import algorithm_1, misjudged
from experiments.preferential.workload import (
    DISTRIBUTIONS,
    Distribution,
    Event,
    Movies,
    Subscriber,
    by_shortlist,
    registry,
)
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

KS = (1, 2, 3, 5, 8, 12, 16, 20)
EXPIRY = 20
EXPIRIES = ("fixed", "own")
DECIDERS = ("here", "as printed", "by the text")
Counts = dict[str, dict[str, list[int]]]


def measure(run: Run) -> Measures:
    movies = Movies.of(run)
    measures: dict[str, float | list[float] | list[str]] = {"k": [*map(float, KS)]}
    for expiry in EXPIRIES:
        found = [
            run.point(
                f"{distribution}, {expiry}", partial(_counts, run, movies, distribution, expiry)
            )
            for distribution in DISTRIBUTIONS
        ]
        measures |= _shares(found, expiry)
    return measures


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    left, right = canvas.subplots(1, 2, sharey=True)
    for axes, expiry, title in zip(
        (left, right),
        EXPIRIES,
        ("every movie expires after 20t", "each after 1t to 40t"),
        strict=True,
    ):
        lines = {
            "as printed, withheld": measures[f"withheld as printed, {expiry}"],
            "as printed, forwarded": measures[f"forwarded as printed, {expiry}"],
            "with ≥ as in the text, forwarded": measures[f"forwarded by the text, {expiry}"],
            "this system, either": measures[f"misjudged here, {expiry}"],
        }
        shares = {name: [100 * each for each in values] for name, values in lines.items()}
        draw_lines(axes, measures["k"], shares)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("k")
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(-0.02, 100)
        axes.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    left.set_ylabel("decisions against Definition 6\n(% of all matches)")
    canvas.legend(*left.get_legend_handles_labels(), ncols=2, loc="outside lower center")


def _shares(found: Sequence[Counts], expiry: str) -> dict[str, float | list[float] | list[str]]:
    """Of all matches, by k."""

    def share(*names: str) -> list[float]:
        total = sum(each["matched"]["all"][0] for each in found)
        counted = [
            each[kind][name] for each in found for kind, name in (n.split(": ") for n in names)
        ]
        return [float(number) / total for number in np.sum(counted, axis=0)]

    return {
        f"withheld as printed, {expiry}": share("withheld: as printed"),
        f"forwarded as printed, {expiry}": share("forwarded: as printed"),
        f"withheld by the text, {expiry}": share("withheld: by the text"),
        f"forwarded by the text, {expiry}": share("forwarded: by the text"),
        f"misjudged here, {expiry}": share("withheld: here", "forwarded: here"),
        f"delivered here, {expiry}": share("delivered: here"),
        f"delivered as printed, {expiry}": share("delivered: as printed"),
        f"delivered by the text, {expiry}": share("delivered: by the text"),
        f"other decisions as printed, {expiry}": share("other: as printed"),
        f"other decisions by the text, {expiry}": share("other: by the text"),
    }


def _counts(run: Run, movies: Movies, distribution: Distribution, expiry: str) -> Counts:
    """Of decisions by kind and decider, for each k."""
    draws = run.draws(distribution, expiry)
    size = run.pick(full=10_000, quick=1500)
    order = draws.permutation(len(movies.data))[:size]
    after = draws.integers(1, 2 * EXPIRY, size, endpoint=True).tolist()
    ends_after = [EXPIRY] * size if expiry == "fixed" else after
    publications = movies.publications(order, ends_after)
    ends = [place + steps for place, steps in enumerate(ends_after)]
    users = {
        f"u{number}": movies.interests(draws, distribution)
        for number in range(run.pick(full=20, quick=5))
    }
    everything = [Subscriber(name, interests) for name, interests in users.items()]
    matched = by_shortlist(run.rank(registry(everything), publications))
    kinds = ("delivered", "withheld", "forwarded", "other")
    counts: Counts = {kind: {name: [0] * len(KS) for name in DECIDERS} for kind in kinds}
    counts["matched"] = {"all": [sum(map(len, matched.values()))]}
    for column, k in enumerate(KS):
        policy = {"kind": "top-k", "k": k}
        best = [Subscriber(name, users[name], policy) for name in matched]
        ours = by_shortlist(run.rank(registry(best), publications))
        for name, events in matched.items():
            _count(counts, column, events, ends, k, [event.place for event in ours.get(name, [])])
    return counts


def _count(
    counts: Counts, column: int, events: list[Event], ends: list[int], k: int, here: list[int]
) -> None:
    decided = {
        "here": here,
        "as printed": algorithm_1(events, ends, k),
        "by the text": algorithm_1(events, ends, k, equal_enters=True),
    }
    for name, places in decided.items():
        wrong = misjudged(events, ends, k, places)
        counts["delivered"][name][column] += len(places)
        counts["withheld"][name][column] += wrong.withheld
        counts["forwarded"][name][column] += wrong.forwarded
        counts["other"][name][column] += len({*places} ^ {*here})
