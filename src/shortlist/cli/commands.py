"""The commands that change what a deployment knows, sent as lines of its input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from shortlist.cli.app import LIVE, AsJson, app
from shortlist.cli.deployment import LogUrl
from shortlist.cli.dispatch import Dispatch
from shortlist.cli.incoming import FilePaths
from shortlist.cli.orders import Orders

OF_FILES: dict[str, str] = {
    "open": "Open shortlists, one JSON object a line.",
    "advertise": "Make advertisements, one JSON object a line.",
    "update": 'Change live nouns: {"subscription": ID, …} or {"shortlist": ID, …}, one a line.',
}
OF_NAMES: dict[str, str] = {
    "unsubscribe": "Cancel subscriptions.",
    "close": "Close shortlists, and cancel their subscriptions.",
    "unadvertise": "Withdraw advertisements.",
}
Ids = Annotated[list[str], typer.Argument(help="Their ids.")]
Time = Annotated[str | None, typer.Option("--time", help="When, RFC 3339; else now.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is carried out or rejected.")]
Patience = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]


def _of_files(verb: str) -> Callable[..., None]:
    def command(
        files: FilePaths = None,
        *,
        log: LogUrl,
        at: Time = None,
        wait: Wait = False,
        patience: Patience = 60,
        as_json: AsJson = False,
    ) -> None:
        orders = Orders()
        orders.add_lines(verb, files)
        Dispatch(log, at, wait, patience, as_json).send(orders)

    return command


def _of_names(verb: str) -> Callable[..., None]:
    def command(
        ids: Ids,
        *,
        log: LogUrl,
        at: Time = None,
        wait: Wait = False,
        patience: Patience = 60,
        as_json: AsJson = False,
    ) -> None:
        orders = Orders()
        orders.add_names(verb, ids)
        Dispatch(log, at, wait, patience, as_json).send(orders)

    return command


@app.command(rich_help_panel=LIVE)
def subscribe(
    files: FilePaths = None,
    *,
    log: LogUrl,
    at: Time = None,
    wait: Wait = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """Make subscriptions, one JSON object a line; or all that a registry (YAML, JSON) lists."""
    orders = Orders()
    orders.add_subscriptions(files)
    Dispatch(log, at, wait, patience, as_json).send(orders)


for _verb, _help in OF_FILES.items():
    app.command(_verb, help=_help, rich_help_panel=LIVE)(_of_files(_verb))
for _verb, _help in OF_NAMES.items():
    app.command(_verb, help=_help, rich_help_panel=LIVE)(_of_names(_verb))


@app.command(rich_help_panel=LIVE)
def retract(
    source: Annotated[str, typer.Argument(help="The publisher.")],
    ids: Annotated[list[str], typer.Argument(help="Ids of its publications.")],
    *,
    log: LogUrl,
    at: Time = None,
    wait: Wait = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """Take publications back."""
    orders = Orders()
    orders.add_retractions(source, ids)
    Dispatch(log, at, wait, patience, as_json).send(orders)
