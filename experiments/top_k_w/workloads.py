"""Publications and subscriptions as in section 5.1: points, and windows that want the nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shortlist.experiments.run import Run

Points = NDArray[np.float64]

AXES = ("a", "b", "c", "d")
START = np.datetime64("2026-01-01T00:00:00", "us")
MINUTE = 60_000_000
MINUTES = 1_000
"""How long publications come: the paper's 10^6 at its 1,000 a minute."""
K, WINDOW = 9, 40
ERROR = 1e-3
KS = (1, 3, 9, 27)
WINDOWS = (10, 20, 40, 80)
"""In minutes; k grows with the default window, and windows with the default k."""

CLUSTERS = 2
SPREAD = 0.1
SENSORS = "sensorscope_stbernard"
MEASURED = ("ambient_temp_c", "surface_temp_c", "rel_humidity_pct", "wind_dir_deg")
"""Those that are seldom missing."""
USUAL_SHARES = (0.01, 0.99)
"""Sensors also err: what is beyond these quantiles is taken for them."""


def per_minute(run: Run) -> int:
    """How many publications come; a quick look has fewer in each window."""
    return run.pick(full=1_000, quick=100)


def uniform(run: Run, count: int, *names: object) -> Points:
    return run.draws("uniform", *names).random((count, len(AXES)))


def clustered(run: Run, count: int, *names: object) -> Points:
    """Gaussians around two points of the unit cube; what falls outside is drawn again."""
    centres = run.draws("centres").random((CLUSTERS, len(AXES)))
    draw = run.draws("clustered", *names)
    points = np.full((count, len(AXES)), -1.0)
    while (outside := ((points < 0) | (points > 1)).any(axis=1)).any():
        around = centres[draw.integers(0, CLUSTERS, outside.sum())]
        points[outside] = draw.normal(around, SPREAD)
    return points


def sensors(run: Run, count: int, *names: object) -> Points:
    """Measurements by chance, as the paper takes them, each as often as it comes."""
    known = measured(run)
    return known[run.draws("sensors", *names).integers(0, len(known), count)]


@lru_cache(maxsize=1)
def measured(run: Run) -> Points:
    """What stations measured, in order of time; each attribute from 0 to 1."""
    rows = run.data(SENSORS).select([*MEASURED]).to_pandas().dropna()
    low, high = (rows.quantile(share) for share in USUAL_SHARES)
    return ((rows - low) / (high - low)).clip(0.0, 1.0).to_numpy(np.float64)


DATA: Mapping[str, Callable[..., Points]] = {
    "uniform": uniform,
    "clustered": clustered,
    "sensors": sensors,
}


def publications(points: Points, a_minute: int) -> pa.Table:
    """One after the other, evenly."""
    count = len(points)
    times = START + np.arange(count) * (MINUTE // a_minute)
    columns = {axis: points[:, at] for at, axis in enumerate(AXES)}
    return pa.table(
        {
            "id": pa.array(np.arange(count)).cast(pa.string()),
            "source": pa.repeat("sensors", count),
            "time": pa.array(times, pa.timestamp("us", "UTC")),
            **columns,
        }
    )


def last_arrival(table: pa.Table) -> Any:
    return table.column("time")[-1]


def nearest(point: NDArray[np.float64]) -> str:
    """The score of a subscription that wants what is near to a point.

    >>> nearest(np.array([0.5, 0.25, 0, 1]))
    '-distance(a: 0.500000, b: 0.250000, c: 0.000000, d: 1.000000)'
    """
    wishes = (f"{axis}: {value:.6f}" for axis, value in zip(AXES, point.tolist(), strict=True))
    return f"-distance({', '.join(wishes)})"


def windows(points: Points, prefix: str, **policy: Any) -> list[dict[str, Any]]:
    """A window for each point, of minutes or, as `window`, of publications."""
    minutes = policy.pop("minutes", WINDOW)
    policy = {"kind": "window", "k": K, "window": f"{minutes}m"} | policy
    return [
        {"id": f"{prefix} {number}", "score": nearest(point), "policy": policy}
        for number, point in enumerate(points)
    ]


def boolean(points: Points, prefix: str, threshold: float) -> list[dict[str, Any]]:
    """Everything within a distance of a point."""
    return [
        {"id": f"{prefix} {number}", "score": nearest(point), "at_least": {"score": -threshold}}
        for number, point in enumerate(points)
    ]


def settings() -> list[tuple[int, int]]:
    """k and minutes: k grows, then windows."""
    return [(k, WINDOW) for k in KS] + [(K, minutes) for minutes in WINDOWS]


def prefix_of(k: int, minutes: int) -> str:
    return f"{k} of {minutes}m"


def counts_by_prefix(deliveries: pa.Table) -> dict[str, int]:
    """How many deliveries the shortlists of each prefix had."""
    found: dict[str, int] = {}
    counted = deliveries.group_by("shortlist").aggregate([([], "count_all")])
    for row in counted.to_pylist():
        prefix = row["shortlist"].rpartition(" ")[0]
        found[prefix] = found.get(prefix, 0) + row["count_all"]
    return found
