"""The commands `overlay simulate` and `overlay cover`: brokers, counted and drawn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column

from shortlist.cli import options
from shortlist.cli.app import FINITE, app, errors, notes, show_table, warn
from shortlist.cli.batch import numbered_lines
from shortlist.model.settings import Limits, Settings
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.covering.condition_graph import Boxes
    from shortlist.model.command import Item
    from shortlist.model.registry import Registry
    from shortlist.overlay.rendezvous import GridAxis
    from shortlist.overlay.strategies import Strategy

overlay_app = typer.Typer(
    no_args_is_help=True, help="Simulate brokers between publishers and subscribers."
)
app.add_typer(overlay_app, name="overlay", rich_help_panel=FINITE)


@overlay_app.command("simulate")
def simulate_command(
    topology: Annotated[Path, typer.Argument(help="Brokers and links: a YAML or JSON file.")],
    registry: Annotated[Path, typer.Argument(help="A registry: a file or a folder.")],
    publications: Annotated[
        Path, typer.Argument(help="Publications, and commands among them: a file or folder.")
    ],
    *,
    strategy: Annotated[
        str, typer.Option(help="How brokers route; `--compare` shows all.")
    ] = "covering",
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
        typer.Option(help="Let subscribers choose brokers: random, top-level, nodes or both."),
    ] = None,
    probes: Annotated[
        int | None, typer.Option(min=1, help="How many brokers each looks at; else all.")
    ] = None,
    exchange: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Let holders decide for split shortlists, with counts told after so many matches.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="What chance follows from.")] = 0,
    limit: options.LimitFlags = None,
    as_json: options.AsJson = False,
) -> None:
    """Let brokers route a finite input, and count their messages."""
    from shortlist.engine.replay import read_items
    from shortlist.intake.files import read_registry
    from shortlist.overlay.broker import Network
    from shortlist.overlay.central import central
    from shortlist.overlay.drawing import drawn
    from shortlist.overlay.messages import KINDS
    from shortlist.overlay.placement import CRITERIA, placed
    from shortlist.overlay.simulator import simulate
    from shortlist.overlay.topology_files import read_topology

    settings = Settings(limits=options.limits_of(limit))
    network = Network(
        delay=options.duration_of("--delay", delay),
        loss=loss,
        cell=cell,
        seed=seed,
        exchange=exchange,
        merges=merge,
        rounds=rounds,
        fan_out=fan_out,
        axes=grid_axes(grid),
        settings=settings,
    )
    with errors():
        brokers, known = read_topology(topology), read_registry(registry, settings.limits)
        items, unread = read_items(known, numbered_lines(publications)[1], settings)
        if place is not None:
            if place not in CRITERIA:
                choices = f"expected one of {', '.join(CRITERIA)}"
                raise typer.BadParameter(f"--place: {choices}; found {place!r}")
            homes = placed(known, brokers.edges, place, probes=probes, seed=seed)
            brokers = replace(brokers, subscribers=homes)
        reports = []
        for which in _asked(None if compare else strategy, known, items):
            report = simulate(brokers, known, items, which, network)
            expected = central(known, items, which, settings).deliveries
            reports.append((report, report.document(expected)))
        first, document = reports[0]
        if draw is not None:
            draw.write_text(drawn(brokers, first), encoding="utf-8")
        if as_json:
            for _, each in reports:
                print(json.dumps(each))
        else:
            _show_reports([each for _, each in reports], KINDS)
            if not compare:
                _tell_more(document, {kind: first.traffic.by_hop(kind) for kind in KINDS})
        reasons = Counter(reject.reason for reject in (*unread, *first.rejects))
        warn(f"{count:,} rejected: {reason}" for reason, count in reasons.most_common())


def _asked(name: str | None, registry: Registry, items: Sequence[Item]) -> list[Strategy]:
    from shortlist.model.command import Advertise
    from shortlist.overlay.strategies import STRATEGIES

    if name is not None:
        if name not in STRATEGIES:
            raise typer.BadParameter(
                f"--strategy: expected one of {', '.join(STRATEGIES)}; found {name!r}"
            )
        return [STRATEGIES[name]]
    advertised = bool(registry.advertisements) or any(isinstance(i, Advertise) for i in items)
    return [each for each in STRATEGIES.values() if each.is_advertised == advertised]


def grid_axes(texts: list[str] | None) -> tuple[GridAxis, ...]:
    from shortlist.model.paths import parse_path
    from shortlist.overlay.rendezvous import GridAxis

    axes = []
    for text in texts or ():
        name, _, numbers = text.partition("=")
        try:
            axes.append(GridAxis(parse_path(name), tuple(sorted(map(float, numbers.split(","))))))
        except ValueError:
            expected = "ATTRIBUTE=NUMBER,NUMBER,…"
            raise typer.BadParameter(f"--grid: expected {expected}; found {text!r}") from None
    return tuple(axes)


def _show_reports(documents: list[dict[str, Any]], kinds: Sequence[str]) -> None:
    sent = [kind for kind in kinds if any(document[kind] for document in documents)]
    names = [*sent, "total", "bytes", "deliveries"]
    rows = (
        (each["strategy"], *(f"{each[name]:,}" for name in names), f"{each['recall']:.1%}")
        for each in documents
    )
    show_table((Column("strategy", no_wrap=True), *names, "recall"), rows, slice(1, None))


def _tell_more(document: Mapping[str, Any], by_hop: Mapping[str, Mapping[int, int]]) -> None:
    """What is said of one strategy that stands alone."""
    for kind, counts in by_hop.items():
        hops = ", ".join(f"{hop}: {count:,}" for hop, count in counts.items())
        if hops:
            print(f"{kind} by hop: {hops}")
    for each in document.get("split", ()):
        print(
            f"{each['shortlist']}: {each['deliveries']:,} deliveries, {each['missing']:,}"
            f" missing and {each['extra']:,} extra; entropy {each['entropy']:.3f} bits, of"
            f" one engine {each['expected_entropy']:.3f}"
        )


SHARES = {
    "RegularCover": "regular_cover",
    "RankCoverK": "rank_cover",
    "… first arrived": "rank_cover_first_arrived",
    "… shortest path": "rank_cover_shortest_path",
    "AncestorCoverK": "ancestor_cover",
}


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
    attributes: Annotated[
        int, typer.Option(min=1, help="Of how many attributes drawn ones ask for a range.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="What the drawing follows from.")] = 0,
    limit: options.LimitFlags = None,
    on: options.On = "process",
    master: Annotated[
        str | None, typer.Option(help="With --on spark: a Spark master; else this machine.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say how many subscriptions a broker forwards that knows a publisher's k best."""
    options.check_place(on, master)
    from shortlist.covering.slices import FindCovering, covering_order
    from shortlist.overlay.cover_shares import cover_shares

    with errors():
        ranges = _ranges(registry, subscriptions, attributes, seed, options.limits_of(limit))
        find: FindCovering = covering_order
        if on == "spark":
            from shortlist.spark.covering import covering_on
            from shortlist.spark.session import any_session

            with Steps(notes).step("Starting Spark"):
                find = covering_on(any_session(master))
        shares = cover_shares(ranges, k or [1, 2, 5, 10], find)
    if as_json:
        for each in shares:
            print(json.dumps(asdict(each)))
        return
    rows = []
    for each in shares:
        numbers = (1.0, *(getattr(each, name) for name in SHARES.values()))
        rows.append((str(each.k), *(f"{number:.2%}" for number in numbers)))
    title = f"forwarded of {len(ranges.lows):,} subscriptions"
    show_table(("k", "RegularK", *SHARES), rows, title=title)


def _ranges(
    registry: Path | None, subscriptions: int | None, attributes: int, seed: int, limits: Limits
) -> Boxes:
    """The ranges of a registry, or so many drawn ones."""
    from shortlist.intake.files import read_registry
    from shortlist.overlay.cover_shares import drawn_intervals, registry_ranges

    if subscriptions is not None and registry is None:
        return drawn_intervals(subscriptions, seed, attributes=attributes)
    if registry is not None and subscriptions is None:
        return registry_ranges(read_registry(registry, limits), limits)
    found = "neither" if registry is None else "both"
    raise typer.BadParameter(f"expected REGISTRY or --subscriptions, found {found}")
