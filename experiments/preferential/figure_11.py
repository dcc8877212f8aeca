"""Figure 11: what a subscriber gets of 100 matching movies, over k.

One movie each t, expiring after 15t or 20t. In scenario 1 most of those with a higher score come
early, in scenario 2 late: the movies stand in order of their score, from which each is moved by
some ten places. The paper has one subscriber; here each number is the mean over many, each with
five subscriptions and 100 movies of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from experiments.preferential.workload import (
    DISTRIBUTIONS,
    Distribution,
    Event,
    Interest,
    Movies,
    Subscriber,
    by_shortlist,
    mean,
    registry,
)
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.picture import draw_lines
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

EVENTS = 100
KS = tuple(range(1, 21))
EXPIRIES = (15, 20)
SCENARIOS = (1, 2)
MOVED = 10
"""Places, as the standard deviation."""
LOW_K = 5
"""At which it is looked at who gets through."""


def measure(run: Run) -> Measures:
    movies = Movies.of(run)
    measures: dict[str, float | list[float] | list[str]] = {"k": [*map(float, KS)]}
    for distribution in DISTRIBUTIONS:
        measures |= run.point(distribution, partial(_measured, run, movies, distribution))
    return measures


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    panels = canvas.subplots(1, len(DISTRIBUTIONS), sharey=True)
    for axes, distribution in zip(panels, DISTRIBUTIONS, strict=True):
        lines = {
            f"scenario {scenario}, τ = {expiry}t": measures[_name(distribution, scenario, expiry)]
            for scenario in reversed(SCENARIOS)
            for expiry in EXPIRIES
        }
        draw_lines(axes, measures["k"], lines)
        axes.set_title(f"{distribution} subscriptions", fontsize=9)
        axes.set_xlabel("k")
        axes.set_xticks(range(0, KS[-1] + 1, 5))
    panels[0].set_ylabel(f"delivered of {EVENTS} matching movies\n(mean over subscribers)")
    panels[-1].legend(loc="lower right")


def _name(distribution: str, scenario: int, expiry: int | None) -> str:
    ending = "no expiry" if expiry is None else f"{expiry}t"
    return f"{distribution}, scenario {scenario}, {ending}"


def _measured(run: Run, movies: Movies, distribution: Distribution) -> Measures:
    draws = run.draws(distribution)
    users = _users(run, movies, distribution, draws)
    measures: dict[str, float | list[float] | list[str]] = {
        f"{distribution}, subscribers": float(len(users))
    }
    for scenario in SCENARIOS:
        orders = {name: _order(events, scenario, draws) for name, (_, events) in users.items()}
        lower = {name: _lower_places(orders[name]) for name in users}
        for expiry in (*EXPIRIES, None):
            tables = [
                movies.publications([event.place for event in order], expiry, source=name)
                for name, order in orders.items()
            ]
            shortlists = [
                Subscriber(f"{name} {k}", interests, {"kind": "top-k", "k": k}, source=name)
                for name, (interests, _) in users.items()
                for k in (KS if expiry else [LOW_K])
            ]
            ranked = run.rank(registry(shortlists), pa.concat_tables(tables))
            delivered = by_shortlist(ranked)
            name = _name(distribution, scenario, expiry)
            if expiry:
                measures[name] = [mean(len(delivered[f"{user} {k}"]) for user in users) for k in KS]
            measures[f"lower half, {name}"] = mean(
                len({event.place for event in delivered[f"{user} {LOW_K}"]} & places) / len(places)
                for user, places in lower.items()
                if places
            )
    return measures


def _users(
    run: Run, movies: Movies, distribution: Distribution, draws: np.random.Generator
) -> Mapping[str, tuple[Sequence[Interest], Sequence[Event]]]:
    """Subscribers that enough movies match, each with the first of these."""
    wanted = run.pick(full=60, quick=12)
    pool = draws.choice(len(movies.data), 2000, replace=False)
    drawn = {f"u{n}": movies.interests(draws, distribution) for n in range(3 * wanted)}
    subscribers = [Subscriber(*each) for each in drawn.items()]
    matched = by_shortlist(run.rank(registry(subscribers), movies.publications(pool)))
    enough = [name for name in drawn if len(matched.get(name, [])) >= EVENTS][:wanted]
    return {
        name: (
            drawn[name],
            [Event(int(pool[event.place]), event.score) for event in matched[name][:EVENTS]],
        )
        for name in enough
    }


def _order(events: Sequence[Event], scenario: int, draws: np.random.Generator) -> list[Event]:
    """The best early or late, but for what chance moves."""
    best_first = sorted(events, key=lambda event: -event.score)
    ordered = best_first if scenario == 1 else best_first[::-1]
    places = np.arange(len(events)) + draws.normal(0, MOVED, len(events))
    return [ordered[place] for place in np.argsort(places)]


def _lower_places(order: Sequence[Event]) -> set[int]:
    """Where those are that score less than half of the others do."""
    middle = float(np.median([event.score for event in order]))
    return {place for place, event in enumerate(order) if event.score < middle}
