"""The commands `overlay simulate` and `overlay cover`."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import (
    FINITE,
    AsJson,
    LimitFlags,
    app,
    duration_of,
    errors,
    limits_of,
    warn,
)
from shortlist.cli.batch import numbered_lines
from shortlist.engine.replay import read_items
from shortlist.intake.files import read_registry
from shortlist.model.command import Advertise, Item
from shortlist.model.paths import parse_path
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
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
from shortlist.overlay.report import Report
from shortlist.overlay.simulator import Network, simulate
from shortlist.overlay.strategies import STRATEGIES, Strategy, StrategySettings
from shortlist.overlay.topology import Topology
from shortlist.overlay.topology_files import read_topology

overlay_app = typer.Typer(
    no_args_is_help=True, help="Simulate brokers between publishers and subscribers."
)
app.add_typer(overlay_app, name="overlay", rich_help_panel=FINITE)

NAMES = ", ".join(STRATEGIES)


@overlay_app.command("simulate")
def simulate_command(
    topology: Annotated[Path, typer.Argument(help="Brokers and links: a YAML or JSON file.")],
    registry: Annotated[Path, typer.Argument(help="A registry: a file or a folder.")],
    publications: Annotated[
        Path, typer.Argument(help="Publications, and commands among them: a file or folder.")
    ],
    *,
    strategy: Annotated[str, typer.Option(help=f"One of {NAMES}.")] = "covering",
    compare: Annotated[bool, typer.Option(help="All strategies that fit, side by side.")] = False,
    draw: Annotated[
        Path | None, typer.Option(help="Also draw the network with its traffic: an SVG file.")
    ] = None,
    delay: Annotated[str, typer.Option(help="The longest that a link takes, e.g. 20ms.")] = "0",
    loss: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The share of messages that is lost.")
    ] = 0.0,
    cell: Annotated[
        float | None,
        typer.Option(min=1e-9, help="Tell thresholds by cells of this width; else exactly."),
    ] = None,
    merge: Annotated[bool, typer.Option(help="Covering merges ranges that overlap.")] = False,
    rounds: Annotated[int, typer.Option(min=0, help="How often a gossip is passed on.")] = 4,
    fan_out: Annotated[int, typer.Option(min=1, help="To how many neighbours.")] = 2,
    grid: Annotated[
        list[str] | None,
        typer.Option(help="For rendezvous: ATTRIBUTE=NUMBER,NUMBER,… where cells begin."),
    ] = None,
    place: Annotated[
        str | None,
        typer.Option(help=f"Let subscribers choose brokers, by {', '.join(CRITERIA)}."),
    ] = None,
    probes: Annotated[
        int | None, typer.Option(min=1, help="How many brokers each looks at; else all.")
    ] = None,
    seed: Annotated[int, typer.Option(help="What chance follows from.")] = 0,
    limit: LimitFlags = None,
    as_json: AsJson = False,
) -> None:
    """Let brokers route a finite input, and count their messages."""
    settings = Settings(limits=limits_of(limit))
    routing = StrategySettings(
        merges=merge, rounds=rounds, fan_out=fan_out, seed=seed, axes=_axes(grid)
    )
    network = Network(
        delay=duration_of("--delay", delay),
        loss=loss,
        cell=cell,
        seed=seed,
        routing=routing,
        settings=settings,
    )
    with errors():
        brokers = read_topology(topology)
        known = read_registry(registry, settings.limits)
        items, unread = read_items(known, numbered_lines(publications)[1], settings)
        if place is not None:
            brokers = _with_places(brokers, known, place, probes, seed)
        reports = []
        for each in _asked(strategy, compare, known, items):
            report = simulate(brokers, known, items, each, network)
            expected = central(known, items, each, settings).deliveries
            reports.append((report, report.document(expected)))
        if draw is not None:
            draw.write_text(drawn(brokers, reports[0][0]), encoding="utf-8")
    if as_json:
        for _, document in reports:
            print(json.dumps(document))
    else:
        Console().print(_table([document for _, document in reports]))
        if not compare:
            _print_hops(reports[0][0])
    reasons = Counter(reject.reason for reject in (*unread, *reports[0][0].rejects))
    warn(f"{count:,} rejected: {reason}" for reason, count in reasons.most_common())


@overlay_app.command("cover")
def cover_command(
    registry: Annotated[
        Path | None, typer.Argument(help="A registry whose subscriptions ask for ranges.")
    ] = None,
    *,
    subscriptions: Annotated[
        int | None,
        typer.Option(min=1, help="In place of it, so many intervals as the paper draws them."),
    ] = None,
    k: Annotated[list[int] | None, typer.Option(min=1, help="May stand several times.")] = None,
    seed: Annotated[int, typer.Option(help="What the drawing follows from.")] = 0,
    limit: LimitFlags = None,
    as_json: AsJson = False,
) -> None:
    """Say how many subscriptions a broker forwards that knows a publisher's k best."""
    limits = limits_of(limit)
    with errors():
        if subscriptions is not None and registry is None:
            ranges = drawn_intervals(subscriptions, seed)
        elif registry is not None and subscriptions is None:
            ranges = registry_ranges(read_registry(registry, limits), limits)
        else:
            found = "neither" if registry is None else "both"
            raise typer.BadParameter(f"expected REGISTRY or --subscriptions, found {found}")
        shares = cover_shares(ranges, k or [1, 2, 5, 10])
    if as_json:
        for each in shares:
            print(json.dumps(asdict(each)))
    else:
        Console().print(_share_table(len(ranges.lows), shares))


def _asked(name: str, compare: bool, registry: Registry, items: Sequence[Item]) -> list[Strategy]:
    if not compare:
        if name not in STRATEGIES:
            raise typer.BadParameter(f"--strategy: expected one of {NAMES}; found {name!r}")
        return [STRATEGIES[name]]
    advertised = bool(registry.advertisements) or any(isinstance(i, Advertise) for i in items)
    return [each for each in STRATEGIES.values() if each.is_advertised == advertised]


def _with_places(
    topology: Topology, registry: Registry, place: str, probes: int | None, seed: int
) -> Topology:
    for criterion in CRITERIA:
        if criterion == place:
            homes = placed(registry, topology.edges, criterion, probes=probes, seed=seed)
            return replace(topology, subscribers=homes)
    raise typer.BadParameter(f"--place: expected one of {', '.join(CRITERIA)}; found {place!r}")


def _axes(texts: list[str] | None) -> tuple[GridAxis, ...]:
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


def _print_hops(report: Report) -> None:
    for kind in KINDS:
        hops = report.traffic.by_hop(kind)
        if hops:
            print(f"{kind} by hop: " + ", ".join(f"{hop}: {n:,}" for hop, n in hops.items()))


def _share_table(count: int, shares: list[CoverShares]) -> Table:
    table = Table(
        "k",
        "RegularK",
        "RegularCover",
        "RankCoverK",
        "… first arrived",
        "… shortest path",
        "AncestorCoverK",
        title=f"forwarded of {count:,} subscriptions",
        title_justify="left",
    )
    for each in shares:
        numbers = (
            1.0,
            each.regular_cover,
            each.rank_cover,
            each.rank_cover_first_arrived,
            each.rank_cover_shortest_path,
            each.ancestor_cover,
        )
        table.add_row(str(each.k), *(f"{number:.2%}" for number in numbers))
    return table
