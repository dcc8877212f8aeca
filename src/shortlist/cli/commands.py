"""The commands that change what a deployment knows, sent as lines of its input."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from itertools import chain
from typing import Annotated, Any, NamedTuple

import typer

from shortlist.cli.app import LIVE, AsJson, app, fail, say
from shortlist.cli.deployment import Deployment, LogUrl, opened
from shortlist.cli.orders import Order, Orders
from shortlist.cli.sending import FilePaths, Line, Receipt, in_chunks, send
from shortlist.cli.verdicts import effects, rejections, wait_until_passed
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.log.base import REJECTS
from shortlist.model.command import Command
from shortlist.model.times import format_time, parse_time
from shortlist.model.vocabulary import Vocabulary


class Verdict(NamedTuple):
    """What became of one."""

    place: str
    offset: int
    rejected: str | None
    effect: str | None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """When and where to."""

    log: str
    at: str | None
    wait: bool
    patience: float
    as_json: bool

    def send(self, orders: Orders) -> None:
        given = _given(self.at)
        with opened(self.log) as log:
            deployment = Deployment(log)
            commands = _checked(orders, deployment.vocabulary)
            foreseen = effects(deployment, commands) if self.wait else []
            rejected_before = log.end(REJECTS)
            # as late as possible: meanwhile time goes on in the deployment, too
            micros = _now() if given is None else given
            lines = (Line(order.place, _line(order, micros).encode()) for order in orders.found)
            receipt = send(log, in_chunks(lines))
            if not self.wait or receipt.ends is None:
                self._tell(receipt)
                return
            manifest = wait_until_passed(deployment, receipt.ends[1], micros, self.patience)
            offsets = [*chain(*receipt.runs)]
            reasons = dict(rejections(log, manifest, set(offsets), after=rejected_before))
        verdicts = [
            Verdict(order.place, offset, reasons.get(offset), effect)
            for order, offset, effect in zip(orders.found, offsets, foreseen, strict=True)
        ]
        self._tell_verdicts(receipt, verdicts)

    def _tell(self, receipt: Receipt) -> None:
        print(json.dumps(receipt.document()) if self.as_json else receipt.text())

    def _tell_verdicts(self, receipt: Receipt, verdicts: list[Verdict]) -> None:
        rejected = [each for each in verdicts if each.rejected is not None]
        carried_out = [each for each in verdicts if each.rejected is None]
        if self.as_json:
            document = receipt.document() | {
                "carried out": len(carried_out),
                "rejected": [_document(each) for each in rejected],
                "effects": [_document(each) for each in carried_out if each.effect is not None],
            }
            print(json.dumps(document, ensure_ascii=False))
        else:
            print(receipt.text())
            say(f"{each.place}: {each.rejected}" for each in rejected)
            for each in carried_out:
                if each.effect is not None:
                    print(f"{each.place}: {each.effect}")
            print(f"{len(carried_out):,} carried out, {len(rejected):,} rejected")
        if rejected:
            raise typer.Exit(1)


def _given(text: str | None) -> int | None:
    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise typer.BadParameter(f"--time: {error}") from None


def _now() -> int:
    return time.time_ns() // 1000


def _line(order: Order, micros: int) -> str:
    document = {"time": format_time(micros), order.verb: order.content}
    return json.dumps(document, ensure_ascii=False)


def _checked(orders: Orders, vocabulary: Vocabulary) -> list[Command]:
    """The commands, as they will be read on the other side; fails if there is any problem."""
    reader = ItemReader(vocabulary)
    commands, problems = [], [*orders.problems]
    for order in orders.found:
        try:
            command = reader.line(_line(order, _now()), position=0)
        except BadItem as problem:
            problems.append(f"{order.place}: {problem}")
        else:
            assert isinstance(command, Command)
            commands.append(command)
    if problems:
        fail(problems)
    return commands


def _document(verdict: Verdict) -> dict[str, Any]:
    return {name: value for name, value in verdict._asdict().items() if value is not None}


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
