"""An index as one file in a folder: arrays, a document about them, and where that starts.

All processes of a machine use the arrays where they lie, and share one copy in memory.
"""

import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from secrets import token_hex
from struct import Struct
from typing import Any

import numpy as np

from shortlist.matching.index.grades import Grades
from shortlist.matching.index.literals import Attribute
from shortlist.matching.index.numbering import NumberTable, SavedNumbers, SavedRequests, Sharers
from shortlist.matching.index.segments import Conjunctions, Held, Programs, Segment, Shelf
from shortlist.matching.index.tables import Betweens, Ends, Equals, Patterns, SlotTable, TextEnds
from shortlist.matching.index.texts import Texts

Array = np.ndarray[Any, Any]

Parts = dict[str, Any]
"""Something as arrays and what JSON can say, each by its name."""

DESCRIBED: dict[str, Any] = {
    each.__name__: each
    for each in (
        Attribute,
        Betweens,
        Conjunctions,
        Ends,
        Equals,
        Grades,
        Held,
        NumberTable,
        Patterns,
        Programs,
        SavedNumbers,
        SavedRequests,
        Segment,
        Sharers,
        Shelf,
        SlotTable,
        TextEnds,
        Texts,
    )
}


@dataclass(frozen=True, slots=True)
class Chained:
    """Arrays that are written one after the other, and opened as one.

    >>> Chained.of([np.array([1, 2]), np.array([3])], np.int64).whole()
    array([1, 2, 3])
    """

    arrays: Sequence[Array]
    """Contiguous ones of one kind, each with one dimension."""
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, arrays: Sequence[Array], kind: Any) -> "Chained":
        return cls(arrays, np.dtype(kind))

    @property
    def shape(self) -> tuple[int]:
        return (sum(array.size for array in self.arrays),)

    def whole(self) -> Array:
        return np.concatenate([np.empty(0, self.dtype), *self.arrays])


def layout() -> int:
    """A number that changes whenever the fields of what is described do.

    >>> layout() == layout()
    True
    """
    names = {name: _field_names(described) for name, described in DESCRIBED.items()}
    return zlib.crc32(repr(names).encode())


class Arrays:
    """Arrays in order, each once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Array | Chained]] = {}

    def __iter__(self) -> Iterator[Array | Chained]:
        return (array for _, array in self._known.values())

    def place(self, array: Array | Chained) -> int:
        return self._known.setdefault(id(array), (len(self._known), array))[0]


def described(value: Any, arrays: Arrays) -> Any:
    """What JSON can say about a value; its arrays are put with the others.

    >>> arrays = Arrays()
    >>> described(Texts.plain(["war"]), arrays)
    {'Texts': [{'array': 0}, {'array': 1}, {'array': 2}]}
    >>> restored({"Texts": [{"array": 0}, {"array": 1}, {"array": 2}]}, [*arrays])[0]
    'war'
    """
    if isinstance(value, np.ndarray | Chained):
        return {"array": arrays.place(value)}
    if isinstance(value, dict):
        return {"dict": [described(item, arrays) for item in value.items()]}
    name = type(value).__name__
    if name in DESCRIBED:
        return {name: [described(part, arrays) for part in _parts(value)]}
    if isinstance(value, tuple):
        return [described(part, arrays) for part in value]
    return value


def in_memory(parts: Parts) -> Parts:
    """The same with arrays only, as if it had been saved and opened.

    >>> in_memory({"n": Chained.of([np.array([1]), np.array([2])], np.int64)})
    {'n': array([1, 2])}
    """
    arrays = Arrays()
    description = described(parts, arrays)
    found = [each.whole() if isinstance(each, Chained) else each for each in arrays]
    return restored(description, found)  # type: ignore[no-any-return]


def restored(description: Any, arrays: Sequence[Array]) -> Any:
    """The value that was described."""
    if isinstance(description, list):
        return tuple([restored(part, arrays) for part in description])
    if not isinstance(description, dict):
        return description
    ((name, parts),) = description.items()
    if name == "array":
        return arrays[parts]
    if name == "dict":
        return dict(restored(parts, arrays))
    return DESCRIBED[name](*restored(parts, arrays))


def _parts(value: Any) -> Iterator[Any]:
    return (getattr(value, name) for name in _field_names(type(value)))


def _field_names(described: Any) -> tuple[str, ...]:
    """In order; fields with an underscore are made anew when they are needed."""
    if not is_dataclass(described):
        return described._fields  # type: ignore[no-any-return]
    return tuple(each.name for each in fields(described) if each.name[0] != "_")


FILE = "index.arrays"
# How a file is laid out: raise it when `save_parts` writes the same parts in another way.
FORMAT = 5
# What is compiled into the parts: raise it when the same registry compiles to other arrays, or when
# code reads the same arrays otherwise: tokens and normal forms of texts, hashes, orders of numbers,
# rounded degrees, names of parts, documents of nouns. `tests/engine/test_stored_registry.py`
# compares a registry that an earlier version compiled with what today's code makes of it, and fails
# when this should have been raised. What changes neither (a comment, a name, a folder, a faster
# kernel) needs no other version: a large registry takes minutes to compile.
MEANING = 1
VERSION = f"{FORMAT}.{MEANING}"
LINE = 64
"""Arrays start at multiples of this, as lines of a cache do."""
END = Struct("<QI16s")
"""Where the document starts, its checksum, and what tells that an index ends here."""
MARK = b"shortlist index\n"


class UnusableIndex(Exception):
    """A folder holds no index that this program can open: what is wrong, where, what to do."""


def save_parts(folder: Path, about: Any, parts: Mapping[str, Any], *, durable: bool = True) -> None:
    """Saves parts, each a dataclass of arrays; what was saved in the folder before is replaced.

    Until the last moment, and if anything fails, the folder holds what it held. What is not
    durable may be gone after a power cut.

    >>> from shortlist.matching.index.texts import Texts
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_parts(Path(folder), "two words", {"words": Texts.plain(["war", "love"])})
    ...     about, parts = open_parts(Path(folder))
    >>> about, list(parts["words"])
    ('two words', ['war', 'love'])
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays = Arrays()
    descriptions = {name: described(value, arrays) for name, value in parts.items()}
    document = {"version": VERSION, "layout": layout(), "about": about, "parts": descriptions}
    new = folder / f"{token_hex(8)}.arrays"
    try:
        _write(new, document, arrays, durable)
        os.replace(new, folder / FILE)
    finally:
        new.unlink(missing_ok=True)
    if not durable:
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)  # the folder's own entry is safe on disk, too
    finally:
        os.close(opened)


