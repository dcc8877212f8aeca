"""What the commands about overlays do: brokers on finite inputs, counted and drawn."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import warn
from shortlist.cli.batch import numbered_lines
from shortlist.covering.condition_graph import Boxes
from shortlist.covering.slices import FindCovering
from shortlist.engine.replay import read_items
from shortlist.intake.files import read_registry
from shortlist.model.command import Advertise, Item
from shortlist.model.paths import parse_path
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.overlay.central import central
from shortlist.overlay.cover_shares import (
    CoverShares,
    cover_shares,
    drawn_intervals,
    registry_ranges,
)
from shortlist.overlay.drawing import drawn
from shortlist.overlay.messages import KINDS
from shortlist.overlay.placement import CRITERIA, placed
from shortlist.overlay.rendezvous import GridAxis
from shortlist.overlay.simulator import Network, simulate
from shortlist.overlay.strategies import STRATEGIES, Strategy
from shortlist.overlay.topology_files import read_topology


def run_simulation(
    topology: Path,
    registry: Path,
    publications: Path,
    network: Network,
    *,
    strategy: str | None,
    place: str | None,
    probes: int | None,
    draw: Path | None,
    as_json: bool,
) -> None:
    """Simulates a strategy, or all that fit, draws and prints; subscribers choose their brokers by
    a criterion, or stand where the topology says."""
    settings = network.settings
    brokers, known = read_topology(topology), read_registry(registry, settings.limits)
    items, unread = read_items(known, numbered_lines(publications)[1], settings)
    if place is not None:
        if place not in CRITERIA:
            choices = f"expected one of {', '.join(CRITERIA)}"
            raise typer.BadParameter(f"--place: {choices}; found {place!r}")
        homes = placed(known, brokers.edges, place, probes=probes, seed=network.seed)
        brokers = replace(brokers, subscribers=homes)
    reports = []
    for which in _asked(strategy, known, items):
        report = simulate(brokers, known, items, which, network)
        expected = central(known, items, which, settings).deliveries
        reports.append((report, report.document(expected)))
    if draw is not None:
        draw.write_text(drawn(brokers, reports[0][0]), encoding="utf-8")
    if as_json:
        for _, document in reports:
            print(json.dumps(document))
    else:
        Console().print(_table([document for _, document in reports]))
        if strategy is not None:
            report, document = reports[0]
            for kind in KINDS:
                hops = ", ".join(f"{hop}: {n:,}" for hop, n in report.traffic.by_hop(kind).items())
                if hops:
                    print(f"{kind} by hop: {hops}")
            for each in document.get("split", ()):
                print(
                    f"{each['shortlist']}: {each['deliveries']:,} deliveries, {each['missing']:,}"
                    f" missing and {each['extra']:,} extra; entropy {each['entropy']:.3f} bits, of"
                    f" one engine {each['expected_entropy']:.3f}"
                )
    reasons = Counter(reject.reason for reject in (*unread, *reports[0][0].rejects))
    warn(f"{count:,} rejected: {reason}" for reason, count in reasons.most_common())


def ranges_of(
    registry: Path | None, subscriptions: int | None, attributes: int, seed: int, limits: Limits
) -> Boxes:
    """The ranges of a registry, or so many drawn ones."""
    if subscriptions is not None and registry is None:
        return drawn_intervals(subscriptions, seed, attributes=attributes)
    if registry is not None and subscriptions is None:
        return registry_ranges(read_registry(registry, limits), limits)
    found = "neither" if registry is None else "both"
    raise typer.BadParameter(f"expected REGISTRY or --subscriptions, found {found}")


def print_shares(ranges: Boxes, ks: Sequence[int], find: FindCovering, as_json: bool) -> None:
    """How many of them a broker forwards."""
    shares = cover_shares(ranges, ks, find)
    if as_json:
        for each in shares:
            print(json.dumps(asdict(each)))
    else:
        Console().print(_share_table(len(ranges.lows), shares))


def _asked(name: str | None, registry: Registry, items: Sequence[Item]) -> list[Strategy]:
    if name is not None:
        if name not in STRATEGIES:
            raise typer.BadParameter(
                f"--strategy: expected one of {', '.join(STRATEGIES)}; found {name!r}"
            )
        return [STRATEGIES[name]]
    advertised = bool(registry.advertisements) or any(isinstance(i, Advertise) for i in items)
    return [each for each in STRATEGIES.values() if each.is_advertised == advertised]


def grid_axes(texts: list[str] | None) -> tuple[GridAxis, ...]:
    axes = []
    for text in texts or ():
        name, _, numbers = text.partition("=")
        try:
            axes.append(GridAxis(parse_path(name), tuple(sorted(map(float, numbers.split(","))))))
        except ValueError:
            expected = "ATTRIBUTE=NUMBER,NUMBER,…"
            raise typer.BadParameter(f"--grid: expected {expected}; found {text!r}") from None
    return tuple(axes)


def _table(documents: list[dict[str, Any]]) -> Table:
    kinds = [kind for kind in KINDS if any(document[kind] for document in documents)]
    names = [*kinds, "total", "bytes", "deliveries"]
    table = Table("strategy", *names, "recall")
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for document in documents:
        counts = [f"{document[name]:,}" for name in names]
        table.add_row(document["strategy"], *counts, f"{document['recall']:.1%}")
    return table


SHARES = {
    "RegularCover": "regular_cover",
    "RankCoverK": "rank_cover",
    "… first arrived": "rank_cover_first_arrived",
    "… shortest path": "rank_cover_shortest_path",
    "AncestorCoverK": "ancestor_cover",
}


def _share_table(count: int, shares: list[CoverShares]) -> Table:
    title = f"forwarded of {count:,} subscriptions"
    table = Table("k", "RegularK", *SHARES, title=title, title_justify="left")
    for each in shares:
        numbers = (1.0, *(getattr(each, name) for name in SHARES.values()))
        table.add_row(str(each.k), *(f"{number:.2%}" for number in numbers))
    return table
