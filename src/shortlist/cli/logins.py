"""The commands `login` and `logout`: which service is meant, and the key to it."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, errors, warn
from shortlist.cli.deployment import PATIENCE_SECONDS

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
