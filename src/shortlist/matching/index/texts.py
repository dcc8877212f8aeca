"""Texts side by side, as one run of bytes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.matching.blocks import Ints, Longs
from shortlist.matching.kernels.numbering import find_texts, hash_texts


@dataclass(frozen=True, slots=True)
class Texts:
    """Some texts, in order of their hashes if others are to be found among them.

    >>> known = Texts.hashed(["drama", "comedy"])
    >>> known.find(Texts.of(["war", "drama"])) >= 0
    array([False,  True])
    """

    data: npt.NDArray[np.uint8]
    offsets: Longs
    hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Texts":
        plain = cls.plain(texts)
        return cls(plain.data, plain.offsets, hash_texts(plain.data, plain.offsets))

    @classmethod
    def hashed(cls, texts: Iterable[str]) -> "Texts":
        """Distinct texts, in order of hash."""
        distinct = sorted(set(texts))
        order = np.argsort(cls.of(distinct).hashes, kind="stable")
        return cls.of(distinct[place] for place in order)

    @classmethod
    def plain(cls, texts: Iterable[str]) -> "Texts":
        """Texts that are neither looked for nor found.

        >>> Texts.plain(["war", "drama"])[1]
        'drama'
        """
        pieces = [encoded(text) for text in texts]
        # kernels are compiled for arrays that can be written, which those of bytes cannot
        data = np.frombuffer(bytearray().join(pieces), np.uint8)
        return cls(data, np.cumsum([0, *map(len, pieces)], dtype=np.int64))

    @classmethod
    def joined(cls, some: Sequence["Texts"]) -> "Texts":
        """All texts, one list after the other, as `plain` has them.

        >>> [*Texts.joined([Texts.plain(["war"]), Texts.plain(["drama", ""])])]
        ['war', 'drama', '']
        """
        data = np.concatenate([np.empty(0, np.uint8), *(each.letters for each in some)])
        return cls(data, joined_offsets(some))

    @classmethod
    def of_arrow(cls, texts: pa.LargeStringArray) -> "Texts":
        """As `plain`, in the same memory; null is empty."""
        _, offsets, data = texts.buffers()
        return cls(
            np.frombuffer(data or b"", np.uint8),
            np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1],
        )

    def arrow(self) -> pa.LargeStringArray:
        """The texts in the same memory."""
        buffers = pa.py_buffer(self.offsets), pa.py_buffer(self.data)
        return pa.LargeStringArray.from_buffers(len(self), *buffers)

    @property
    def letters(self) -> npt.NDArray[np.uint8]:
        """Of these texts, without what else may lie beside them."""
        return self.data[int(self.offsets[0]) : int(self.offsets[-1])]

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[str]:
        whole, offsets = self.data.tobytes(), self.offsets.tolist()
        for start, stop in pairwise(offsets):
            yield whole[start:stop].decode("utf-8", "surrogatepass")

    def __getitem__(self, place: int) -> str:
        start, stop = self.offsets[place], self.offsets[place + 1]
        return self.data[start:stop].tobytes().decode("utf-8", "surrogatepass")

    def find(self, wanted: "Texts") -> Ints:
        """The place of each wanted text here, or -1."""
        return find_texts(
            wanted.hashes, wanted.data, wanted.offsets, self.hashes, self.data, self.offsets
        )


def joined_offsets(some: Sequence[Texts]) -> Longs:
    """Where all texts start, one list after the other, and where the last one ends."""
    lengths = [np.diff(each.offsets) for each in some]
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))


def encoded(text: str) -> bytes:
    """UTF-8, in which bytes order as code points do; JSON may bring half characters."""
    return text.encode("utf-8", "surrogatepass")


@lru_cache(4096)
def stable_hash(text: str) -> int:
    """64 bits that are the same in every process; nobody can choose texts that share many.

    >>> stable_hash("drama")
    13222706444115469365
    """
    return int.from_bytes(blake2b(encoded(text), digest_size=8).digest(), "little")
