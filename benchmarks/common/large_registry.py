"""Registries of any size as tables: people who look for flats, as in `live_load.py`, by columns."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .live_load import ATTRIBUTES, POLICIES, RANGE

AT_ONCE = 1 << 20


def share_for(matches: float, count: int) -> float:
    """Of their range that each of three conditions must allow, if so many of all subscriptions are
    to match a flat.

    >>> round(share_for(50, 100_000), 3)
    0.079
    """
    return float((matches / count) ** (1 / len(ATTRIBUTES)))


def write_registry(folder: Path, count: int, share: float) -> Path:
    """A folder with one table of so many subscriptions."""
    folder.mkdir(parents=True)
    random, width = np.random.default_rng(0), max(int(RANGE * share), 1)
    policies = pa.array([json.dumps(policy) for policy in POLICIES])
    schema = pa.schema(dict.fromkeys(("id", "where", "score", "policy"), pa.string()))
    with pq.ParquetWriter(folder / "subscriptions.parquet", schema) as table:
        for first in range(0, count, AT_ONCE):
            size = min(AT_ONCE, count - first)
            numbers = np.arange(first, first + size)
            ids = pc.binary_join_element_wise("s", pa.array(numbers).cast(pa.string()), "")
            wheres = [_range(name, random, size, width) for name in ATTRIBUTES]
            columns = [
                ids,
                pc.binary_join_element_wise(*wheres, " and "),
                pa.array(["-price"]).take(pa.array(np.zeros(size, np.int64))),
                policies.take(pa.array(numbers % len(POLICIES))),
            ]
            table.write_batch(pa.record_batch(columns, schema=schema))
    return folder


def _range(name: str, random: np.random.Generator, size: int, width: int) -> pa.Array:
    lows = random.integers(0, RANGE - width, size)
    low, high = (pa.array(numbers).cast(pa.string()) for numbers in (lows, lows + width))
    return pc.binary_join_element_wise(f"{name} between", low, "and", high, " ")
