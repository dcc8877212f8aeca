"""Points that are published one after the other: uniform, clustered, or what sensors measured."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from shortlist.matching.blocks import Block, Longs
from shortlist.model.vocabulary import Vocabulary

from .rows import block_of

Points = NDArray[np.float64]

AXES = ("a", "b", "c", "d")
PER_MINUTE = 1_000
MINUTE = 60_000_000
BLOCK = 2_000
"""Publications that are scored together."""

CLUSTERS = 10
SPREAD = 0.05

FILE = "sensorscope_stbernard.csv.gz"
MEASURED = ("ambient_temp_c", "surface_temp_c", "rel_humidity_pct", "wind_dir_deg")
"""The attributes that are seldom missing, and not mostly 0."""
USUAL_SHARES = (0.01, 0.99)
"""Sensors also err: what is beyond these quantiles is taken for them."""

VOCABULARY = Vocabulary()


@dataclass(frozen=True, slots=True)
class Stream:
    """Points of the unit cube, a thousand a minute."""

    name: str
    points: Points

    def __len__(self) -> int:
        return len(self.points)

    @property
    def times(self) -> Longs:
        """In microseconds."""
        return np.arange(len(self)) * (MINUTE // PER_MINUTE)

    def first(self, count: int) -> "Stream":
        return replace(self, points=self.points[:count])

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Neighbours, with the number of the first of them."""
        columns = [pa.array(np.ascontiguousarray(column)) for column in self.points.T]
        table = pa.RecordBatch.from_arrays(columns, names=AXES)
        for first in range(0, len(self), BLOCK):
            yield first, block_of(table.slice(first, BLOCK))


def streams(count: int, folder: Path | None) -> list[Stream]:
    """All that there are; sensors only if a folder holds their FILE."""
    found = [uniform(count), clustered(count)]
    if folder is not None and (folder / FILE).is_file():
        found.append(sensors(folder / FILE).first(count))
    return found


def uniform(count: int, seed: int = 0) -> Stream:
    """
    >>> uniform(2).points.round(2).tolist()
    [[0.64, 0.27, 0.04, 0.02], [0.81, 0.91, 0.61, 0.73]]
    """
    return Stream("uniform", np.random.default_rng(seed).random((count, len(AXES))))


def clustered(count: int, seed: int = 0) -> Stream:
    """Gaussians around some points, all as frequent and as wide; what falls outside is cut off.

    >>> clustered(2).points.round(2).tolist()
    [[0.69, 0.45, 1.0, 0.99], [0.01, 0.2, 0.77, 0.74]]
    """
    draw = np.random.default_rng(seed)
    centres = draw.random((CLUSTERS, len(AXES)))[draw.integers(0, CLUSTERS, count)]
    spread = draw.normal(0.0, SPREAD, (count, len(AXES)))
    return Stream("clustered", np.clip(centres + spread, 0.0, 1.0))


def sensors(file: Path) -> Stream:
    """What stations measured, in order of time; each attribute from 0 to 1."""
    rows = pd.read_csv(file, usecols=MEASURED)[[*MEASURED]].dropna()
    low, high = (rows.quantile(share) for share in USUAL_SHARES)
    return Stream("sensors", ((rows - low) / (high - low)).clip(0.0, 1.0).to_numpy())


def centres(count: int, seed: int = 1) -> Points:
    """What subscriptions want to be near to: anywhere. More begin as fewer do."""
    return np.random.default_rng(seed).random((count, len(AXES))).round(6)