def open_parts(folder: Path, verify: bool = True) -> tuple[Any, dict[str, Any]]:
    """What `save_parts` saved, or an `UnusableIndex`; to verify it, all of it is read once.

    What is written into the arrays is seen by this process only, and never reaches the file.
    """
    file = folder / FILE
    try:
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            # kernels are compiled for arrays that can be written: read-only ones are another type
            mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY) if size else b""
    except (FileNotFoundError, NotADirectoryError):
        message = f"{folder} holds no index: {FILE} is missing; save one there first"
        raise UnusableIndex(message) from None
    if size < END.size or mapped[-len(MARK) :] != MARK:
        message = f"{file} is damaged, or not that of an index: its end is missing"
        raise UnusableIndex(message)
    start, checksum, _ = END.unpack(mapped[-END.size :])
    written = mapped[start : -END.size]
    if zlib.crc32(written) != checksum:
        raise UnusableIndex(f"{file} is damaged: its document has another checksum")
    document = json.loads(written)
    if document["version"] != VERSION:
        found = f"version {document['version']}, not {VERSION}"
        raise UnusableIndex(f"{file} is of {found}: another release has saved it")
    if document["layout"] != layout():
        raise UnusableIndex(f"{file} is of another layout: another release has saved it")
    if verify and zlib.crc32(memoryview(mapped)[:start]) != document["checksum"]:
        raise UnusableIndex(f"{file} is damaged: its arrays have another checksum")
    arrays = [np.ndarray(shape, kind, mapped, at) for kind, shape, at in document["arrays"]]
    parts = {name: restored(part, arrays) for name, part in document["parts"].items()}
    return document["about"], parts


def _write(
    file: Path, document: dict[str, Any], arrays: Iterable[Array | Chained], durable: bool
) -> None:
    """Writes a new file; a durable one, until it is safe on disk."""
    places, size, checksum = [], 0, 0
    with file.open("xb") as out:
        for array in arrays:
            places.append((array.dtype.str, array.shape, size))
            links = array.arrays if isinstance(array, Chained) else [array]
            for link in links:
                content = np.ascontiguousarray(link).reshape(-1).view(np.uint8).data
                checksum = zlib.crc32(content, checksum)
                size += out.write(content)
            filling = bytes(-size % LINE)
            checksum = zlib.crc32(filling, checksum)
            size += out.write(filling)
        written = json.dumps({**document, "arrays": places, "checksum": checksum}).encode()
        out.write(written + END.pack(size, zlib.crc32(written), MARK))
        out.flush()
        if durable:
            os.fsync(out.fileno())
