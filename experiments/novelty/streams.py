"""What is published: streams of kinds, of which every subscription takes one.

A stream is an array of kinds, numbers from 0, the most popular first; its places are the instants.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.experiments.run import Run

Kinds = npt.NDArray[np.int64]

KINDS = 10
SKEW = 1.25
PERIOD = 1000


def length(run: Run) -> int:
    """Of a stream: 100,000 events, as the paper has it."""
    return run.pick(full=100 * PERIOD, quick=40 * PERIOD)


def zipf_shares(skew: float, kinds: int = KINDS) -> npt.NDArray[np.float64]:
    """How popular each kind is.

    >>> zipf_shares(1.0, kinds=2).round(3).tolist()
    [0.667, 0.333]
    """
    weights = np.arange(1, kinds + 1, dtype=np.float64) ** -skew
    return weights / weights.sum()


def zipf_stream(run: Run, name: str, count: int, skew: float = SKEW) -> Kinds:
    return drawn(run, name, count, zipf_shares(skew))


def drawn(run: Run, name: str, count: int, shares: npt.NDArray[np.float64]) -> Kinds:
    """A stream whose kinds are drawn one by one, each with its share."""
    return run.draws(name).choice(shares.size, count, p=shares / shares.sum())


def published(stream: Kinds) -> pa.Table:
    """The publications of a stream, one a second; the id of each is its place."""
    places = np.arange(stream.size)
    return pa.table(
        {
            "id": pa.array(places.astype(str)),
            "source": pa.array(np.full(stream.size, "stream")),
            "time": pa.array(places * 1_000_000, pa.timestamp("us", "UTC")),
            "kind": pa.array(stream, pa.int64()),
        }
    )
