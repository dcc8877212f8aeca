"""Sensor alerts: air, noise and water, some of them read by unsure instruments."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

STATIONS = tuple(f"S{number:02d}" for number in range(1, 41))
NETWORKS = {"air": "air-network", "noise": "noise-network", "water": "river-board"}
LIMITS = {"air": 50.0, "noise": 65.0, "water": 240.0}
"""Fine dust in µg/m³, sound in dB, the river in cm: what is still ordinary."""

STORM_DAY = 3
"""Counted from Monday."""


def alert(rng: random.Random, number: int, moment: datetime) -> dict[str, Any]:
    """One alert; its value may be a trapezoid, its severity from 0 to 5 is always plain."""
    kind = rng.choices(tuple(LIMITS), _weights(moment))[0]
    storm = kind == "water" and moment.weekday() == STORM_DAY
    excess = rng.lognormvariate(0.35 if storm else -0.25, 0.55)
    value = round(LIMITS[kind] * (0.75 + 0.3 * excess), 1)
    return {
        "id": f"alert-{number:05d}",
        "source": NETWORKS[kind],
        "type": "alert",
        "data": {
            "kind": kind,
            "station": rng.choice(STATIONS),
            "value": _told(rng, value),
            "severity": round(min(5.0, 1.6 * excess), 1),
        },
    }


def _weights(moment: datetime) -> tuple[float, float, float]:
    """Noise is commonest, most of all at night; dust follows the traffic; water waits for rain."""
    night = moment.hour >= 21 or moment.hour < 5
    rush = moment.hour in (7, 8, 16, 17, 18)
    return (6 if rush else 3), (9 if night else 6), (8 if moment.weekday() == STORM_DAY else 0.6)


def _told(rng: random.Random, value: float) -> object:
    if rng.random() >= 0.2:
        return value
    blur = value * rng.choice((0.02, 0.05))
    corners = (value - 2 * blur, value - blur, value + blur, value + 2 * blur)
    return {"trapezoid": [round(corner, 1) for corner in corners]}
