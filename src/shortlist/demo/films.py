"""Film showings: announced ahead, worth nothing once they have begun."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any, NamedTuple

CINEMAS = (
    "Lux",
    "Orion",
    "Canal",
    "Station",
    "Arthouse",
    "Palace",
    "Garden",
    "Roxy",
    "Tivoli",
    "Metro",
)
GENRES = (
    "comedy",
    "drama",
    "thriller",
    "horror",
    "romance",
    "documentary",
    "sci-fi",
    "family",
    "crime",
    "animation",
    "music",
    "western",
)
EVENINGS = (14.5, 17.0, 18.25, 19.5, 20.25, 21.0, 22.5)

_FIRST = ("Silent", "Last", "Second", "Paper", "Northern", "Borrowed", "Glass", "Midnight")
_SECOND = ("Train", "Lighthouse", "Garden", "Orchestra", "Harbour", "Winter", "Letter", "Island")


class Film(NamedTuple):
    title: str
    genres: list[str]
    rating: float


def catalogue() -> list[Film]:
    """What is on this week.

    >>> films = catalogue()
    >>> len(films), films[0].title, films == catalogue()
    (64, 'The Silent Train', True)
    """
    rng = random.Random(64)
    return [
        Film(
            f"The {first} {second}",
            rng.sample(GENRES, rng.choice((1, 2, 2, 3))),
            round(min(9.6, max(2.5, rng.gauss(6.6, 1.3))), 1),
        )
        for first in _FIRST
        for second in _SECOND
    ]


FILMS = catalogue()


def showing(rng: random.Random, number: int, moment: datetime) -> dict[str, Any]:
    """One showing, some hours or days ahead; it expires as it starts."""
    film, cinema = rng.choice(FILMS), rng.choice(CINEMAS)
    midnight = moment.replace(hour=0, minute=0, second=0) + timedelta(days=rng.choice((0, 0, 1, 2)))
    starts = midnight + timedelta(hours=rng.choice(EVENINGS))
    if starts <= moment:
        starts += timedelta(days=1)
    written = starts.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "id": f"film-{number:05d}",
        "source": f"cinema-{cinema.lower()}",
        "type": "film",
        "expirytime": written,
        "data": {
            "title": film.title,
            "genre": film.genres,
            "rating": film.rating,
            "cinema": cinema,
            "starts": written,
            "gala": rng.random() < 0.1,
            "seats": rng.randint(4, 180),
        },
    }
