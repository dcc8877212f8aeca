"""A reader whose place in a stream the log keeps."""

from collections.abc import Iterator

from shortlist.log.base import Entry, Log, LogUnavailable
from shortlist.log.json_register import Document, change_json, read_json


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

    def __init__(
        self, log: Log, stream: str, name: str, *, key: str | None = None, after: int = 0
    ) -> None:
        """Read only the entries with `key`, if it is given.

        A reader that has seen nothing yet begins behind the offset `after`.
        """
        self._after = after
        self._log = log
        self._stream = stream
        self._key = key
        self._register = f"consumer/{name}"

    @property
    def position(self) -> int:
        """The offset of the last entry that was seen; before the first, the one to begin behind."""
        return self._seen_of(read_json(self._log, self._register))

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
        if offset > self.position:
            change_json(
                self._log,
                self._register,
                lambda known: {"stream": self._stream, "seen": max(offset, self._seen_of(known))},
            )

    def _seen_of(self, known: Document) -> int:
        """The position that a register tells."""
        if known and known["stream"] != self._stream:
            raise ValueError(
                f"expected a reader of {self._stream}, found that {self._register} reads"
                f" {known['stream']}"
            )
        return known["seen"] if known else self._after
