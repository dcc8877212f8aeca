"""Texts side by side, as one run of bytes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Ints, Longs
from shortlist.matching.kernels.texts import find_texts, hash_texts


@dataclass(frozen=True, slots=True)
class Texts:
    """Some texts, in order of their hashes if others are to be found among them.

    >>> known = Texts.hashed(["drama", "comedy"])
    >>> known.find(Texts.of(["war", "drama"])) >= 0
    array([False,  True])
    """

    data: npt.NDArray[np.uint8]
    offsets: Longs
    hashes: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Texts":
        pieces = [encoded(text) for text in texts]
        data = np.frombuffer(b"".join(pieces), np.uint8)
        offsets = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        return cls(data, offsets, hash_texts(data, offsets))

    @classmethod
    def hashed(cls, texts: Iterable[str]) -> "Texts":
        """Distinct texts, in order of hash."""
        distinct = sorted(set(texts))
        order = np.argsort(cls.of(distinct).hashes, kind="stable")
        return cls.of(distinct[place] for place in order)

    def __len__(self) -> int:
        return self.hashes.size

    def __iter__(self) -> Iterator[str]:
        whole, offsets = self.data.tobytes(), self.offsets.tolist()
        for start, stop in pairwise(offsets):
            yield whole[start:stop].decode("utf-8", "surrogatepass")

    def find(self, wanted: "Texts") -> Ints:
        """The place of each wanted text here, or -1."""
        return find_texts(
            wanted.hashes, wanted.data, wanted.offsets, self.hashes, self.data, self.offsets
        )


def encoded(text: str) -> bytes:
    """UTF-8, in which bytes order as code points do; JSON may bring half characters."""
    return text.encode("utf-8", "surrogatepass")
