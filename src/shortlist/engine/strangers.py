"""Read what strangers may have written: Arrow streams and compressed JSON, within bounded memory.

Arrow's readers check that a stream is well-formed, but neither that offsets within columns make
sense (what uses such a column reads outside of it) nor how large it unpacks. Here both are checked
before anything uses a value.
"""

import struct
import zlib
from collections.abc import Iterator

import pyarrow as pa

from shortlist.model.wording import first_line

# What a part of a file may take in memory once it is unpacked: so many bytes, and so many for each
# byte of it. Registries of real deployments take about 50 times their packed size as objects;
# 3 GB of spaces are packed to 2.9 MB.
LEAST_BOUND, BOUND_RATIO = 64 * 2**20, 256
# What each value of a JSON text takes as an object, about: a pointer to it and its head.
OBJECT_BYTES = 64
# How much is unpacked at a time, of how much: what is left of the latter is copied each time.
CHUNK_BYTES, PACKED_BYTES = 2**20, 2**16
ALONE = pa.ipc.IpcReadOptions(use_threads=False)


class UnreadableBytes(ValueError):
    """Bytes that are not what they should be, or that would take too much memory."""


def bound_of(packed_bytes: int) -> int:
    """Return what bytes from elsewhere may take in memory once they are unpacked."""
    return LEAST_BOUND + BOUND_RATIO * packed_bytes


def read_stream(content: bytes | pa.Buffer, most: int | None = None) -> pa.Table:
    """Read an Arrow stream and validate all of it; raise `UnreadableBytes` if anything is wrong.

    With `most`, it is refused before it is unpacked if it says that it takes more bytes than that.
    """
    try:
        if most is not None:
            _check_declared(content, most)
        with pa.ipc.open_stream(content, options=ALONE) as reader:
            table = reader.read_all()
        table.validate(full=True)
        if most is not None:
            _check_repeated(table, most)
    except UnreadableBytes:
        raise
    except Exception as error:  # Arrow raises a dozen kinds, SystemError and MemoryError included
        raise UnreadableBytes(
            f"a damaged table ({type(error).__name__}: {first_line(error)})"
        ) from None
    return table


def check_unpacked(content: bytes, most: int) -> None:
    """Raise `UnreadableBytes` where compressed JSON would take more than `most` bytes as objects.

    It is unpacked chunk by chunk, and nothing of it is kept.
    """
    taken = 0
    for chunk in _unpacked_chunks(content):
        values = chunk.count(b",") + chunk.count(b"[") + chunk.count(b"{")
        taken += len(chunk) + OBJECT_BYTES * values
        if taken > most:
            raise UnreadableBytes(f"{len(content):,} bytes that unpack to more than {most:,}")


def _unpacked_chunks(content: bytes) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    for start in range(0, len(content), PACKED_BYTES):
        rest = content[start : start + PACKED_BYTES]
        while rest and not unpacking.eof:
            try:
                yield unpacking.decompress(rest, CHUNK_BYTES)
            except zlib.error as error:
                raise UnreadableBytes(f"damaged bytes ({error})") from None
            rest = unpacking.unconsumed_tail


def _check_declared(content: bytes | pa.Buffer, most: int) -> None:
    """Add up what the batches of a stream say of their size, which Arrow allocates unasked."""
    taken = 0
    messages = pa.ipc.MessageReader.open_stream(content)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if message.type != "schema":
            metadata = message.metadata.to_pybytes()
            batch = _referred(metadata, _field(metadata, _root(metadata), HEADER))
            if message.type == "dictionary":
                batch = _referred(metadata, _field(metadata, batch, DATA))
            taken += _declared_bytes(metadata, batch, message.body)
        if taken > most:
            raise UnreadableBytes(f"a table that unpacks to {taken:,} bytes, more than {most:,}")


def _check_repeated(table: pa.Table, most: int) -> None:
    """A text of a dictionary is repeated for every row that names it."""
    import pyarrow.compute as pc  # takes a tenth of a second, and most programs need none of it

    taken = 0
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            for chunk in column.chunks:
                lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
                taken += pc.sum(pc.cast(lengths, pa.int64())).as_py() or 0
    if taken > most:
        raise UnreadableBytes(f"a table that unpacks to {taken:,} bytes, more than {most:,}")


# A message's header, and within a dictionary its data, and within a record batch its rows, its
# buffers and their compression (numbers of fields in Arrow's Message.fbs).
HEADER, DATA, ROWS, BUFFERS, COMPRESSION = 2, 1, 0, 2, 3


def _declared_bytes(metadata: bytes, batch: int, body: pa.Buffer) -> int:
    """The bytes of a record batch as it says itself, and one more for each row: a column of
    nothing but nulls has rows and no bytes."""
    rows_at, buffers_at = _field(metadata, batch, ROWS), _field(metadata, batch, BUFFERS)
    (declared,) = struct.unpack_from("<q", metadata, rows_at) if rows_at else (0,)
    if not buffers_at:
        return _counted(declared)
    is_packed = _field(metadata, batch, COMPRESSION) != 0
    vector = _referred(metadata, buffers_at)
    (count,) = struct.unpack_from("<I", metadata, vector)
    taken = _counted(declared)
    for offset, size in struct.iter_unpack("<qq", metadata[vector + 4 : vector + 4 + 16 * count]):
        if offset < 0 or size < 0 or offset + size > body.size:
            raise UnreadableBytes("a table with less in it than it says")
        unpacked = -1
        if is_packed and size:
            (unpacked,) = struct.unpack_from("<q", body, offset)
        taken += size if unpacked == -1 else _counted(unpacked)
    return taken


def _counted(number: int) -> int:
    if number < 0:
        raise UnreadableBytes(f"a table of {number} bytes or rows")
    return number


def _field(metadata: bytes, table: int, number: int) -> int:
    """Return where a field of a table of FlatBuffers stands; 0 where it has none."""
    (back,) = struct.unpack_from("<i", metadata, table)
    (size,) = struct.unpack_from("<H", metadata, table - back)
    place = 4 + 2 * number
    if place + 2 > size:
        return 0
    (offset,) = struct.unpack_from("<H", metadata, table - back + place)
    return table + int(offset) if offset else 0


def _root(metadata: bytes) -> int:
    return int.from_bytes(metadata[:4], "little")


def _referred(metadata: bytes, place: int) -> int:
    (offset,) = struct.unpack_from("<I", metadata, place)
    return place + int(offset)
