"""The city's tables, from `city.yaml`."""

from pathlib import Path
from typing import Any

import yaml

CITY: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("city.yaml").read_text(encoding="utf-8")
)
DISTRICTS = tuple(CITY["districts"])
FEATURES: dict[str, list[float]] = CITY["features"]
CINEMAS, GENRES = CITY["cinemas"], CITY["genres"]
STATIONS = tuple(f"S{number:02d}" for number in range(1, 41))
