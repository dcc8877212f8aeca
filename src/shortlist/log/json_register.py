"""Registers that hold a JSON object which several may change."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from shortlist.log.base import Log, Moved

Document = Mapping[str, Any]


def read_json(log: Log, name: str) -> dict[str, Any]:
    """What a register holds; empty if nobody has set it."""
    register = log.register(name)
    return {} if register is None else json.loads(register.content)


def change_json(log: Log, name: str, change: Callable[[Document], Document]) -> None:
    """Sets a register to what `change` makes of it; done again if somebody else was faster.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = SqliteLog(f"{folder}/city.log")
    ...     change_json(log, "ages", lambda known: {**known, "anna": 33})
    ...     print(read_json(log, "ages"))
    ...     log.close()
    {'anna': 33}
    """
    while True:
        register = log.register(name)
        known = {} if register is None else json.loads(register.content)
        content = json.dumps(change(known)).encode()
        try:
            log.put(name, content, 0 if register is None else register.revision)
            return
        except Moved:
            continue
