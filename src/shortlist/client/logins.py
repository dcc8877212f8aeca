"""Services that somebody has logged in to: their keys, in a file that nobody else reads."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shortlist.log.durable import make_private, open_private
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown

KEY = "SHORTLIST_KEY"
"""The environment variable that a key may be in."""


class BadLogin(ShortlistError):
    """An address that is none, or a file of logins that cannot be read."""


class Login(NamedTuple):
    """A service, and the key to it; None where it asks for none."""

    url: str
    key: str | None


def normal_url(text: str) -> str:
    """The address of a service, one text for each.

    >>> normal_url("HTTPS://Desk.Example/"), normal_url("http://127.0.0.1:8080")
    ('https://desk.example', 'http://127.0.0.1:8080')
    >>> normal_url("desk.example")
    Traceback (most recent call last):
    shortlist.client.logins.BadLogin: expected the URL of a service, such as https://..., found ...
    """
    parts = urlsplit(text)
    is_service = parts.scheme in ("http", "https") and parts.hostname and not parts.username
    if not is_service or parts.query or parts.fragment:
        expected = "expected the URL of a service, such as https://shortlist.example"
        raise BadLogin(f"{expected}, found {shown(text)}")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def logins_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where logins are kept, by the rules of XDG.

    >>> logins_file({"XDG_CONFIG_HOME": "/settings"}).as_posix()
    '/settings/shortlist/logins.json'
    """
    chosen = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".config"
    return folder / "shortlist" / "logins.json"


def log_in(login: Login) -> None:
    """Keeps a key, and makes its service the one that is meant where nobody names one."""
    services = {**_read(logins_file()).get("services", {}), login.url: login.key}
    _write(logins_file(), {"default": login.url, "services": services})


def log_out(url: str | None) -> str:
    """Forgets a service and its key; without a URL, the one that is meant where nobody names one.
    Says which it was."""
    kept = _read(logins_file())
    services = dict(kept.get("services", {}))
    name = kept.get("default") if url is None else normal_url(url)
    if name not in services:
        raise BadLogin(f"expected a service that you are logged in to, found {shown(name)}")
    del services[name]
    default = kept["default"] if kept["default"] in services else next(iter(services), None)
    _write(logins_file(), {"default": default, "services": services})
    return str(name)


def known_login(url: str | None, environment: Mapping[str, str] = os.environ) -> Login | None:
    """A service with its key, from the environment or from a login; without a URL, the one that
    was logged in to last, None if there is none.

    >>> known_login("http://127.0.0.1:8080/", {"SHORTLIST_KEY": "shortlist_1"})
    Login(url='http://127.0.0.1:8080', key='shortlist_1')
    """
    kept = _read(logins_file(environment))
    name = kept.get("default") if url is None else normal_url(url)
    if name is None:
        return None
    return Login(name, environment.get(KEY) or kept.get("services", {}).get(name))


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadLogin(f"{file}: expected logins, found what cannot be read: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("services"), dict):
        raise BadLogin(f"{file}: expected logins, found something else")
    return found


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """All of it or nothing: a reader never finds half a file."""
    make_private(file.parent)
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with open(fresh, "x", encoding="utf-8", opener=open_private) as written:
        json.dump(content, written, indent=2)
    fresh.replace(file)
