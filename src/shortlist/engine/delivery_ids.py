"""The ids of many deliveries at once, equal to `delivery_id` one by one."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shortlist.engine.arrow import text_bytes
from shortlist.engine.kernels.sha256 import PAIRS, Messages, Texts, texts, write_digests

DIGITS = 2 * PAIRS
MOST = np.iinfo(np.int32).max // DIGITS
"""Ids that an Arrow array of strings can hold."""


def delivery_ids(
    shortlists: Texts,
    of_shortlist: NDArray[np.int32],
    publications: Texts,
    of_publication: NDArray[np.int32],
) -> pa.StringArray:
    """Row by row, of a publication that enters a shortlist.

    >>> both, same = np.array([0, 1], np.int32), np.array([0, 0], np.int32)
    >>> shortlists = shortlist_texts(pa.array(["L1", "L2"]))
    >>> publications = publication_texts(pa.array(["b"]), pa.array(["p2"]))
    >>> delivery_ids(shortlists, both, publications, same).to_pylist()
    ['06acb291999806e361ec50a3ebe3d9d2', '36a62a02d9b94e9611ffe252e4d039b3']
    """
    count = len(of_shortlist)
    if count > MOST:
        raise ValueError(f"expected at most {MOST} deliveries at once, found {count}")
    messages = Messages(
        heads=shortlists,
        tails=publications,
        of_head=np.require(of_shortlist, np.int32, ["C", "W"]),
        of_tail=np.require(of_publication, np.int32, ["C", "W"]),
    )
    digits = np.empty(count * PAIRS, np.uint16)
    write_digests(messages, digits)
    offsets = np.arange(0, count * DIGITS + 1, DIGITS, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(digits))


def shortlist_texts(shortlists: pa.StringArray) -> Texts:
    """Shortlists, ready to be hashed."""
    return texts(*text_bytes(shortlists))


def publication_texts(sources: pa.StringArray, ids: pa.StringArray) -> Texts:
    """Publications, ready to be hashed."""
    return texts(*text_bytes(pc.binary_join_element_wise("", sources, ids, "\0")))
