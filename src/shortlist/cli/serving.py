"""The commands around the HTTP service: serve it, who may call it, and which one is meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import (
    LIVE,
    PATIENCE_SECONDS,
    app,
    errors,
    fail,
    opened,
    say,
    show_table,
    warn,
)
from shortlist.client.keys import Role
from shortlist.log.base import Log
from shortlist.model.wording import shown

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
    streams: Annotated[int, typer.Option(min=1, help="Streams of one key at the same time.")] = 200,
    private_webhooks: Annotated[
        bool, typer.Option(help="Webhooks may lead into this network, and over plain HTTP.")
    ] = False,
    limit: options.LimitFlags = None,
) -> None:
    """Serve a deployment over HTTP: its API, its streams and its page.

    With a registry, which a new deployment begins with, or with --up, the deployment is run as well
    and ends with the service.
    """
    from shortlist.service import access
    from shortlist.service.serving import bound_socket, check_keys, check_tenants, make_server
    from shortlist.service.state import LIMITS, Options

    how = Options(
        is_loopback=host in access.LOOPBACK,
        limits=options.limits_of(limit, LIMITS),
        patience=patience,
        heartbeat=heartbeat,
        per_second=rate,
        most_streams_of_key=streams,
        private_webhooks=private_webhooks,
    )
    urls = _tenants(tenant or [])
    if (log is None) == (not urls) or (urls and registry is not None):
        raise typer.BadParameter(
            "expected --log, or --tenant for each of several and no REGISTRY: each has its own"
        )
    with errors(), ExitStack() as stack:
        if log is not None:
            known: Log | dict[str, Log] = (one := stack.enter_context(opened(log)))
            has_keys = check_keys(one, host)
            who = "keys are asked for" if has_keys else "without keys: everybody here may do all"
        else:
            known = {
                name: stack.enter_context(opened(url, must_exist=True))
                for name, url in urls.items()
            }
            check_tenants(known)
            who = f"keys are asked for; tenants: {', '.join(known)}"
        listening = stack.enter_context(bound_socket(host, port))
        where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        server = make_server(known, how)
        if up or registry is not None:
            for run in urls.values() if log is None else [log]:
                # each ends the service when it ends
                ended = partial(setattr, server, "should_exit", True)
                stack.enter_context(deployed(registry, run, on, ended))
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
    role: Annotated[Role, typer.Option(help="What it is for.")],
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
    """Remove a key, and end its webhooks: within seconds nobody gets in by it."""
    from shortlist.client.webhooks import forbid_key

    with opened(log, must_exist=True) as known:
        ended = forbid_key(known, name)
    if ended:
        print(f"webhooks that have ended: {', '.join(map(shown, ended))}")


@app.command(rich_help_panel=LIVE)
def keys(*, log: options.LogUrl, as_json: options.AsJson = False) -> None:
    """List the keys of the service: whose they are, not what they are."""
    from shortlist.client.keys import known_keys

    with opened(log, must_exist=True) as known:
        holders = [asdict(holder) for holder in known_keys(known).values()]
    if as_json:
        print(json.dumps(holders, ensure_ascii=False))
        return
    rows = ((each["name"], each["role"], each["owner"] or "all") for each in holders)
    show_table(("name", "role", "for"), rows, box=None)


LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


@app.command(rich_help_panel=LIVE)
def login(
    url: Annotated[str, typer.Argument(help="Where the service is, such as https://HOST.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Keep the key to a service, which commands mean from then on if they name no log.

    The key is asked for, or read from SHORTLIST_KEY or standard input; it is not shown, and kept in
    a file that is yours alone.
    """
    from shortlist.client.logins import Login, log_in, logins_file, normal_url
    from shortlist.client.remote import Remote

    with errors():
        address = normal_url(url)
        if address.startswith("http://") and not address.startswith(LOOPBACK):
            warn([f"{address}: a key that is sent there can be read on the way: https is safer"])
        key = _key()
        with Remote(address, key, patience=PATIENCE_SECONDS) as remote:
            me = remote.me()
        log_in(Login(address, None if me["is_open"] else key))
    if as_json:
        print(json.dumps({"service": address, **me}, ensure_ascii=False))
        return
    who = (
        "without keys: everybody there may do all"
        if me["is_open"]
        else ", ".join(filter(None, (me["name"], me["role"], me["owner"], me["tenant"])))
    )
    print(f"{address}: {who}; kept in {logins_file()}")


@app.command(rich_help_panel=LIVE)
def logout(
    url: Annotated[str | None, typer.Argument(help="Else the one that is meant.")] = None,
) -> None:
    """Forget a service and the key to it."""
    from shortlist.client.logins import log_out

    with errors():
        print(f"{log_out(url)}: forgotten")


def _key() -> str | None:
    """Never from the command line, where others see it and shells remember it."""
    from shortlist.client.logins import KEY

    given = os.environ.get(KEY)
    if given is None and sys.stdin.isatty():
        given = typer.prompt("Key (empty if it asks for none)", "", hide_input=True, err=True)
    elif given is None:
        given = sys.stdin.readline()
    return given.strip() or None
