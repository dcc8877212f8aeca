"""Attribute names: `rent`, `address.city`, `"odd name".city`, as tuples of keys."""

import re
from collections.abc import Mapping
from typing import Any

from shortlist.model.wording import shown

Path = tuple[str, ...]

NAME = re.compile(r'[^\W\d]\w*|"(?:[^"]|"")*"')

CONTEXT: frozenset[Path] = frozenset(("event", name) for name in ("id", "source", "type", "time"))
"""The paths that name a publication's context attributes; every other path leads into its data."""

EVENT_TIME: Path = ("event", "time")


def parse_path(text: str) -> Path:
    """
    >>> parse_path('address."zip code"')
    ('address', 'zip code')
    """
    keys, at = [], 0
    while found := NAME.match(text, at):
        name = found[0]
        keys.append(name[1:-1].replace('""', '"') if name.startswith('"') else name)
        at = found.end()
        if at == len(text):
            return tuple(keys)
        if text[at] != ".":
            break
        at += 1
    raise ValueError(f"{shown(text)} is not an attribute name: column {at + 1}: expected a name")


def format_path(path: Path, reserved: frozenset[str] = frozenset()) -> str:
    """The text that `parse_path` reads back; odd and reserved names are quoted.

    >>> format_path(("address", "zip code"))
    'address."zip code"'
    """
    return ".".join(_quoted(key, reserved) for key in path)


def value_at(data: object, path: Path) -> Any:
    """What a JSON value has at a path; None where it has nothing.

    >>> value_at({"address": {"city": "Oslo"}}, ("address", "city"))
    'Oslo'
    """
    for key in path:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data


def _quoted(key: str, reserved: frozenset[str]) -> str:
    plain = NAME.fullmatch(key) and not key.startswith('"') and key.lower() not in reserved
    return key if plain else '"' + key.replace('"', '""') + '"'
