"""How many messages each routing strategy takes, Boolean and with windows.

By formula, with the paper's numbers; and simulated, with fewer of everything, beside the formula
for just as many. What a formula takes from elsewhere (matches, updates, how many subscriptions
others cover) is then what the simulation found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.picture import draw_bars, draw_paper
from experiments.top_k_w.message_model import Setting
from shortlist.intake.files import registry_from_documents
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.overlay.broker import Network
from shortlist.overlay.central import central
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.claims import Measures
    from shortlist.experiments.papers import Figure
    from shortlist.experiments.run import Run

PAPERS = {
    "publication-flooding": (255.0, 255.0),
    "subscription-flooding": (0.26, 2.81),
    "covering": (0.83, 2.10),
    "rendezvous": (5.20, 5.23),
    "basic-gossip": (25.60, 25.60),
    "informed-gossip": (25.60, 25.63),
}
"""Millions of messages, Boolean and with windows: only drawn in."""
EXACT = ("publication-flooding", "subscription-flooding", "covering", "rendezvous")
MINUTE = 60_000_000
BOOLEAN, WINDOWED = "Boolean", "windows"
CELL = 0.01
"""How wide the cells of thresholds are, on the only axis."""


def measure(run: Run) -> Measures:
    plain, windowed = Setting(updates=0).messages(), Setting().messages()
    names = [*windowed]
    found: dict[str, Any] = {
        "strategies": names,
        "Boolean, millions": [plain[name].total / 1e6 for name in names],
        "windows, millions": [windowed[name].total / 1e6 for name in names],
    }
    for name in names:
        more = windowed[name].total / plain[name].total - 1
        found[f"{name}, percent more"] = 100 * more
    simulated = run.point("simulated", lambda: _simulated(run))
    return found | simulated


def _simulated(run: Run) -> dict[str, float | list[float]]:
    found: dict[str, float | list[float]] = {}
    tree = hierarchy(run.pick(full=4, quick=3), 3)
    draw = run.draws("network")
    names = [f"s{number}" for number in range(run.pick(full=24, quick=8))]
    homes = {name: tree.brokers[draw.integers(len(tree.brokers))] for name in names}
    sources = {"p": tree.brokers[draw.integers(len(tree.brokers))]}
    network = Topology(tree.brokers, tree.links, sources, homes)
    values = draw.random(run.pick(full=100, quick=50))
    news = [
        Publication(id=str(n), source="p", time=n * MINUTE, position=n, data={"x": float(value)})
        for n, value in enumerate(values)
    ]
    recalls = []
    for kind in (BOOLEAN, WINDOWED):
        registry = _registry(draw.random(len(names)).tolist(), names, kind)
        expected = central(registry, news, STRATEGIES["covering"]).deliveries
        reports = {
            name: simulate(network, registry, news, STRATEGIES[name], Network(cell=CELL))
            for name in PAPERS
        }
        updates = reports["subscription-flooding"].traffic.of("update")
        formulas = Setting(
            publications=len(news),
            subscriptions=len(names),
            brokers=len(tree.brokers),
            matches=len(expected),
            updates=updates / (len(tree.brokers) - 1),
            degree=3,
        ).messages()
        found[f"{kind}, simulated"] = [report.traffic.total for report in reports.values()]
        found[f"{kind}, by formula"] = [formulas[name].total for name in reports]
        recalls += [reports[name].recall(expected) for name in EXACT]
        for name, report in reports.items():
            found[f"{name}, {kind} updates"] = report.traffic.of("update")
    found["recall of the exact ones"] = recalls
    return found


def _registry(centres: list[float], names: list[str], kind: str) -> Registry:
    """Boolean ones want what is near, windows the three nearest of the last hour."""
    policy = {"kind": "window", "k": 3, "window": "1h"}
    subscriptions = [
        {"id": name, "score": f"-distance(x: {centre:.4f})"}
        | (
            {"where": f"x between {centre - 0.05:.4f} and {centre + 0.05:.4f}"}
            if kind == BOOLEAN
            else {"policy": policy}
        )
        for name, centre in zip(names, centres, strict=True)
    ]
    return registry_from_documents({"subscriptions": subscriptions})


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    canvas.suptitle(figure.title)
    numbers: Any = measures
    by_formula, simulated = canvas.subplots(1, 2)
    labels = [name.replace("-", " ") for name in numbers["strategies"]]
    draw_bars(
        by_formula,
        labels,
        {BOOLEAN: numbers["Boolean, millions"], WINDOWED: numbers["windows, millions"]},
    )
    places = [at + side for at in range(len(labels)) for side in (-0.2, 0.2)]
    draw_paper(by_formula, places, [total for pair in PAPERS.values() for total in pair])
    by_formula.set_ylabel("messages in millions")
    by_formula.set_title("by formula, 256 brokers")
    draw_bars(
        simulated,
        labels,
        {
            BOOLEAN: numbers["Boolean, simulated"],
            WINDOWED: numbers["windows, simulated"],
            "windows, by formula": numbers["windows, by formula"],
        },
    )
    simulated.set_ylabel("messages")
    simulated.set_title("simulated, with fewer of everything")
    for axes in (by_formula, simulated):
        axes.set_yscale("log")
        axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
        axes.set_ylim(top=5 * axes.get_ylim()[1])
        axes.legend(ncols=2, fontsize=8)
