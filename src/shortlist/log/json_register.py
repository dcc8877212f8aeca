"""Registers that several may change, and those of them that hold a JSON object."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from shortlist.log.base import Log, Moved

Document = Mapping[str, Any]


def read_json(log: Log, name: str) -> dict[str, Any]:
    """What a register holds; empty if nobody has set it."""
    register = log.register(name)
    return {} if register is None else json.loads(register.content)


def change_json(log: Log, name: str, change: Callable[[Document], Document]) -> Document:
    """Sets a register to what `change` makes of it, and answers with that; done again if somebody
    else was faster.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = SqliteLog(f"{folder}/city.log")
    ...     print(change_json(log, "ages", lambda known: {**known, "anna": 33}))
    ...     log.close()
    {'anna': 33}
    """

    def changed(content: bytes | None) -> bytes:
        return json.dumps(change({} if content is None else json.loads(content))).encode()

    found: Document = json.loads(change_register(log, name, changed))
    return found


def change_register(log: Log, name: str, change: Callable[[bytes | None], bytes]) -> bytes:
    """The same for any content; None is that of a register that nobody has set."""
    while True:
        register = log.register(name)
        before, revision = (None, 0) if register is None else (register.content, register.revision)
        content = change(before)
        with suppress(Moved):
            if content != before:
                log.put(name, content, revision)
            return content
