"""Random numbers that hash a counter, so that every replay draws the same."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shortlist.matching.index.texts import Texts

State = TypeVar("State", int, npt.NDArray[Any])

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def splitmix64(state: State) -> State:
    """The output function of splitmix64.

    >>> hex(splitmix64(0))
    '0xe220a8397b1dcdaf'
    """
    mixed = (state + GOLDEN) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return mixed ^ (mixed >> 31)


def fnv1a64(text: str) -> int:
    """
    >>> hex(fnv1a64("a"))
    '0xaf63dc4c8601ec8c'
    """
    digest = 0xCBF29CE484222325
    for byte in text.encode():
        digest = ((digest ^ byte) * 0x100000001B3) & MASK
    return digest


def stream(seed: int, name: str) -> int:
    """Where a shortlist's draws start."""
    return splitmix64((seed & MASK) ^ fnv1a64(name))


def streams(seed: int, names: Sequence[str]) -> npt.NDArray[Any]:
    """The same for many of them.

    >>> streams(7, ["a", "Ås"]).tolist() == [stream(7, "a"), stream(7, "Ås")]
    True
    """
    return splitmix64(Texts.of(names).hashes ^ np.uint64(seed & MASK))


def draw(start: int, count: int) -> float:
    """The count-th draw of a stream, uniform in [0, 1)."""
    return (splitmix64((start + count * GOLDEN) & MASK) >> 11) * 2.0**-53
