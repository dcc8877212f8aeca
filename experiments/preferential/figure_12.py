"""Figure 12: the share of matches that is delivered, over how long movies are valid.

200 movies, one each t, valid for t to 60t or for ever; subscribers with five subscriptions and
k = 1, whose subscriptions match 51, 27 and 15 % of the movies. The paper shows one subscriber of
each kind; here each number is the mean over many, with other movies each few.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from experiments.preferential.workload import (
    DISTRIBUTIONS,
    Distribution,
    Movies,
    Subscriber,
    counts,
    mean,
    registry,
)
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

EVENTS = 200
COVERAGES = (51, 27, 15)
EXPIRIES = (1, 5, 10, 15, 20, 30, 40, 50, 60, None)


def measure(run: Run) -> Measures:
    movies = Movies.of(run)
    ends = ["∞" if expiry is None else f"{expiry}t" for expiry in EXPIRIES]
    measures: dict[str, float | list[float] | list[str]] = {"expiry": ends}
    for distribution in DISTRIBUTIONS:
        measures |= run.point(distribution, partial(_measured, run, movies, distribution))
    names = [_name(*each) for each in product(DISTRIBUTIONS, COVERAGES)]
    shares = np.array([measures[name] for name in names], float)
    spreads = np.array([measures[f"spread over subscribers, {name}"] for name in names], float)
    measures["all at t"] = shares[:, 0].tolist()
    measures["never expiring, on average"] = mean(shares[:, -1])
    measures["never expiring, spread"] = spreads[:, -1].tolist()
    return measures


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    panels = canvas.subplots(1, len(DISTRIBUTIONS), sharey=True)
    for axes, distribution in zip(panels, DISTRIBUTIONS, strict=True):
        lines = {
            f"user {number}: {coverage} % match": [
                100 * share for share in measures[_name(distribution, coverage)]
            ]
            for number, coverage in enumerate(COVERAGES, 1)
        }
        draw_lines(axes, measures["expiry"], lines)
        axes.set_title(f"{distribution} subscriptions", fontsize=9)
        axes.set_xlabel("valid for (t = 500 ms)")
        axes.set_ylim(0, 105)
    panels[0].set_ylabel("delivered\n(% of what matches, mean over subscribers)")
    panels[-1].legend(loc="upper right")


def _name(distribution: str, coverage: int) -> str:
    return f"{distribution}, {coverage} % match"


def _measured(run: Run, movies: Movies, distribution: Distribution) -> Measures:
    draws = run.draws(distribution)
    rounds = {
        f"cinema{number}": draws.choice(len(movies.data), EVENTS, replace=False)
        for number in range(run.pick(full=8, quick=2))
    }
    by_coverage = _users(run, movies, distribution, draws, rounds)
    users = [each for chosen in by_coverage.values() for each, _ in chosen]
    measures: dict[str, float | list[float] | list[str]] = {
        f"{distribution}, subscribers": [float(len(each)) for each in by_coverage.values()]
    }
    delivered = []
    for expiry in EXPIRIES:
        tables = [movies.publications(chosen, expiry, name) for name, chosen in rounds.items()]
        delivered.append(counts(run.rank(registry(users), pa.concat_tables(tables))))
    for coverage, chosen in by_coverage.items():
        shares = np.array(
            [[each[user.id] / matched for each in delivered] for user, matched in chosen]
        )
        measures[_name(distribution, coverage)] = shares.mean(axis=0).tolist()
        measures[f"spread over subscribers, {_name(distribution, coverage)}"] = shares.std(
            axis=0
        ).tolist()
        measures[f"falls for each, {_name(distribution, coverage)}"] = mean(
            bool((np.diff(row) <= 0).all()) for row in shares
        )
    return measures


def _users(
    run: Run,
    movies: Movies,
    distribution: Distribution,
    draws: np.random.Generator,
    rounds: dict[str, np.ndarray],
) -> dict[int, list[tuple[Subscriber, int]]]:
    """By the share of movies that match: those that have it, within half a percent."""
    found: dict[int, list[tuple[Subscriber, int]]] = {coverage: [] for coverage in COVERAGES}
    for cinema, chosen in rounds.items():
        drawn = [
            Subscriber(f"{cinema}-u{n}", movies.interests(draws, distribution)) for n in range(400)
        ]
        matched = counts(run.rank(registry(drawn), movies.publications(chosen)))
        for user in drawn:
            for coverage, those in found.items():
                if abs(100 * matched.get(user.id, 0) / EVENTS - coverage) <= 0.5:
                    ranking = user._replace(policy={"kind": "top-k", "k": 1}, source=cinema)
                    those.append((ranking, matched[user.id]))
    return found
