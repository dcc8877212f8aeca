"""The commands `site join` and `site status`: a deployment among others, linked to them."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli import options
from shortlist.cli.app import (
    LIVE,
    announced_folder,
    app,
    begin_on,
    errors,
    notes,
    opened,
    say,
    show_table,
)
from shortlist.client.deployment import wait_for
from shortlist.live.places import SQLITE, announced
from shortlist.log.opening import kind_of
from shortlist.model.wording import shown

BEGINNING_SECONDS = 30.0
"""For which a site waits for its deployment."""

if TYPE_CHECKING:
    from shortlist.sites.metrics import LinkMetrics
    from shortlist.sites.site import Site

site_app = typer.Typer(
    no_args_is_help=True, help="Link a deployment to others: publications go where they are wanted."
)
app.add_typer(site_app, name="site", rich_help_panel=LIVE)


@site_app.command("join")
def join_command(
    name: Annotated[str, typer.Argument(help="The name of this site: small letters and digits.")],
    *,
    log: options.LogUrl,
    neighbour: Annotated[
        list[str],
        typer.Option(help="NAME, or NAME=ADDRESS where the link has another log; one or more."),
    ],
    links: Annotated[
        str | None,
        typer.Option(
            envvar="SHORTLIST_LINKS",
            help="The log of the links, which neighbours share: nats://HOST:PORT/NAME.",
        ),
    ] = None,
    keep: Annotated[
        str, typer.Option(help="How long publications are kept for whoever asks for them late.")
    ] = "1h",
    sources: Annotated[
        list[str] | None,
        typer.Option(
            help="NEIGHBOUR=SOURCE, or NEIGHBOUR=BEGINNING*: the only sources that a neighbour may"
            " bring, one or more. Without it, all but those that this site's keys of publishers"
            " are for."
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(help="NEIGHBOUR=NUMBER: pass over the entry for which a link was set aside."),
    ] = None,
    metrics: Annotated[
        str, typer.Option(help="HOST:PORT where metrics are shown, or off.")
    ] = options.OFF,
    with_input: options.WithInput = False,
) -> None:
    """Exchange publications with neighbours, beside a deployment that runs on the same log."""
    options.check_address(metrics)
    kept = options.duration_of("--keep", keep)
    addresses = dict(_address(each, links) for each in neighbour)
    if len(addresses) < len(neighbour):
        raise typer.BadParameter("--neighbour: expected each neighbour once, found one twice")
    allowed: dict[str, list[str]] = {}
    for one, source in _by_neighbour("--sources", sources, addresses):
        allowed.setdefault(one, []).append(source)
    skips = {one: _entry(number) for one, number in _by_neighbour("--skip", skip, addresses)}
    begin_on("process")
    from shortlist.cli.app import run_until_stopped
    from shortlist.client.keys import own_sources
    from shortlist.sites.metrics import LinkMetrics
    from shortlist.sites.running import Running, Wanted

    _wait_for_deployment(log)
    with errors(), ExitStack() as stack:
        shown = LinkMetrics()
        if metrics != options.OFF:
            from prometheus_client import CollectorRegistry

            from shortlist.live.metrics import serve_metrics

            registry = CollectorRegistry()
            registry.register(shown)
            say([f"metrics: {stack.enter_context(serve_metrics(registry, metrics))}"])
        wanted = Wanted(
            name=name,
            log=log,
            neighbours=addresses,
            keep=kept,
            sources=allowed,
            skips=skips,
            own_sources=own_sources,
        )
        run_until_stopped(Running(wanted, _Screen(name, shown)), with_input=with_input)


@site_app.command("status")
def status_command(*, log: options.LogUrl, as_json: options.AsJson = False) -> None:
    """Say how the links of a site are doing: what crossed them, and what did not have to."""
    from shortlist.sites.identity import site_status

    with errors(), opened(log, must_exist=True) as known:
        found = site_status(known, time.time())
    if as_json:
        print(json.dumps(found))
        return
    rows = (
        (
            neighbour,
            link["state"],
            ", ".join(link["sites"]),
            f"{link['sent']:,}",
            f"{link['withheld']:,}",
            f"{link['saved_bytes']:,} B",
            f"{link['received']:,}",
            f"{link['waiting']:,}",
            f"{link['told']:,} of {link['held']:,}",
        )
        for neighbour, link in found["links"].items()
    )
    counts = ("sent", "withheld", "saved", "received", "waiting", "told")
    head = ("neighbour", "link", "sites behind", *counts)
    show_table(head, rows, slice(3, None), f"site {found['site']}")
    for neighbour, link in found["links"].items():
        if link["error"] is not None:
            say([f"{neighbour}: {link['error']}"])


class _Screen:
    """Shows a person and metrics what happens to links."""

    def __init__(self, name: str, metrics: LinkMetrics) -> None:
        self._name = name
        self._metrics = metrics
        self._errors: dict[str, str | None] = {}

    def started(self, site: Site) -> None:
        notes.print(f"site {self._name}: linked to {', '.join(site.links)}", markup=False)

    def changed(self, links: Mapping[str, Any]) -> None:
        self._metrics.show(links)
        for neighbour, link in links.items():
            error = link["error"]
            if error != self._errors.get(neighbour):
                notes.print(f"{neighbour}: {error or 'the link is up again'}", markup=False)
                self._errors[neighbour] = error

    def failed(self, error: BaseException, pause: float) -> None:
        notes.print(f"failed: {error}; trying again in {pause:g} s", markup=False)


def _wait_for_deployment(url: str) -> None:
    """One that was started together with the site may have to begin first."""

    def has_begun() -> bool:
        if kind_of(url) == "sqlite" and not Path(url.removeprefix(SQLITE)).exists():
            return False
        with opened(url) as log:
            return announced(log) is not None

    if not wait_for(has_begun, BEGINNING_SECONDS):
        with opened(url, must_exist=True) as log:
            announced_folder(log)


def _by_neighbour(
    option: str, given: Iterable[str] | None, neighbours: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield what an option says of neighbours, each as NEIGHBOUR=SOMETHING."""
    for text in given or ():
        neighbour, _, said = text.partition("=")
        if neighbour not in neighbours or not said:
            known = ", ".join(neighbours)
            message = f"{option}: expected one of {known}, and = with a value, found {shown(text)}"
            raise typer.BadParameter(message)
        yield neighbour, said


def _entry(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise typer.BadParameter(f"--skip: expected the number of an entry, found {shown(text)}")
    return int(text)


def _address(text: str, links: str | None) -> tuple[str, str]:
    """A neighbour, and the address of the log that the link to it has."""
    neighbour, _, own = text.partition("=")
    address = own or links
    if address is None:
        raise typer.BadParameter(
            f"--neighbour: expected --links ADDRESS, or {neighbour}=ADDRESS; found neither"
        )
    try:
        kind_of(address)
    except ValueError as error:
        raise typer.BadParameter(f"--neighbour {neighbour}: {error}") from None
    return neighbour, address
