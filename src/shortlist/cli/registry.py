"""The commands `list`, `get`, `diff` and `apply`: what is live, and what it should be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import LIVE, AsJson, app, fail
from shortlist.cli.commands import Dispatch, now
from shortlist.cli.deployment import LogUrl, opened
from shortlist.cli.sending import Patience
from shortlist.client.deployment import Deployment
from shortlist.model.settings import Limits
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    from shortlist.client.applying import Difference, Plan
    from shortlist.client.listing import Listed
    from shortlist.intake.roster import Roster

Listable = Literal["shortlists", "subscriptions", "advertisements", "vocabulary"]
Wanted = Annotated[Path, typer.Argument(help="The wanted registry: a file or a folder.")]
Prune = Annotated[bool, typer.Option(help="Also end what the registry does not have.")]
SIGNS = {"made": "+", "changed": "~", "made anew": "±", "ended": "-"}
MOST_SHOWN = 50
"""Differences that are shown to people; `--json` has all."""


@app.command("list", rich_help_panel=LIVE)
def list_command(
    what: Annotated[
        Listable, typer.Argument(help="shortlists, subscriptions, advertisements or vocabulary.")
    ] = "shortlists",
    *,
    log: LogUrl,
    subscriber: Annotated[str | None, typer.Option(help="Only of this subscriber.")] = None,
    policy: Annotated[str | None, typer.Option(help="Only with this kind of policy.")] = None,
    deliveries: Annotated[
        bool, typer.Option(help="Also count deliveries: all that the log has are read.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what is live in a deployment."""
    from shortlist.client.applying import as_written
    from shortlist.client.listing import listed

    with opened(log, must_exist=True) as known:
        deployment = Deployment(known)
        roster = _roster(deployment)
        if what == "vocabulary":
            _print_yaml(as_written(roster, deployment.vocabulary).get("vocabulary", {}), as_json)
            return
        found = [*listed(deployment, roster, what, subscriber, policy, deliveries)]
    if as_json:
        for each in found:
            print(json.dumps(each.document(), ensure_ascii=False))
    else:
        Console().print(_listed_table(found, deliveries))


@app.command("get", rich_help_panel=LIVE)
def get_command(
    name: Annotated[
        str | None, typer.Argument(help="An id: all nouns that have it; else everything.")
    ] = None,
    *,
    log: LogUrl,
    as_json: AsJson = False,
) -> None:
    """Print what is live as a registry that `apply` and `run` take."""
    from shortlist.client.applying import as_written

    with opened(log, must_exist=True) as known:
        deployment = Deployment(known)
        roster = _roster(deployment)
        found = as_written(roster, deployment.vocabulary, name)
    if name is not None and not found:
        names = {*roster.shortlists, *roster.subscriptions, *roster.advertisements}
        fail([f"nothing live is called {name!r}; {choice_of(name, names)}"])
    _print_yaml(found, as_json)


@app.command("diff", rich_help_panel=LIVE)
def diff_command(
    registry: Wanted, *, log: LogUrl, prune: Prune = False, as_json: AsJson = False
) -> None:
    """Say what `apply` would change; exit with 1 if there is anything."""
    with opened(log, must_exist=True) as known:
        found = _plan(Deployment(known), registry, prune)
    _tell(found, as_json)
    if found.differences:
        raise typer.Exit(1)


@app.command("apply", rich_help_panel=LIVE)
def apply_command(
    registry: Wanted,
    *,
    log: LogUrl,
    prune: Prune = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """Make a deployment what a registry says: only what differs is touched."""
    with opened(log, must_exist=True) as known:
        deployment = Deployment(known)
        found = _plan(deployment, registry, prune)
        if not as_json or not found.differences:
            _tell(found, as_json)
        if not found.differences:
            return
        if not yes and not _agrees():
            fail(["nothing was changed"])
        foreseen = [
            effect
            for difference in found.differences
            for effect in [*[None] * (len(difference.orders) - 1), difference.effect]
        ]
        dispatch = Dispatch(log, wait=True, patience=patience, as_json=as_json)
        dispatch.send_checked(deployment, found.orders, foreseen, now())


def _plan(deployment: Deployment, path: Path, prune: bool) -> Plan:
    from shortlist.client.applying import plan
    from shortlist.intake.files import read_registry

    wanted = read_registry(path, Limits())
    return plan(_roster(deployment), deployment.vocabulary, wanted, prune=prune)


def _roster(deployment: Deployment) -> Roster:
    roster = deployment.roster()
    if roster is None:
        fail(["expected a deployment whose state can be read here, found none"])
    return roster


def _agrees() -> bool:
    if not sys.stdin.isatty():
        fail(["expected --yes where nobody can be asked; nothing was changed"])
    return typer.confirm("Change this?")


def _tell(found: Plan, as_json: bool) -> None:
    if as_json:
        for each in found.differences:
            print(json.dumps(each.document(), ensure_ascii=False))
        return
    for each in found.differences[:MOST_SHOWN]:
        print(_line(each))
    if len(found.differences) > MOST_SHOWN:
        print(f"… and {len(found.differences) - MOST_SHOWN:,} more")
    changes = [each.change for each in found.differences]
    counts = [f"{changes.count(change):,} {change}" for change in SIGNS if change in changes]
    print(f"{', '.join(counts) or 'nothing differs'}; {found.unchanged:,} as wanted")
    if found.unlisted:
        print(f"{found.unlisted:,} live that the registry does not have: --prune ends them")


def _line(difference: Difference) -> str:
    """
    >>> from shortlist.client.applying import Difference
    >>> _line(Difference("shortlist", "anna", "changed", [], ("policy",), "starts over"))
    "~ shortlist 'anna': policy; starts over"
    """
    about = "; ".join(filter(None, (", ".join(difference.fields), difference.effect)))
    named = f"{SIGNS[difference.change]} {difference.kind} {difference.id!r}"
    return f"{named}: {about}" if about else named


def _print_yaml(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(document, ensure_ascii=False))
    elif document:
        import yaml

        print(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), end="")


def _listed_table(found: list[Listed], deliveries: bool) -> Table:
    table = Table("id", "of", "what", "subscriptions", box=None)
    table.columns[3].justify = "right"
    if deliveries:
        table.add_column("delivered", justify="right")
        table.add_column("last")
    for each in found:
        members = "" if each.subscriptions is None else f"{each.subscriptions:,}"
        table.add_row(each.id, each.owner or "", each.about, members, *_delivered(each, deliveries))
    return table


def _delivered(each: Listed, deliveries: bool) -> Iterator[str]:
    if deliveries:
        yield f"{each.delivered:,}"
        yield each.last or ""
