"""The commands that change what a deployment knows, sent as lines of its input."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from inspect import Parameter, Signature, signature
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, notes, only_with_log, reached, say
from shortlist.cli.sending import STANDARD_INPUT, WAITING, acknowledged, incoming
from shortlist.client.commands import Order, Sent, Verdict, checked, effects
from shortlist.client.deployment import Deployment, wait_until_passed
from shortlist.client.sending import Line, Receipt, in_chunks, send
from shortlist.log.base import REJECTS
from shortlist.model.settings import Limits
from shortlist.model.times import now, parse_time
from shortlist.model.wording import shown

REGISTRY_SUFFIXES = (".yaml", ".yml", ".json")

Publisher = Annotated[str, typer.Argument(help="The publisher.")]
PublicationIds = Annotated[list[str], typer.Argument(help="Ids of its publications.")]
Ids = Annotated[list[str], typer.Argument(help="Their ids.")]
AttributeName = Annotated[str, typer.Argument(help="Its name, as conditions have it.")]
TermName = Annotated[str, typer.Argument(help="One of its terms, or a new one.")]
Meaning = Annotated[
    str,
    typer.Argument(help='JSON, as in a vocabulary: {"trapezoid": […]}; null for a term no more.'),
]
Time = Annotated[
    str | None,
    typer.Option("--time", help="When, RFC 3339, in a deployment on event time; else now."),
]


def name_orders(verb: str, ids: Ids) -> Iterator[Order]:
    """
    >>> [*name_orders("close", ["anna"])]
    [Order(place="close 'anna'", verb='close', content='anna', problem=None)]
    """
    return (Order(f"{verb} {shown(name)}", verb, name) for name in ids)


def retractions(source: Publisher, ids: PublicationIds) -> Iterator[Order]:
    for order in name_orders("retract", ids):
        yield order._replace(content={"source": source, "id": order.content})


def definitions(attribute: AttributeName, term: TermName, meaning: Meaning) -> Iterator[Order]:
    """
    >>> [order.content for order in definitions("rent", "cheap", "null")]
    [{'attribute': 'rent', 'terms': {'cheap': None}}]
    """
    order = _read(f"define {shown(attribute)} {shown(term)}", "define", meaning)
    yield order._replace(content={"attribute": attribute, "terms": {term: order.content}})


def line_orders(verb: str, files: options.FilePaths = None) -> Iterator[Order]:
    """One noun a line."""
    return (_read(at.place, verb, at.content) for at in chain.from_iterable(incoming(files)))


def _read(place: str, verb: str, content: str | bytes) -> Order:
    from shortlist.intake.lines import BadItem, parse_json

    try:
        return Order(place, verb, parse_json(content, Limits()))
    except BadItem as problem:
        return Order(place, verb, problem=str(problem))


def subscriptions(files: options.FilePaths = None) -> Iterator[Order]:
    """One subscription a line, or whole registries, whose other nouns are made too."""
    for path in files or [STANDARD_INPUT]:
        is_registry = path.suffix in REGISTRY_SUFFIXES
        yield from _registry_orders(path) if is_registry else line_orders("subscribe", [path])


def _registry_orders(path: Path) -> Iterator[Order]:
    """Subscriptions that name a shortlist come behind those that may own it."""
    from shortlist.client.nouns import MAKES
    from shortlist.intake.files import KINDS, Unreadable, load

    wrong = partial(Order, path.name, "subscribe", None)
    try:
        document = load(path)
    except (OSError, Unreadable) as error:
        yield wrong(str(error))
        return
    expected = f"expected a mapping with some of the keys {', '.join(KINDS)}"
    if not isinstance(document, Mapping):
        yield wrong(f"{expected}, found {shown(document)}")
        return
    yield from (wrong(f"{expected}, found {shown(key)}") for key in document if key not in KINDS)
    for key, kind in KINDS.items():
        nouns = document.get(key) or []
        if not isinstance(nouns, list):
            yield wrong(f"{key}: expected a list, found {shown(nouns)}")
            continue
        for noun in sorted(
            nouns, key=lambda it: isinstance(it, Mapping) and bool(it.get("shortlist"))
        ):
            yield Order(path.name, MAKES[kind], noun)


@dataclass(frozen=True, slots=True)
class Dispatch:
    """When and where to; these options all the commands here have."""

    log: options.LogOrNone = None
    at: Time = None
    wait: options.Wait = False
    patience: options.Patience = 60
    as_json: options.AsJson = False
    service: options.ServiceUrl = None

    def send(self, orders: Sequence[Order]) -> None:
        with reached(self.log, self.service) as deployment:
            if not isinstance(deployment, Deployment):
                from shortlist.client.remote_orders import carried_out

                only_with_log(time=self.at)
                with notes.status(WAITING):
                    verdicts = [*carried_out(deployment, orders)]
                tell_verdicts(receipt_of(verdicts), verdicts, self.as_json)
                return
            given = self._given(deployment)
            commands = checked(orders, deployment.vocabulary)
            foreseen = effects(deployment, commands) if self.wait else []
            # as late as possible: meanwhile time goes on in the deployment, too
            self.send_checked(deployment, orders, foreseen, now() if given is None else given)

    def send_checked(
        self,
        deployment: Deployment,
        orders: Sequence[Order],
        foreseen: Sequence[str | None],
        micros: int,
    ) -> None:
        """Sends orders that can be read, of which it is known what they will do."""
        log = deployment.log
        rejected_before = log.end(REJECTS)
        lines = (Line(order.place, order.line(micros).encode()) for order in orders)
        receipt = acknowledged(send(log, in_chunks(lines)))
        if not self.wait or receipt.ends is None:
            print(json.dumps(receipt.document()) if self.as_json else receipt.text())
            return
        done = Sent(orders, [*chain(*receipt.runs)], micros, rejected_before)
        with notes.status(WAITING):
            manifest = wait_until_passed(deployment, done.awaited, self.patience)
        tell_verdicts(receipt, done.verdicts(log, manifest, foreseen), self.as_json)

    def _given(self, deployment: Deployment) -> int | None:
        try:
            given = None if self.at is None else parse_time(self.at)
        except ValueError as error:
            raise typer.BadParameter(f"--time: {error}") from None
        if given is not None and deployment.manifest and deployment.basis == "arrival":
            raise typer.BadParameter(
                "--time: expected a deployment on event time, found one on arrival: a command"
                " is of the time at which the log takes it"
            )
        return given


def receipt_of(verdicts: Iterable[Verdict]) -> Receipt:
    """Of commands that a service has sent, one by one."""
    offsets = sorted(each.offset for each in verdicts if each.offset is not None)
    return Receipt([range(offset, offset + 1) for offset in offsets])


def tell_verdicts(receipt: Receipt, verdicts: Sequence[Verdict], as_json: bool) -> None:
    """What became of commands; exit status 1 if any was rejected."""
    rejected = [each for each in verdicts if each.rejected is not None]
    effective = [each for each in verdicts if each.rejected is None and each.effect is not None]
    carried_out = len(verdicts) - len(rejected)
    if as_json:
        document = receipt.document() | {
            "carried out": carried_out,
            "rejected": [each.document() for each in rejected],
            "effects": [each.document() for each in effective],
        }
        print(json.dumps(document, ensure_ascii=False))
    else:
        print(receipt.text())
        say(f"{each.place}: {each.rejected}" for each in rejected)
        for each in effective:
            print(f"{each.place}: {each.effect}")
        print(f"{carried_out:,} carried out, {len(rejected):,} rejected")
    if rejected:
        raise typer.Exit(1)


def _sends(verb: str, help: str, orders: Callable[..., Iterator[Order]]) -> None:
    """Makes a command that sends orders: its options are what makes these, and a dispatch."""

    def command(**given: Any) -> None:
        dispatch = Dispatch(**{field.name: given.pop(field.name) for field in fields(Dispatch)})
        dispatch.send([*orders(**given)])

    both = (*signature(orders).parameters.values(), *signature(Dispatch).parameters.values())
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in both]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command(verb, help=help, rich_help_panel=LIVE)(command)


_sends(
    "subscribe",
    "Make subscriptions, one JSON object a line; or all that a registry (YAML, JSON) lists.",
    subscriptions,
)
for _verb, _help in (
    ("open", "Open shortlists, one JSON object a line."),
    ("advertise", "Make advertisements, one JSON object a line."),
    ("update", 'Change live nouns: {"subscription": ID, …} or {"shortlist": ID, …}, one a line.'),
):
    _sends(_verb, _help, partial(line_orders, _verb))
for _verb, _help in (
    ("unsubscribe", "Cancel subscriptions."),
    ("close", "Close shortlists, and cancel their subscriptions."),
    ("unadvertise", "Withdraw advertisements."),
):
    _sends(_verb, _help, partial(name_orders, _verb))
_sends("retract", "Take publications back.", retractions)
_sends("define", "Give a term of an attribute a meaning, for what comes later.", definitions)
