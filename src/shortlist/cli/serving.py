"""The commands around the HTTP service: serve it, and who may call it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, errors, fail, say
from shortlist.cli.deployment import opened
from shortlist.log.base import Log

if TYPE_CHECKING:
    from shortlist.service.state import Options

Name = Annotated[str, typer.Argument(help="The name of the key.")]


@app.command(rich_help_panel=LIVE)
def serve(
    registry: options.RegistryPath = None,
    *,
    log: options.LogOrNone = None,
    tenant: Annotated[
        list[str] | None,
        typer.Option(help="In place of --log, for each of several: NAME=LOG."),
    ] = None,
    up: Annotated[
        bool, typer.Option("--up", help="Run the deployment, too; with REGISTRY that is so.")
    ] = False,
    on: options.On = "process",
    host: Annotated[
        str, typer.Option(help="The address to listen on; but on loopback keys are needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one.")] = 8080,
    patience: Annotated[float, typer.Option(min=0, help="Seconds that a command may take.")] = 30,
    heartbeat: Annotated[float, typer.Option(min=0.1, help="Seconds of silence on streams.")] = 15,
    rate: Annotated[float, typer.Option(min=1, help="Requests a second, of one caller.")] = 5000,
    private_webhooks: Annotated[
        bool, typer.Option(help="Webhooks may lead into this network, and over plain HTTP.")
    ] = False,
    limit: options.LimitFlags = None,
) -> None:
    """Serve a deployment over HTTP: its API, its streams and its page.

    With a registry, which a new deployment begins with, or with --up, the deployment is run as well
    and ends with the service.
    """
    from shortlist.service.serving import is_loopback
    from shortlist.service.state import LIMITS, Options

    how = Options(
        is_loopback=is_loopback(host),
        limits=options.limits_of(limit, LIMITS),
        patience=patience,
        heartbeat=heartbeat,
        per_second=rate,
        private_webhooks=private_webhooks,
    )
    urls = _tenants(tenant or [])
    if (log is None) == (not urls) or (urls and registry is not None):
        raise typer.BadParameter(
            "expected --log, or --tenant for each of several and no REGISTRY: each has its own"
        )
    with errors(), ExitStack() as stack:
        if log is not None:
            known: Log | dict[str, Log] = stack.enter_context(opened(log))
        else:
            known = {
                name: stack.enter_context(opened(url, must_exist=True))
                for name, url in urls.items()
            }
        is_up = up or registry is not None
        runs = [] if not is_up else [*urls.values()] if log is None else [log]
        _serve(known, how, (host, port), [partial(deployed, registry, run, on) for run in runs])


def _serve(
    known: Log | dict[str, Log],
    how: Options,
    place: tuple[str, int],
    runs: Sequence[Callable[[Callable[[], object]], AbstractContextManager[None]]],
) -> None:
    """Until it is told to stop; meanwhile deployments run, each of which ends it when it ends."""
    from shortlist.service.serving import bound_socket, check_keys, check_tenants, make_server

    host, port = place
    if isinstance(known, dict):
        check_tenants(known)
        who = f"keys are asked for; tenants: {', '.join(known)}"
    else:
        has_keys = check_keys(known, host)
        who = "keys are asked for" if has_keys else "without keys: everybody here may do all"
    with bound_socket(host, port) as listening, ExitStack() as stack:
        where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        server = make_server(known, how)
        for run in runs:
            stack.enter_context(run(lambda: setattr(server, "should_exit", True)))
        say([f"{where} ({who}); the API is described at {where}/docs"])
        server.run(sockets=[listening])


def _tenants(texts: Sequence[str]) -> dict[str, str]:
    """The log of each tenant.

    >>> _tenants(["acme=sqlite:acme.log"])
    {'acme': 'sqlite:acme.log'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, url = text.partition("=")
        if not name or not url:
            raise typer.BadParameter(f"--tenant: expected NAME=LOG, found {text!r}")
        if name in found or url in found.values():
            raise typer.BadParameter(
                f"--tenant: expected each name and each log once, found {text!r} beside another"
            )
        found[name] = url
    return found


@contextmanager
def deployed(
    registry: Path | None, log: str, on: options.Place, ended: Callable[[], object]
) -> Iterator[None]:
    """The deployment in a process of its own, which ends with this one however that ends; tells if
    it ends by itself, which fails."""
    given = [] if registry is None else [str(registry)]
    more = ["--log", log, "--on", on, "--metrics", options.OFF, "--with-input"]
    command = [sys.executable, "-m", "shortlist", "up", *given, *more]
    # an interrupt at the terminal is for this process alone, which ends the other
    child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    watcher = Thread(target=lambda: (child.wait(), ended()))
    watcher.start()
    try:
        yield
        has_failed = child.poll() is not None
    finally:
        assert child.stdin is not None
        child.stdin.close()
        watcher.join()
    if has_failed:
        fail([f"the deployment has ended, with status {child.returncode}"])


@app.command(rich_help_panel=LIVE)
def allow(
    name: Name,
    *,
    log: options.LogUrl,
    role: Annotated[
        Literal["publisher", "subscriber", "operator"], typer.Option(help="What it is for.")
    ],
    owner: Annotated[
        str | None,
        typer.Option(help="The subscriber whose shortlists, or the source, that it is for."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Make a key for the service, and print it, this one time."""
    from shortlist.client.keys import Holder, add_key

    with opened(log) as known:
        key = add_key(known, Holder(name, role, owner))
    print(json.dumps({"name": name, "key": key}) if as_json else key)


@app.command(rich_help_panel=LIVE)
def forbid(name: Name, *, log: options.LogUrl) -> None:
    """Remove a key: within seconds nobody gets in by it."""
    from shortlist.client.keys import remove_key

    with opened(log, must_exist=True) as known:
        remove_key(known, name)


@app.command(rich_help_panel=LIVE)
def keys(*, log: options.LogUrl, as_json: options.AsJson = False) -> None:
    """List the keys of the service: whose they are, not what they are."""
    from dataclasses import asdict

    from shortlist.client.keys import known_keys

    with opened(log, must_exist=True) as known:
        holders = [asdict(holder) for holder in known_keys(known).values()]
    if as_json:
        print(json.dumps(holders, ensure_ascii=False))
        return
    table = Table("name", "role", "for", box=None)
    for holder in holders:
        table.add_row(holder["name"], holder["role"], holder["owner"] or "all")
    Console().print(table)
