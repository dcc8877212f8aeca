"""The commands around the HTTP service: serve it, and who may call it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import (
    LIVE,
    OFF,
    AsJson,
    LimitFlags,
    On,
    Place,
    RegistryPath,
    app,
    errors,
    fail,
    limits_of,
    say,
)
from shortlist.cli.deployment import LogUrl, opened

Name = Annotated[str, typer.Argument(help="The name of the key.")]


@app.command(rich_help_panel=LIVE)
def serve(
    registry: RegistryPath = None,
    *,
    log: LogUrl,
    up: Annotated[
        bool, typer.Option("--up", help="Run the deployment, too; with REGISTRY that is so.")
    ] = False,
    on: On = "process",
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
    limit: LimitFlags = None,
) -> None:
    """Serve a deployment over HTTP: its API, its streams and its page.

    With a registry, which a new deployment begins with, or with --up, the deployment is run as well
    and ends with the service.
    """
    from shortlist.service.serving import bound_socket, check_keys, is_loopback, make_server
    from shortlist.service.state import LIMITS, Options

    with errors(), opened(log) as known:
        options = Options(
            is_loopback=is_loopback(host),
            limits=limits_of(limit, LIMITS),
            patience=patience,
            heartbeat=heartbeat,
            per_second=rate,
            private_webhooks=private_webhooks,
        )
        has_keys = check_keys(known, host)
        with bound_socket(host, port) as listening:
            where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
            who = "keys are asked for" if has_keys else "without keys: everybody here may do all"
            server = make_server(known, options)
            with ExitStack() as stack:
                if up or registry is not None:
                    beside = deployed(
                        registry, log, on, lambda: setattr(server, "should_exit", True)
                    )
                    stack.enter_context(beside)
                say([f"{where} ({who}); the API is described at {where}/docs"])
                server.run(sockets=[listening])


@contextmanager
def deployed(
    registry: Path | None, log: str, on: Place, ended: Callable[[], object]
) -> Iterator[None]:
    """The deployment in a process of its own, which ends with this one however that ends; tells if
    it ends by itself, which fails."""
    given = [] if registry is None else [str(registry)]
    options = ["--log", log, "--on", on, "--metrics", OFF, "--with-input"]
    command = [sys.executable, "-m", "shortlist", "up", *given, *options]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
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
    log: LogUrl,
    role: Annotated[
        Literal["publisher", "subscriber", "operator"], typer.Option(help="What it is for.")
    ],
    owner: Annotated[
        str | None,
        typer.Option(help="The subscriber whose shortlists, or the source, that it is for."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key for the service, and print it, this one time."""
    from shortlist.client.keys import Holder, add_key

    with opened(log) as known:
        key = add_key(known, Holder(name, role, owner))
    print(json.dumps({"name": name, "key": key}) if as_json else key)


@app.command(rich_help_panel=LIVE)
def forbid(name: Name, *, log: LogUrl) -> None:
    """Remove a key: within seconds nobody gets in by it."""
    from shortlist.client.keys import remove_key

    with opened(log, must_exist=True) as known:
        remove_key(known, name)


@app.command(rich_help_panel=LIVE)
def keys(*, log: LogUrl, as_json: AsJson = False) -> None:
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
