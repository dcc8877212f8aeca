"""The ids of many deliveries at once, equal to `delivery_id` one by one."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shortlist.engine.kernels.sha256 import PAIRS, Messages, Texts, texts, write_digests

DIGITS = 2 * PAIRS
MOST = np.iinfo(np.int32).max // DIGITS
"""Ids that an Arrow array of strings can hold."""


def delivery_ids(
    shortlists: Sequence[str] | Texts,
    of_shortlist: NDArray[np.int32],
    publications: Sequence[tuple[str, str]],
    of_publication: NDArray[np.int32],
) -> pa.StringArray:
    """Row by row, of a publication (its source and its id) that enters a shortlist.

    Shortlists that come again and again are given as their `texts`. A string that is not Unicode
    is an error, as it is for `delivery_id`.

    >>> both, same = np.array([0, 1], np.int32), np.array([0, 0], np.int32)
    >>> delivery_ids(["L1", "L2"], both, [("b", "p2")], same).to_pylist()
    ['06acb291999806e361ec50a3ebe3d9d2', '36a62a02d9b94e9611ffe252e4d039b3']
    """
    count = len(of_shortlist)
    if count > MOST:
        raise ValueError(f"expected at most {MOST} deliveries at once, found {count}")
    messages = Messages(
        heads=shortlists if isinstance(shortlists, Texts) else shortlist_texts(shortlists),
        tails=texts([f"\0{source}\0{name}".encode() for source, name in publications]),
        of_head=np.require(of_shortlist, np.int32, ["C", "W"]),
        of_tail=np.require(of_publication, np.int32, ["C", "W"]),
    )
    digits = np.empty(count * PAIRS, np.uint16)
    write_digests(messages, digits)
    offsets = np.arange(0, count * DIGITS + 1, DIGITS, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(digits))


def shortlist_texts(shortlists: Sequence[str]) -> Texts:
    """Shortlists, ready to be hashed."""
    return texts([shortlist.encode() for shortlist in shortlists])
