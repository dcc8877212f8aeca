"""The commands around the HTTP service: serve it, who may call it, and which one is meant."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    import uvicorn

# How long `serve` waits for its deployments to stop: a deployment gives up a batch after 60 s, and
# needs some more to end. systemd and Kubernetes kill both after 90 s (`deploy/`).
STOP_SECONDS = 75.0
# The deployment tells its port; the service asks there, and shows the metrics among its own.
METRICS = "127.0.0.1:0"
Name = Annotated[str, typer.Argument(help="The name of the key.")]


@app.command(rich_help_panel=LIVE)
@options.with_deployment_options
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
    deployment: options.DeploymentOptions,
) -> None:
    """Serve a deployment over HTTP: its API, its streams and its page.

    With a registry, which a new deployment begins with, or with --up, the deployment is run as well
    and ends with the service; the options that `up` has, too, are for it, and --limit for both.
    """
    from shortlist.service import access
    from shortlist.service.serving import (
        LOG_SECONDS,
        bound_socket,
        make_server,
        raise_file_limit,
    )
    from shortlist.service.state import LIMITS, Options

    urls = _tenants(tenant or [])
    if (log is None) == (not urls) or (urls and registry is not None):
        raise typer.BadParameter(
            "expected --log, or --tenant for each of several and no REGISTRY: each has its own"
        )
    is_run = up or registry is not None
    if not is_run:
        _check_unused(deployment)
    if urls and deployment.logs is not None:
        raise typer.BadParameter("--logs: expected --log with it, found --tenant")
    how = Options(
        is_loopback=host in access.LOOPBACK,
        limits=options.limits_of(deployment.limit, LIMITS),
        patience=patience,
        heartbeat=heartbeat,
        per_second=rate,
        most_streams_of_key=streams,
        private_webhooks=private_webhooks,
    )
    raise_file_limit()
    runs = urls if log is None else {None: log}
    with errors(), ExitStack() as stack:
        # This command may start together with the server of its log, and waits for that; requests
        # later do not.
        with ExitStack() as waiting:
            known: dict[str | None, Log] = {
                name: waiting.enter_context(opened(url, must_exist=name is not None))
                for name, url in runs.items()
            }
            who = _callers(known, host)
        logs: dict[str | None, Log] = {
            name: stack.enter_context(opened(url, patience=LOG_SECONDS))
            for name, url in runs.items()
        }
        listening = stack.enter_context(bound_socket(host, port))
        where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        server = make_server(logs, how)
        stack.enter_context(_stopped_by_signals(server))
        if is_run:
            commands: dict[str | None, list[str]] = {
                name: _up(registry, url, on, replace(deployment, state=_state(deployment, name)))
                for name, url in runs.items()
            }
            stack.enter_context(deployed(commands, server, how.deployment_metrics))
        say([f"{where} ({who}); the API is described at {where}/docs"])
        server.run(sockets=[listening])


def _callers(logs: Mapping[str | None, Log], host: str) -> str:
    """Describe for people which callers are let in; fail where that is everybody on a network
    without keys, or where a tenant has no key at all."""
    from shortlist.service.serving import check_keys, check_tenants

    if None in logs:
        has_keys = check_keys(logs[None], host)
        return "keys are asked for" if has_keys else "without keys: everybody here may do all"
    tenants = {name: log for name, log in logs.items() if name is not None}
    check_tenants(tenants)
    return f"keys are asked for; tenants: {', '.join(tenants)}"


def _tenants(texts: Sequence[str]) -> dict[str | None, str]:
    """The log of each tenant.

    >>> _tenants(["acme=sqlite:acme.log"])
    {'acme': 'sqlite:acme.log'}
    """
    found: dict[str | None, str] = {}
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


def _check_unused(deployment: options.DeploymentOptions) -> None:
    """Fail where an option is given that is for a deployment, and none is run."""
    given = replace(deployment, limit=None).arguments()
    if given:
        raise typer.BadParameter(f"{given[0]}: expected --up or REGISTRY with it, found neither")


def _state(deployment: options.DeploymentOptions, tenant: str | None) -> Path | None:
    """Return where a deployment has its state: of several tenants each has a folder of its own."""
    if tenant is None or deployment.state is None:
        return deployment.state
    return deployment.state / tenant


def _up(
    registry: Path | None, log: str, on: options.Place, deployment: options.DeploymentOptions
) -> list[str]:
    """Return the command line that runs a deployment until its standard input ends."""
    given = [] if registry is None else [str(registry)]
    own = ["--log", log, "--on", on, "--metrics", METRICS, "--with-input"]
    return [sys.executable, "-m", "shortlist", "up", *given, *own, *deployment.arguments()]


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM and SIGINT stop the server, and nothing else.

    While it runs, the server has handlers of its own and raises a signal again afterwards. By
    default that would end this process before the deployments have stopped.
    """

    def stop(*_: object) -> None:
        server.should_exit = True

    signals = (signal.SIGTERM, signal.SIGINT)
    before = {each: signal.signal(each, stop) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def deployed(
    commands: Mapping[str | None, Sequence[str]],
    server: uvicorn.Server,
    metrics: dict[str | None, str],
) -> Iterator[None]:
    """Run deployments, by tenant, in processes of their own that end with this one however that
    ends; wait for them to stop in order.

    If one ends by itself, the server is stopped, and the command fails. `metrics` learns at which
    address each shows its own.
    """
    # an interrupt at the terminal is for this process alone, which stops the others
    children = {
        tenant: subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        for tenant, command in commands.items()
    }

    def watch(tenant: str | None, child: subprocess.Popen[bytes]) -> None:
        """Pass on what a deployment prints, and stop the server when the deployment ends."""
        assert child.stdout is not None
        try:
            for line in child.stdout:
                # Standard output may be closed or full, and a line may be cut off. The pipe is
                # read on nevertheless: the deployment would wait for ever once it is full.
                with suppress(OSError, ValueError):
                    if line.startswith(b'{"metrics": '):
                        metrics[tenant] = json.loads(line)["metrics"]
                    else:  # of Java, for one
                        print(line.decode(errors="replace"), end="", flush=True)
        finally:
            child.wait()
            server.should_exit = True

    watchers = [Thread(target=watch, args=each, daemon=True) for each in children.items()]
    for watcher in watchers:
        watcher.start()
    ended: list[int] = []
    try:
        yield
        ended = [each.returncode for each in children.values() if each.returncode is not None]
    finally:
        for child in children.values():
            assert child.stdin is not None
            child.stdin.close()
        deadline = time.monotonic() + STOP_SECONDS
        for watcher, child in zip(watchers, children.values(), strict=True):
            watcher.join(max(deadline - time.monotonic(), 0))
            if watcher.is_alive():
                warn([f"the deployment (process {child.pid}) has not stopped: it goes on alone"])
    if ended:
        fail([f"the deployment has ended, with status {ended[0]}"])


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
    """Remove a key and end its webhooks: within seconds the key is refused."""
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
