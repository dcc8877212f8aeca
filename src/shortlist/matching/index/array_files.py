"""Files of arrays, used where they lie: all processes of a machine share one copy in memory."""

import json
import mmap
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MAGIC = b"shortlist arrays\n"
LINE = 64
"""Arrays start at multiples of this, as lines of a cache do."""


class DamagedFile(Exception):
    """A file is not what was written once."""


@dataclass(frozen=True, slots=True)
class Seal:
    """What a file must be like; checksums are of its head and of all of it."""

    bytes: int
    head_bytes: int
    head: int
    all: int


def write_arrays(file: Path, about: Any, arrays: Sequence[Array]) -> Seal:
    """Writes a new file, until it is safe on disk: a head, with what JSON can say, and arrays.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     seal = write_arrays(Path(folder, "some.arrays"), "of seven", [np.arange(7)])
    ...     map_arrays(Path(folder, "some.arrays"), seal)
    ('of seven', [array([0, 1, 2, 3, 4, 5, 6])])
    """
    kinds = [(array.dtype.str, array.shape) for array in arrays]
    head = _padded(MAGIC + json.dumps([about, kinds]).encode())
    size = checksum = 0
    with file.open("xb") as out:
        for piece in (head, *_pieces(arrays)):
            out.write(piece)
            checksum = zlib.crc32(piece, checksum)
            size += len(piece)
        out.flush()
        os.fsync(out.fileno())
    return Seal(size, len(head), zlib.crc32(head), checksum)


def map_arrays(file: Path, seal: Seal, verify: bool = True) -> tuple[Any, list[Array]]:
    """What a file holds, after a look at its length and its head, and at all of it to verify it.

    What is written into the arrays is seen by this process only, and never reaches the file.
    """
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if size != seal.bytes:
            raise DamagedFile(f"expected {seal.bytes} bytes, found {size}")
        # kernels are compiled for arrays that can be written: read-only ones would be another type
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY)
    head = mapped[: seal.head_bytes]
    if not head.startswith(MAGIC) or zlib.crc32(head) != seal.head:
        raise DamagedFile("its head has another checksum")
    if verify and zlib.crc32(mapped) != seal.all:
        raise DamagedFile("its content has another checksum")
    about, kinds = json.loads(head[len(MAGIC) :])
    arrays, start = [], seal.head_bytes
    for kind, shape in kinds:
        arrays.append(np.ndarray(tuple(shape), np.dtype(kind), mapped, start))
        start += -(-arrays[-1].nbytes // LINE) * LINE
    return about, arrays


def _pieces(arrays: Iterable[Array]) -> Iterable[Any]:
    for array in arrays:
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        yield content
        yield bytes(-content.size % LINE)


def _padded(head: bytes) -> bytes:
    """With blanks, which mean nothing in JSON."""
    return head + b" " * (-len(head) % LINE)
