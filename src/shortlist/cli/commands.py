"""The commands that change what a deployment knows, sent as lines of its input."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

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
Publisher = Annotated[str, typer.Argument(help="The publisher.")]
PublicationIds = Annotated[list[str], typer.Argument(help="Ids of its publications.")]
Ids = Annotated[list[str], typer.Argument(help="Their ids.")]
Time = Annotated[str | None, typer.Option("--time", help="When, RFC 3339; else now.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is carried out or rejected.")]
Patience = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]


def _options(
    *,
    log: LogUrl,
    at: Time = None,
    wait: Wait = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> Dispatch:
    """What all of them can be told."""
    return Dispatch(log, at, wait, patience, as_json)


def _sent(verb: str, help: str, add: Callable[..., None]) -> None:
    """Makes a command that sends what `add` adds to its first argument, the orders."""

    def command(**given: Any) -> None:
        orders = Orders()
        add(orders, **{name: given.pop(name) for name in [*given] if name not in COMMON})
        _options(**given).send(orders)

    _, *own = signature(add, eval_str=True).parameters.values()
    common = signature(_options, eval_str=True).parameters.values()
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*own, *common)]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command(verb, help=help, rich_help_panel=LIVE)(command)


COMMON = [*signature(_options).parameters]


def _add_subscriptions(orders: Orders, files: FilePaths = None) -> None:
    orders.add_subscriptions(files)


def _add_lines(verb: str) -> Callable[..., None]:
    def add(orders: Orders, files: FilePaths = None) -> None:
        orders.add_lines(verb, files)

    return add


def _add_names(verb: str) -> Callable[..., None]:
    def add(orders: Orders, ids: Ids) -> None:
        orders.add_names(verb, ids)

    return add


def _add_retractions(orders: Orders, source: Publisher, ids: PublicationIds) -> None:
    orders.add_retractions(source, ids)


_sent(
    "subscribe",
    "Make subscriptions, one JSON object a line; or all that a registry (YAML, JSON) lists.",
    _add_subscriptions,
)
for _verb, _help in OF_FILES.items():
    _sent(_verb, _help, _add_lines(_verb))
for _verb, _help in OF_NAMES.items():
    _sent(_verb, _help, _add_names(_verb))
_sent("retract", "Take publications back.", _add_retractions)
