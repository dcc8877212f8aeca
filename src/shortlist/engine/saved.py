"""What an engine saves, as bytes: a document, and tables in Arrow's format."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pyarrow as pa

from shortlist.engine.strangers import UnreadableBytes, bound_of, check_unpacked, read_stream
from shortlist.intake.files import registry_read_again
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.model.command import Command
from shortlist.model.problem import ShortlistError
from shortlist.model.vocabulary import Vocabulary

VERSION = 6
MAGIC = b"shortlist state "
PARTS = pa.schema({"name": pa.string(), "content": pa.large_binary()})
# Digits of a version, at most: Python refuses to read numbers of thousands of them.
LONGEST_VERSION = 9
# The parts that are no tables.
NAMED = ("registry", "document")
SMALL = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
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
        except (ValueError, RecursionError, zlib.error) as error:
            raise UnusableState(
                f"expected a whole registry, found a damaged one: {error}"
            ) from None

    def changes(self, vocabulary: Vocabulary) -> Iterator[Command]:
        """The commands that lead from the registry as it is packed, with its vocabulary, to that
        of the state."""
        reader = ItemReader(vocabulary, again=True)
        for document in self.document.get("changes", ()):
            command = reader.document(document, position=-1)
            assert isinstance(command, Command)
            yield command

    def check(self) -> None:
        """Raise `UnusableState` where its registry or document cannot be read: what uses a state
        trusts it."""
        try:
            check_unpacked(self.packed_registry, bound_of(len(self.packed_registry)))
            registry = self.registry
        except UnusableState:
            raise
        except UnreadableBytes as error:
            raise UnusableState(f"expected a whole registry, found {error}") from None
        except Exception as error:  # of any kind, by what is wrong with a document
            found = f"{type(error).__name__}: {error}"
            raise UnusableState(f"expected a whole registry, found {found}") from None
        if not isinstance(registry, dict) or not isinstance(self.document, dict):
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
    def of_bytes(cls, content: bytes, *, bounded: bool = False) -> "Saved":
        """Read a state; raise `UnusableState` where the bytes are something else.

        With `bounded`, also where it would take far more memory than its bytes let expect: for a
        state that comes from elsewhere. What a deployment wrote itself is read whatever its size.
        """
        first, _, rest = content.partition(b"\n")
        version = first.removeprefix(MAGIC)
        is_version = version.isdigit() and len(version) <= LONGEST_VERSION
        if not first.startswith(MAGIC) or not is_version:
            raise UnusableState("expected a state that an engine saved, found something else")
        if int(version) != VERSION:
            raise UnusableState(f"expected a state of version {VERSION}, found {int(version)}")
        try:
            outer = _table(rest, bound_of(len(rest)) if bounded else None)
            if outer.schema != PARTS or any(column.null_count for column in outer.columns):
                raise UnreadableBytes(f"expected columns {', '.join(PARTS.names)}, found others")
            names, contents = outer.column("name").to_pylist(), outer.column("content")
            parts = dict(zip(names, contents, strict=True))
            registry, packed_document = (parts.pop(name).as_py() for name in NAMED)
            if bounded:
                check_unpacked(packed_document, bound_of(len(packed_document)))
            tables = {}
            for name, part in parts.items():
                table = part.as_buffer()
                tables[name] = _table(table, bound_of(table.size) if bounded else None)
            return cls(registry, _unpacked(packed_document), tables)
        except (KeyError, ValueError, RecursionError, MemoryError, zlib.error) as error:
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


def _table(content: bytes | pa.Buffer, most: int | None) -> pa.RecordBatch:
    table = read_stream(content, most)
    batches = table.to_batches()
    if len(batches) > 1:
        raise UnreadableBytes(f"expected one batch of a table, found {len(batches)}")
    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)
