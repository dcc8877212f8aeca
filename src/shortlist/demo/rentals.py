"""Rental ads: facts as landlords give them, from exact numbers to `cheap`."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

PRICES = {
    "Old Town": 19,
    "Market": 18,
    "Station": 15,
    "Docks": 16,
    "Parkside": 18,
    "Hill": 17,
    "Orchard": 14,
    "Meadows": 13,
    "Mills": 12,
    "Brickfields": 11,
    "Eastgate": 12,
    "Canal": 15,
    "Riverside": 17,
    "Castle": 19,
    "Northgate": 13,
    "Gasworks": 11,
    "Lakeside": 16,
    "Foundry": 12,
    "Westfield": 14,
    "University": 16,
}
"""Rent per square metre, by district."""

DISTRICTS = tuple(PRICES)
AGENCIES = ("homes-north", "homes-canal", "keys-direct", "campus-rooms", "estate-gold")
FEATURES = {
    "quiet": (1.0, 0.1, 0.3, 0.0),
    "sunny": (0.1, 1.0, 0.2, 0.1),
    "garden": (0.4, 0.2, 1.0, 0.0),
    "balcony": (0.1, 0.7, 0.4, 0.2),
    "modern": (0.0, 0.4, 0.0, 1.0),
    "renovated": (0.1, 0.3, 0.0, 0.8),
    "park": (0.5, 0.2, 0.9, 0.0),
    "lively": (0.0, 0.3, 0.0, 0.5),
}
"""What a description may praise, with its place among quiet, light, green and modern."""


def rental(rng: random.Random, number: int, moment: datetime) -> dict[str, Any]:
    """One ad; dear homes may ask for a small audience."""
    district = rng.choice(DISTRICTS)
    size = round(rng.triangular(18, 130, 52))
    rent = round(size * PRICES[district] * rng.uniform(0.75, 1.35) / 10) * 10
    rooms = max(1, round(size / 27 + rng.uniform(-0.4, 0.6)))
    praised = rng.sample(sorted(FEATURES), rng.randint(2, 4))
    data = {
        "district": district,
        "rent": _told_rent(rng, rent),
        "size": _told_size(rng, size),
        "rooms": rooms,
        "floor": rng.choice((0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 8)),
        "furnished": rng.random() < 0.3,
        "description": _description(praised, rooms, district),
        "embedding": _embedding(rng, praised),
    }
    source = "estate-gold" if rent > 1700 and rng.random() < 0.6 else rng.choice(AGENCIES[:4])
    ad: dict[str, Any] = {"id": f"home-{number:05d}", "source": source, "type": "rental"}
    if source == "estate-gold" and rng.random() < 0.2:
        ad["audience"] = rng.choice((3, 5, 8))
    if rng.random() < 0.4:
        gone = moment + timedelta(hours=rng.randint(6, 96))
        ad["expirytime"] = gone.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**ad, "data": data}


def _told_rent(rng: random.Random, rent: int) -> object:
    drawn = rng.random()
    if drawn < 0.12:
        return {"term": "cheap" if rent < 800 else "fair" if rent < 1400 else "dear"}
    if drawn < 0.27:
        return {"between": [rent - rng.choice((20, 50, 100)), rent + rng.choice((20, 50, 100))]}
    return rent


def _told_size(rng: random.Random, size: int) -> object:
    if rng.random() < 0.1:
        return {"trapezoid": [size - 6, size - 2, size + 2, size + 6]}
    return size


def _description(praised: list[str], rooms: int, district: str) -> str:
    first, *others = praised
    return (
        f"{first.capitalize()} flat with {rooms} rooms, {' and '.join(others)}, close to {district}"
    )


def _embedding(rng: random.Random, praised: list[str]) -> list[float]:
    columns = zip(*(FEATURES[word] for word in praised), strict=True)
    return [round(sum(column) / len(praised) + rng.uniform(0, 0.1), 3) for column in columns]
