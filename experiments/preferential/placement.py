"""Section 5, last paragraph: subscribers that choose their server, beside those that do not.

Servers form a hierarchy; publishers and subscribers connect to any of them. A subscriber either
joins a server by chance, or probes servers and takes the one whose subscription graph would get
fewest new top-level nodes and then has fewest nodes (section 3.3). A probe takes two messages,
which are counted. Servers route by covering, as SIENA does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.picture import draw_bars
from experiments.preferential.workload import (
    DISTRIBUTIONS,
    STEP,
    Distribution,
    Movies,
    Subscriber,
    mean,
    registry,
)
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run
from shortlist.intake.files import registry_from_documents
from shortlist.measures.spread import traffic_saved
from shortlist.model.publication import Publication
from shortlist.overlay.placement import placed
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LEVELS = {"7 servers": 3, "15 servers": 4}
"""Of a hierarchy in which each server has two below it."""
PUBLISHERS = 4
PROBES: dict[str, int | None] = {"5 servers probed": 5, "all servers probed": None}
MESSAGES_OF_A_PROBE = 2
BY_CHANCE = "by chance"


def measure(run: Run) -> Measures:
    movies = Movies.of(run)
    places = [*product(DISTRIBUTIONS, LEVELS)]
    rounds = range(run.pick(full=4, quick=1))
    found = {
        (*place, number): run.point(
            f"{place}, {number}", partial(_totals, run, movies, *place, number)
        )
        for place in places
        for number in rounds
    }
    measures: dict[str, float | list[float] | list[str]] = {
        "network": [f"{distribution},\n{servers}" for distribution, servers in places],
        "messages by chance": [
            mean(found[(*place, number)][BY_CHANCE] for number in rounds) for place in places
        ],
    }
    for probed in PROBES:
        each = {key: _saved(totals, probed) for key, totals in found.items()}
        measures[f"saved, {probed}"] = [
            mean(each[(*place, number)] for number in rounds) for place in places
        ]
        measures[f"saved by each, {probed}"] = [*each.values()]
        measures[f"saved on average, {probed}"] = mean(each.values())
    return measures


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    axes = canvas.subplots()
    networks = measures["network"]
    saved = {name: [100 * each for each in measures[f"saved, {name}"]] for name in PROBES}
    draw_bars(axes, networks, saved)
    for middle, name in zip((-0.2, 0.2), PROBES, strict=True):
        rounds = 100 * np.reshape(measures[f"saved by each, {name}"], (len(networks), -1))
        for place, shares in enumerate(rounds):
            across = place + middle + np.linspace(-0.1, 0.1, len(shares))
            label = None if place or middle > 0 else "each round"
            axes.plot(across, shares, "o", color="white", mec="black", ms=4, label=label)
    axes.axhline(27, color="black", linestyle="--", label="the paper: 27 % on average")
    axes.axhline(0, color="black", lw=0.8)
    axes.set_ylabel("messages saved by placement\n(% of those between servers)")
    axes.set_xlabel("subscriptions, network")
    canvas.legend(ncols=4, loc="outside lower center")


def _saved(totals: Mapping[str, int], probed: str) -> float:
    return traffic_saved(totals[BY_CHANCE], totals[probed])


def _totals(
    run: Run, movies: Movies, distribution: Distribution, servers: str, number: int
) -> dict[str, int]:
    """Messages between servers, those of probes included, by how subscribers choose."""
    draws = run.draws(distribution, servers, number)
    tree = hierarchy(LEVELS[servers], 2)
    count = run.pick(full=20, quick=8)
    subscribers = [Subscriber(f"u{n}", movies.interests(draws, distribution)) for n in range(count)]
    known = registry_from_documents(registry(subscribers))
    chosen = draws.choice(len(movies.data), run.pick(full=1000, quick=500), replace=False)
    news = [_publication(movies, place, int(movie)) for place, movie in enumerate(chosen)]
    publishers = {f"cinema{n}": str(draws.choice(tree.brokers)) for n in range(PUBLISHERS)}
    seed = int(draws.integers(2**31))

    def messages(criterion: str, probes: int | None) -> int:
        homes = placed(known, tree.brokers, criterion, probes=probes, seed=seed)
        network = Topology(tree.brokers, tree.links, publishers, homes)
        return simulate(network, known, news, STRATEGIES["covering"]).traffic.total

    totals = {BY_CHANCE: messages("random", None)}
    for name, probes in PROBES.items():
        asked = count * min(probes or len(tree.brokers), len(tree.brokers))
        totals[name] = messages("both", probes) + MESSAGES_OF_A_PROBE * asked
    return totals


def _publication(movies: Movies, place: int, movie: int) -> Publication:
    return Publication(
        id=f"n{place}",
        source=f"cinema{place % PUBLISHERS}",
        time=place * STEP // timedelta(microseconds=1),
        position=place,
        data=movies.data[movie].as_py(),
    )
