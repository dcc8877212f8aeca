"""Degrees in a few bits: less space for less precision.

Between 0 and 1 lie 2 ** bits cells of one width, and a degree is known by its cell. What is in the
cell of a threshold counts as having reached it, so that nothing is missed, and a little more than
asked for is found.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from shortlist.language.tree import And, Is, Or, Where
from shortlist.matching.blocks import Floats

Bits = Literal[8, 4, 3, 2]


def lowered(threshold: float, bits: Bits) -> float:
    """The start of the cell that a threshold lies in.

    >>> lowered(0.8, 3), lowered(1.0, 2)
    (0.75, 0.75)
    """
    cells = 2**bits
    return min(cells - 1, int(threshold * cells)) / cells


def with_lowered(where: Where, bits: Bits) -> Where:
    """The condition with every threshold lowered.

    >>> from shortlist.language.parser import parse_where
    >>> from shortlist.language.printer import print_where
    >>> print_where(with_lowered(parse_where("x is around(1, 2) (possibility >= 0.8)"), 3))
    'x is around(1, 2) (possibility >= 0.75)'
    """
    if isinstance(where, And | Or):
        return type(where)(tuple(with_lowered(operand, bits) for operand in where.operands))
    if not isinstance(where, Is):
        return where
    return replace(
        where,
        possibility=None if where.possibility is None else lowered(where.possibility, bits),
        necessity=None if where.necessity is None else lowered(where.necessity, bits),
    )


@dataclass(frozen=True, slots=True)
class PackedDegrees:
    """Degrees as the numbers of their cells, side by side in bytes.

    A degree is given back as the middle of its cell; of the last cell, which certainty is in, as 1.

    >>> packed = PackedDegrees.of(np.array([0.1, 0.8, 1.0]), 2)
    >>> packed.data.size, packed.degrees().tolist()
    (1, [0.125, 1.0, 1.0])
    """

    bits: Bits
    count: int
    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, degrees: Floats, bits: Bits) -> "PackedDegrees":
        cells = np.minimum(degrees * 2**bits, 2**bits - 1).astype(np.uint8)
        unpacked = np.unpackbits(cells[:, np.newaxis], axis=1)[:, 8 - bits :]
        return cls(bits, degrees.size, np.packbits(unpacked))

    @property
    def size(self) -> int:
        return self.count

    def degrees(self) -> Floats:
        unpacked = np.unpackbits(self.data, count=self.count * self.bits)
        cells = unpacked.reshape(self.count, self.bits) @ (1 << np.arange(self.bits)[::-1])
        return np.where(cells == 2**self.bits - 1, 1.0, (cells + 0.5) / 2**self.bits)
