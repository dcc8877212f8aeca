"""The commands `overlay simulate` and `overlay cover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import FINITE, app, errors, notes
from shortlist.model.settings import Settings
from shortlist.progress import Steps

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
    from shortlist.cli.overlay_runs import grid_axes, run_simulation
    from shortlist.overlay.broker import StrategySettings
    from shortlist.overlay.simulator import Network

    routing = StrategySettings(
        merges=merge, rounds=rounds, fan_out=fan_out, seed=seed, axes=grid_axes(grid)
    )
    network = Network(
        delay=options.duration_of("--delay", delay),
        loss=loss,
        cell=cell,
        seed=seed,
        exchange=exchange,
        routing=routing,
        settings=Settings(limits=options.limits_of(limit)),
    )
    with errors():
        run_simulation(
            topology,
            registry,
            publications,
            network,
            strategy=None if compare else strategy,
            place=place,
            probes=probes,
            draw=draw,
            as_json=as_json,
        )


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
    from shortlist.cli.overlay_runs import print_shares, ranges_of
    from shortlist.covering.slices import FindCovering, covering_order

    with errors():
        ranges = ranges_of(registry, subscriptions, attributes, seed, options.limits_of(limit))
        find: FindCovering = covering_order
        if on == "spark":
            from shortlist.spark.covering import covering_on
            from shortlist.spark.session import any_session

            with Steps(notes).step("Starting Spark"):
                find = covering_on(any_session(master))
        print_shares(ranges, k or [1, 2, 5, 10], find, as_json)
