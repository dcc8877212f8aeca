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
from shortlist.experiments.picture import draw_bars
from shortlist.experiments.run import Run
from shortlist.intake.files import registry_from_documents
from shortlist.measures.traffic import traffic_saved
from shortlist.model.publication import Publication
from shortlist.overlay.placement import Criterion, placed
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LEVELS = {"7 servers": 3, "15 servers": 4}
"""Of a hierarchy in which each server has two below it."""
PUBLISHERS = 4
PROBES = 5
MESSAGES_OF_A_PROBE = 2
CRITERIA: tuple[Criterion, ...] = ("random", "both")


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
    without = [_saved(found[(*place, number)], False) for place in places for number in rounds]
    saved = [mean(_saved(found[(*place, number)]) for number in rounds) for place in places]
    return {
        "network": [f"{distribution},\n{servers}" for distribution, servers in places],
        "saved": saved,
        "saved by each": [_saved(each) for each in found.values()],
        "saved on average": mean(saved),
        "saved without probes": mean(without),
        "messages by chance": [
            mean(found[(*place, number)]["random"] for number in rounds) for place in places
        ],
    }


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title, fontsize=10)
    axes = canvas.subplots()
    networks = measures["network"]
    draw_bars(axes, networks, {"mean of rounds": [100 * each for each in measures["saved"]]})
    each = np.reshape(measures["saved by each"], (len(networks), -1))
    for place, shares in enumerate(each):
        label = None if place else "each round"
        across = np.linspace(-0.15, 0.15, len(shares)) if len(shares) > 1 else [0.0]
        axes.plot(
            place + np.array(across), 100 * shares, "o", color="white", mec="black", label=label
        )
    axes.axhline(27, color="black", linestyle="--", label="the paper: 27 % on average")
    axes.axhline(
        100 * measures["saved on average"], color="#c1440e", linestyle=":", label="average here"
    )
    axes.set_ylabel("messages saved by placement\n(% of those between servers)")
    axes.set_xlabel("subscriptions, network")
    canvas.legend(ncols=4, loc="outside lower center")


def _saved(totals: Mapping[str, int], with_probes: bool = True) -> float:
    probes = totals["probes"] if with_probes else 0
    return traffic_saved(totals["random"], totals["both"] + probes)


def _totals(
    run: Run, movies: Movies, distribution: Distribution, servers: str, number: int
) -> dict[str, int]:
    """Messages between servers by how subscribers choose, and those of their probes."""
    draws = run.draws(distribution, servers, number)
    tree = hierarchy(LEVELS[servers], 2)
    count = run.pick(full=30, quick=8)
    subscribers = [Subscriber(f"u{n}", movies.interests(draws, distribution)) for n in range(count)]
    known = registry_from_documents(registry(subscribers))
    chosen = draws.choice(len(movies.data), run.pick(full=1000, quick=500), replace=False)
    news = [_publication(movies, place, int(movie)) for place, movie in enumerate(chosen)]
    publishers = {f"cinema{n}": str(draws.choice(tree.brokers)) for n in range(PUBLISHERS)}
    seed = int(draws.integers(2**31))
    totals = {"probes": count * min(PROBES, len(tree.brokers)) * MESSAGES_OF_A_PROBE}
    for criterion in CRITERIA:
        homes = placed(known, tree.brokers, criterion, probes=PROBES, seed=seed)
        network = Topology(tree.brokers, tree.links, publishers, homes)
        totals[criterion] = simulate(network, known, news, STRATEGIES["covering"]).traffic.total
    return totals


def _publication(movies: Movies, place: int, movie: int) -> Publication:
    return Publication(
        id=f"n{place}",
        source=f"cinema{place % PUBLISHERS}",
        time=place * STEP // timedelta(microseconds=1),
        position=place,
        data=movies.data[movie].as_py(),
    )
