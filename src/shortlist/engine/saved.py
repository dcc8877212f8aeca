"""What an engine saves, as bytes: a document, and tables in Arrow's format."""

import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pyarrow as pa

from shortlist.intake.files import registry_read_again
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.model.command import Command
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

VERSION = 6
READABLE = (4, 5, VERSION)
"""Before 5 a registry was always whole, without changes beside it; before 6 it was never in another
file."""
MAGIC = b"shortlist state "
PARTS = pa.schema({"name": pa.string(), "content": pa.large_binary()})
SMALL = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
WITHOUT_LIMITS = Limits(
    expression_length=sys.maxsize,
    expression_depth=sys.maxsize,
    predicates=sys.maxsize,
    attributes=sys.maxsize,
    nesting=sys.maxsize,
    payload_bytes=sys.maxsize,
)
"""For what was within the limits once."""
PLAIN = pa.ipc.IpcWriteOptions(use_threads=False)


class UnusableState(ShortlistError, ValueError):
    """Bytes that no engine can go on from."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A snapshot.

    >>> saved = Saved(packed({}), {"latest": 7}, {"counts": pa.record_batch({"n": [1, 2]})})
    >>> again = Saved.of_bytes(saved.to_bytes())
    >>> again.registry, again.document["latest"], again.tables["counts"].to_pydict()
    ({}, 7, {'n': [1, 2]})
    >>> Saved.of_bytes(b"shortlist state 7\\n")
    Traceback (most recent call last):
    ...
    shortlist.engine.saved.UnusableState: expected a state of version 6, found 7
    """

    packed_registry: bytes
    """As it was before the changes of the document; empty where it is in another file."""
    document: dict[str, Any] = field(default_factory=dict)
    """All that is neither the registry nor in tables."""
    tables: Mapping[str, pa.RecordBatch] = field(default_factory=dict)

    @property
    def registry(self) -> Any:
        """The document of the registry, which is made for each who asks."""
        before = self.packed_document
        if not self.document.get("changes"):
            return before
        registry = registry_read_again(before)
        roster = Roster.of(registry, self.changes(registry.vocabulary))
        return registry_document(roster.registry())

    @property
    def packed_document(self) -> Any:
        """The document of the registry before the changes."""
        try:
            return _unpacked(self.packed_registry)
        except (ValueError, zlib.error) as error:
            raise UnusableState(
                f"expected a whole registry, found a damaged one: {error}"
            ) from None

    def changes(self, vocabulary: Vocabulary) -> Iterator[Command]:
        """The commands that lead from the registry as it is packed, with its vocabulary, to that
        of the state."""
        reader = ItemReader(vocabulary, WITHOUT_LIMITS)
        for document in self.document.get("changes", ()):
            command = reader.document(document, position=-1)
            assert isinstance(command, Command)
            yield command

    def check(self) -> None:
        """Raises `UnusableState` where something in it is not whole: what uses a state trusts
        it."""
        for name, table in self.tables.items():
            try:
                table.validate(full=True)
            except (pa.ArrowException, ValueError) as error:
                raise UnusableState(f"{name}: expected a whole table, found {error}") from None
        if not isinstance(self.registry, dict) or not isinstance(self.document, dict):
            raise UnusableState("expected a registry and a document, found something else")

    def without_registry(self) -> "Saved":
        """For those who keep that elsewhere."""
        return replace(self, packed_registry=b"")

    def to_bytes(self) -> bytes:
        tables = {name: _stream(table, SMALL) for name, table in self.tables.items()}
        parts = {"registry": self.packed_registry, "document": packed(self.document), **tables}
        batch = pa.record_batch([[*parts], [*parts.values()]], schema=PARTS)
        return MAGIC + f"{VERSION}\n".encode() + _stream(batch, PLAIN)

    @classmethod
    def of_bytes(cls, content: bytes) -> "Saved":
        """Raises `UnusableState` where the bytes are something else."""
        first, _, rest = content.partition(b"\n")
        version = first.removeprefix(MAGIC)
        if not first.startswith(MAGIC) or not version.isdigit():
            raise UnusableState("expected a state that an engine saved, found something else")
        if int(version) not in READABLE:
            raise UnusableState(f"expected a state of version {VERSION}, found {int(version)}")
        try:
            named, contents = _table(rest).columns
            parts = dict(zip(named.to_pylist(), contents, strict=True))
            registry = parts.pop("registry").as_py()
            document = _unpacked(parts.pop("document").as_py())
            tables = {name: _table(part.as_buffer()) for name, part in parts.items()}
            return cls(registry, document, tables)
        except (pa.ArrowException, OSError, KeyError, ValueError, zlib.error) as error:
            raise UnusableState(f"expected a whole state, found a damaged one: {error}") from None


def registry_part(registry: dict[str, Any], keep: Callable[[str], bool]) -> dict[str, Any]:
    """A registry's document with only some shortlists and what feeds these."""
    return registry | {
        "shortlists": [made for made in registry["shortlists"] if keep(made["id"])],
        "subscriptions": [
            made for made in registry["subscriptions"] if keep(made.get("shortlist") or made["id"])
        ],
    }


def packed(document: dict[str, Any]) -> bytes:
    """A document as few bytes.

    >>> len(packed({"ids": ["s1"] * 1000})) < 100
    True
    """
    try:
        content = orjson.dumps(document)
    except TypeError:  # a whole number of more than 64 bits, of a publication that waits
        content = json.dumps(document).encode()
    return compressed([content])


def compressed(content: Iterable[bytes]) -> bytes:
    """The JSON of a document, in pieces, as `packed` has it."""
    press = zlib.compressobj(1)
    return b"".join([*map(press.compress, content), press.flush()])


def _unpacked(content: bytes) -> Any:
    return json.loads(zlib.decompress(content))


def _stream(batch: pa.RecordBatch, options: pa.ipc.IpcWriteOptions) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _table(content: bytes | pa.Buffer) -> pa.RecordBatch:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_next_batch()
