"""The commands `list`, `get`, `diff` and `apply`: what is live, and what it should be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, fail, notes, only_with_log, reached, show_table
from shortlist.cli.commands import Dispatch, receipt_of, tell_verdicts
from shortlist.cli.sending import WAITING
from shortlist.client.deployment import Deployment
from shortlist.model.settings import Limits
from shortlist.model.times import now
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    from shortlist.client.applying import Difference, Plan
    from shortlist.client.remote import Remote, Resource
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
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    subscriber: Annotated[str | None, typer.Option(help="Only of this subscriber.")] = None,
    policy: Annotated[str | None, typer.Option(help="Only with this kind of policy.")] = None,
    deliveries: Annotated[
        bool, typer.Option(help="Also count deliveries: all that the log has are read.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """List what is live in a deployment."""
    from shortlist.client.applying import as_written
    from shortlist.client.nouns import listed

    with reached(log, service) as place:
        counted = None
        if isinstance(place, Deployment):
            counted = place.log if deliveries else None
        else:
            only_with_log(deliveries=deliveries)
        roster = _live(place, None if what == "vocabulary" else what)
        if what == "vocabulary":
            _print_yaml(as_written(roster).get("vocabulary", {}), as_json)
            return
        found = [*listed(roster, what, subscriber, policy, counted)]
    if as_json:
        for each in found:
            print(json.dumps(each, ensure_ascii=False))
    else:
        _show_listed(found, deliveries)


@app.command("get", rich_help_panel=LIVE)
def get_command(
    name: Annotated[
        str | None, typer.Argument(help="An id: all nouns that have it; else everything.")
    ] = None,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    as_json: options.AsJson = False,
) -> None:
    """Print what is live as a registry that `apply` and `run` take."""
    from shortlist.client.applying import as_written

    with reached(log, service) as place:
        roster = _live(place)
        found = as_written(roster, name)
    if name is not None and not found:
        names = {*roster.shortlists, *roster.subscriptions, *roster.advertisements}
        fail([f"nothing live is called {name!r}; {choice_of(name, names)}"])
    _print_yaml(found, as_json)


@app.command("diff", rich_help_panel=LIVE)
def diff_command(
    registry: Wanted,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    prune: Prune = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what `apply` would change; exit with 1 if there is anything."""
    with reached(log, service) as place:
        found = _plan(place, registry, prune)
    _tell(found, as_json)
    if found.differences:
        raise typer.Exit(1)


@app.command("apply", rich_help_panel=LIVE)
def apply_command(
    registry: Wanted,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    prune: Prune = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    patience: options.Patience = 60,
    as_json: options.AsJson = False,
) -> None:
    """Make a deployment what a registry says: only what differs is touched."""
    with reached(log, service) as place:
        found = _plan(place, registry, prune)
        if not as_json or not found.differences:
            _tell(found, as_json)
        if not found.differences:
            return
        if not yes and not sys.stdin.isatty():
            fail(["expected --yes where nobody can be asked; nothing was changed"])
        if not yes and not typer.confirm("Change this?"):
            fail(["nothing was changed"])
        if isinstance(place, Deployment):
            assert log is not None
            foreseen = [
                effect
                for difference in found.differences
                for effect in [*[None] * (len(difference.orders) - 1), difference.effect]
            ]
            dispatch = Dispatch(log, wait=True, patience=patience, as_json=as_json)
            dispatch.send_checked(place, found.orders, foreseen, now())
        else:
            from shortlist.client.remote_orders import apply_remotely

            verdicts = []
            with notes.status(WAITING) as shown:
                for verdict in apply_remotely(place, found.differences):
                    verdicts.append(verdict)
                    shown.update(f"{len(verdicts):,} of {len(found.differences):,}")
            tell_verdicts(receipt_of(verdicts), verdicts, as_json)


def _plan(place: Deployment | Remote, path: Path, prune: bool) -> Plan:
    from shortlist.client.applying import plan
    from shortlist.intake.files import read_registry

    wanted = read_registry(path, Limits())
    return plan(_live(place), wanted, prune=prune)


def _live(place: Deployment | Remote, needed: Resource | None = None) -> Roster:
    """What is live there; of a service, what may be seen."""
    if isinstance(place, Deployment):
        roster = place.roster()
        if roster is None:
            fail(["expected a deployment whose state can be read here, found none"])
        return roster
    from shortlist.client.remote_orders import remote_registry

    return remote_registry(place, needed)


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


def _show_listed(found: list[dict[str, Any]], deliveries: bool) -> None:
    head = ("id", "of", "what", "subscriptions", "delivered", "last")[: 6 if deliveries else 4]
    rows = []
    for each in found:
        counts = (each.get(name) for name in ("subscriptions", "delivered"))
        told = ["" if count is None else f"{count:,}" for count in counts]
        row = each["id"], each.get("owner", ""), each["about"], *told, each.get("last", "")
        rows.append(row[: len(head)])
    show_table(head, rows, slice(3, 5), box=None)
