"""A reader whose place in a stream the log keeps."""

import json
from collections.abc import Iterator

from shortlist.log.base import Entry, Log, LogUnavailable, Moved


class Consumer:
    """Reads on behind what was seen under this name, also in another process or after a restart.

    Nothing is seen until `seen` says so: what was read before a crash is read again. The place only
    moves on, even if several readers share a name.

    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.log.sqlite import SqliteLog
    >>> folder = TemporaryDirectory()
    >>> log = SqliteLog(f"{folder.name}/city.log")
    >>> log.append("deliveries", [b"one", b"two", b"three"])
    3
    >>> Consumer(log, "deliveries", "ann").seen(2)
    >>> [entry.content for entry in Consumer(log, "deliveries", "ann").entries()]
    [b'three']
    >>> log.close()
    >>> folder.cleanup()
    """

    def __init__(self, log: Log, stream: str, name: str, *, key: str | None = None) -> None:
        """With `key` it gets only the entries of that key."""
        self._log = log
        self._stream = stream
        self._key = key
        self._register = f"consumer/{name}"

    @property
    def position(self) -> int:
        """The offset of the last entry that was seen, 0 before the first."""
        return self._state()[0]

    def entries(self) -> Iterator[Entry]:
        """Those behind the position, up to the stream's present end."""
        position, end = self.position, self._log.end(self._stream)
        if end < position:
            raise LogUnavailable(
                f"the log lost entries: {self._register} has seen {self._stream} up to {position},"
                f" and it ends at {end}"
            )
        return self._log.read(self._stream, position, end, key=self._key)

    def seen(self, offset: int) -> None:
        """Everything up to this offset is done with."""
        while True:
            position, revision = self._state()
            if offset <= position:
                return
            state = json.dumps({"stream": self._stream, "seen": offset}).encode()
            try:
                self._log.put(self._register, state, revision)
                return
            except Moved:
                continue

    def _state(self) -> tuple[int, int]:
        """The position, and the revision of its register."""
        register = self._log.register(self._register)
        if register is None:
            return 0, 0
        state = json.loads(register.content)
        if state["stream"] != self._stream:
            raise ValueError(
                f"expected a reader of {self._stream}, found that {self._register} reads"
                f" {state['stream']}"
            )
        return state["seen"], register.revision
