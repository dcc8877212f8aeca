"""What the city's publishers send: rental ads, film showings, sensor alerts."""

import random
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from examples.city.tables import CINEMAS, CITY, DISTRICTS, FEATURES, GENRES, STATIONS

AGENCIES = ("homes-north", "homes-canal", "keys-direct", "campus-rooms", "estate-gold")
FLOORS = (0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
EVENINGS = (14.5, 17.0, 18.25, 19.5, 20.25, 21.0, 22.5)
STORM_DAY = 3
"""Counted from Monday."""

Document = dict[str, Any]


def rental(rng: random.Random, number: int, moment: datetime) -> Document:
    """One ad, with facts from exact numbers to `cheap`; dear homes may ask for a small audience."""
    district = rng.choice(DISTRICTS)
    size = round(rng.triangular(18, 130, 52))
    rent = round(size * CITY["districts"][district] * rng.uniform(0.75, 1.35) / 10) * 10
    rooms = max(1, round(size / 27 + rng.uniform(-0.4, 0.6)))
    first, *others = praised = rng.sample(sorted(FEATURES), rng.randint(2, 4))
    places = zip(*(FEATURES[word] for word in praised), strict=True)
    data = {
        "district": district,
        "rent": _told_rent(rng, rent),
        "size": size if rng.random() >= 0.1 else _about(size, 2, 6),
        "rooms": rooms,
        "floor": rng.choice(FLOORS),
        "furnished": rng.random() < 0.3,
        "description": f"{first.capitalize()} flat with {rooms} rooms, {' and '.join(others)}, "
        f"close to {district}",
        "embedding": [
            round(sum(place) / len(praised) + rng.uniform(0, 0.1), 3) for place in places
        ],
    }
    source = "estate-gold" if rent > 1700 and rng.random() < 0.6 else rng.choice(AGENCIES[:4])
    ad: Document = {"id": f"home-{number:05d}", "source": source, "type": "rental"}
    if source == "estate-gold" and rng.random() < 0.2:
        ad["audience"] = rng.choice((3, 5, 8))
    if rng.random() < 0.4:
        ad["expirytime"] = written(moment + timedelta(hours=rng.randint(6, 96)))
    return {**ad, "data": data}


def _told_rent(rng: random.Random, rent: int) -> object:
    drawn = rng.random()
    if drawn < 0.12:
        return {"term": "cheap" if rent < 800 else "fair" if rent < 1400 else "dear"}
    if drawn < 0.27:
        return {"between": [rent - rng.choice((20, 50, 100)), rent + rng.choice((20, 50, 100))]}
    return rent


def _films() -> list[Document]:
    """What is on this week."""
    rng = random.Random(64)
    return [
        {
            "title": f"The {first} {second}",
            "genre": rng.sample(GENRES, rng.choice((1, 2, 2, 3))),
            "rating": round(min(9.6, max(2.5, rng.gauss(6.6, 1.3))), 1),
        }
        for first, second in product(*CITY["titles"])
    ]


FILMS = _films()


def showing(rng: random.Random, number: int, moment: datetime) -> Document:
    """One showing, some hours or days ahead; it expires as it starts."""
    film, cinema = rng.choice(FILMS), rng.choice(CINEMAS)
    midnight = moment.replace(hour=0, minute=0, second=0) + timedelta(days=rng.choice((0, 0, 1, 2)))
    starts = midnight + timedelta(hours=rng.choice(EVENINGS))
    if starts <= moment:
        starts += timedelta(days=1)
    announced = {
        **film,
        "cinema": cinema,
        "starts": written(starts),
        "gala": rng.random() < 0.1,
        "seats": rng.randint(4, 180),
    }
    named = {"id": f"film-{number:05d}", "source": f"cinema-{cinema.lower()}", "type": "film"}
    return {**named, "expirytime": written(starts), "data": announced}


def alert(rng: random.Random, number: int, moment: datetime) -> Document:
    """One alert; its value may be a trapezoid, its severity from 0 to 5 is always plain.

    Noise is commonest, most of all at night; dust follows the traffic; water waits for rain.
    """
    night, rush = moment.hour >= 21 or moment.hour < 5, moment.hour in (7, 8, 16, 17, 18)
    storm = moment.weekday() == STORM_DAY
    weights = (6 if rush else 3, 9 if night else 6, 8 if storm else 0.6)
    kind = rng.choices(tuple(CITY["sensors"]), weights)[0]
    sensor = CITY["sensors"][kind]
    excess = rng.lognormvariate(0.35 if storm and kind == "water" else -0.25, 0.55)
    value = round(sensor["limit"] * (0.75 + 0.3 * excess), 1)
    data = {"kind": kind, "station": rng.choice(STATIONS), "value": value}
    if rng.random() < 0.2:
        blur = value * rng.choice((0.02, 0.05))
        data["value"] = _about(value, blur, 2 * blur)
    data["severity"] = round(min(5.0, 1.6 * excess), 1)
    named = {"id": f"alert-{number:05d}", "source": sensor["network"], "type": "alert"}
    return {**named, "data": data}


def _about(value: float, near: float, far: float) -> Document:
    corners = (value - far, value - near, value + near, value + far)
    return {"trapezoid": [round(corner, 1) for corner in corners]}


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
