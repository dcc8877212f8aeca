"""The paper's network, with every delivery checked: 10 core brokers in a chain, 5 edge brokers
each, one publisher at an edge who publishes 30 times a minute and reaches the 10 widest.

What brokers deliver is compared with what one engine delivers, and what reaches the publisher's
broker with the shares that the other figures are made of.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.picture import draw_bars, draw_paper
from experiments.rank_cover.network import interval_network
from shortlist.model.delivery import Delivery
from shortlist.model.publication import Publication
from shortlist.overlay.central import central
from shortlist.overlay.cover_shares import cover_shares, drawn_intervals
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

K = 10
BETWEEN = 2_000_000
"""Microseconds from one publication to the next."""
RULES = {
    "regular-k": "RegularK",
    "regular-cover": "RegularCover",
    "rank-cover-k": "RankCoverK",
    "ancestor-cover-k": "AncestorCoverK",
}
PAPERS = {"RegularK": 100.0, "RegularCover": 1.47, "RankCoverK": 84.71, "AncestorCoverK": 6.03}
"""Of 10,000 subscriptions, in percent, with k = 10."""


def measure(run: Run) -> Measures:
    measures: dict[str, Any] = {"rules": [*RULES.values()]}
    found = {
        name: run.point(name, partial(_simulated, run, strategy))
        for strategy, name in RULES.items()
    }
    for fact in ("reached", "computed", "delivered", "missing", "wrong", "messages"):
        measures[fact] = [each[fact] for each in found.values()]
    measures["reached beside computed"] = max(
        abs(each["reached"] - each["computed"]) for each in found.values()
    )
    for name, each in found.items():
        measures[f"{name}, reached"] = each["reached"]
    return measures


def _simulated(run: Run, strategy: str) -> dict[str, float]:
    count, published = run.pick(full=(10_000, 30), quick=(500, 30))
    ranges = drawn_intervals(count, run.draws("intervals"))
    network, registry = interval_network(ranges, K)
    news = [
        Publication(id=str(n), source="p", time=n * BETWEEN, position=n, data={"x": x})
        for n, x in enumerate(run.draws("publications").random(published).tolist())
    ]
    report = simulate(network, registry, news, STRATEGIES[strategy])
    expected = {*map(_facts, central(registry, news, STRATEGIES[strategy]).deliveries)}
    made = {*map(_facts, report.deliveries)}
    (shares,) = cover_shares(ranges, [K])
    computed = {
        "regular-k": 1.0,
        "regular-cover": shares.regular_cover,
        "rank-cover-k": shares.rank_cover,
        "ancestor-cover-k": shares.ancestor_cover,
    }
    publishers = network.publishers["p"]
    elsewhere = sum(home != publishers for home in network.subscribers.values())
    return {
        "reached": 100 * report.known[publishers] / elsewhere,
        "computed": 100 * computed[strategy],
        "delivered": len(made),
        "missing": len(expected - made),
        "wrong": len(made - expected) + len(report.deliveries) - len(made),
        "messages": report.traffic.total,
    }


def _facts(delivery: Delivery) -> tuple[object, ...]:
    return delivery.shortlist, delivery.publication.id, delivery.time, delivery.score


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    reached, messages = canvas.subplots(1, 2)
    names = numbers["rules"]
    series = {"at the publisher's broker": numbers["reached"], "by rule": numbers["computed"]}
    draw_bars(reached, names, series)
    draw_paper(reached, [*range(len(names))], [PAPERS[name] for name in names])
    reached.set_ylabel("subscriptions in percent")
    draw_bars(messages, names, {"messages": numbers["messages"]})
    messages.set_ylabel("messages between 60 brokers")
    for axes in (reached, messages):
        axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    canvas.legend(*reached.get_legend_handles_labels(), ncols=3, loc="outside lower center")
