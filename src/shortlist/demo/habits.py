"""What readers of the city commonly want; each habit varies with the turn and by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from shortlist.demo.alerts import STATIONS
from shortlist.demo.films import CINEMAS, GENRES
from shortlist.demo.rentals import DISTRICTS, FEATURES
from shortlist.demo.wishes import Wish, best_of, everything, novelty, top

Habit = Callable[[random.Random, int], list[Wish]]

NORMS = ("product", "lukasiewicz", "min")
NOVELTIES = tuple(
    {"algorithm": algorithm, "mode": mode, "measure": measure}
    for algorithm, mode, measure in product(
        ("threshold", "sampling", "random"), ("lazy", "eager"), ("rate", "interval")
    )
)


def near_a_point(rng: random.Random, _: int) -> list[Wish]:
    rent, size = rng.randrange(500, 1400, 50), rng.randrange(30, 90, 5)
    ask = {
        "where": f"{_districts(rng, 2)} and rent between {rent - 250} and {rent + 150}",
        "score": f"-distance(rent: {rent}, size: {size} weight 10)",
    }
    return [
        Wish(topic="homes", policy=best_of(rng.choice(("12h", "1d", "2d")), 3), asks={"it": ask})
    ]


def roughly_affordable(rng: random.Random, turn: int) -> list[Wish]:
    hedge = rng.choice(("very ", "somewhat ", ""))
    ask = {
        "where": f"{_districts(rng, 1)} and rent is {hedge}cheap (possibility >= 0.4) "
        f"and size is {rng.choice(('medium', 'not small', 'large'))}",
        "norm": NORMS[turn % len(NORMS)],
        "score": "0.7 * possibility + 0.3 * necessity",
        "at_least": {"possibility": 0.2},
    }
    return [Wish(topic="homes", policy=top(3, refresh="12h"), asks={"it": ask})]


def the_narrower_the_better(rng: random.Random, _: int) -> list[Wish]:
    district = rng.choice(DISTRICTS)
    asks = {
        "any": {"where": f"district = '{district}'", "score": 0.2},
        "rooms": {"where": f"district = '{district}' and rooms >= 2", "score": 0.5},
        "furnished": {
            "where": f"district = '{district}' and rooms >= 2 and furnished = true",
            "score": 0.9,
        },
    }
    return [Wish(topic="homes", policy=top(2, period="1d"), asks=asks, combine="most_specific")]


def in_so_many_words(rng: random.Random, _: int) -> list[Wish]:
    words = " ".join(rng.sample(sorted(FEATURES), 3))
    ask = {
        "where": f"{_districts(rng, 1)} and not (rent > {rng.randrange(900, 1500, 100)})",
        "score": f"relevance(description, '{words}')",
        "at_least": {"score": 0.3},
    }
    return [Wish(topic="words", policy=best_of(rng.choice((50, 100, 200)), 3), asks={"it": ask})]


def of_this_kind(rng: random.Random, _: int) -> list[Wish]:
    vector = [round(rng.random(), 2) for _ in range(4)]
    ask = {
        "where": f"{_districts(rng, 1)} and size >= {rng.randrange(30, 60, 5)}",
        "score": f"cosine(embedding, {vector})",
        "at_least": {"score": 0.85},
    }
    return [Wish(topic="taste", policy=best_of(None, 5), asks={"it": ask})]


def weighing(rng: random.Random, turn: int) -> list[Wish]:
    ask = {
        "where": f"district = '{rng.choice(DISTRICTS)}' and rent is cheap and size is large "
        "and floor >= 1",
        "norm": {"weights": [3, 2, 2, 1]} if turn % 20 == 0 else "product",
        "at_least": {"possibility": 0.8},
    }
    value = {
        "where": f"{_districts(rng, 1)} and rent is fair",
        "score": "log(size) - rent / 1000 + 0.05 * min(floor, 3)",
    }
    return [
        Wish(topic="homes", policy=top(2, refresh="1d"), asks={"it": ask}),
        Wish(topic="value", policy=best_of("1d", 2, error=0.001), asks={"it": value}),
    ]


def favourite_genres(rng: random.Random, _: int) -> list[Wish]:
    first, second, third = rng.sample(GENRES, 3)
    cinemas = f"cinema in ({_quoted(_neighbours(rng, CINEMAS, 2))})"
    asks = {
        "first": {"where": f"{cinemas} and genre = '{first}' and rating >= 7"},
        "second": {"where": f"{cinemas} and genre = '{second}' and {_evening(rng)}"},
        "third": {"where": f"{cinemas} and genre = '{third}' and not genre = '{first}'"},
    }
    prefers = (("first", "second"), ("first", "third"))
    return [Wish(topic="films", policy=top(2), asks=asks, prefers=prefers)]


def interests(rng: random.Random, turn: int) -> list[Wish]:
    cinema, least = rng.choice(CINEMAS), rng.choice((5, 6, 7))
    asks = {
        genre: {
            "where": f"cinema = '{cinema}' and genre = '{genre}' and rating >= {least}",
            "score": f"{rng.uniform(0.3, 1.0):.2f} * rating / 10",
            "weight": float(rng.randint(1, 3)),
            "refresh": rng.choice(("6h", "12h")),
        }
        for genre in rng.sample(GENRES, 2)
    }
    combine = ("sum", "mean", "min", "max")[turn % 4]
    return [Wish(topic="films", policy=top(3), asks=asks, combine=combine)]


def best_rated(rng: random.Random, _: int) -> list[Wish]:
    ask = {
        "where": f"cinema = '{rng.choice(CINEMAS)}' and genre = '{rng.choice(GENRES)}'",
        "score": "rating - 1 / seats",
    }
    return [
        Wish(topic="films", policy=best_of(rng.choice(("6h", "12h", "1d")), 3), asks={"it": ask})
    ]


def one_cinema(rng: random.Random, turn: int) -> list[Wish]:
    cinema = rng.choice(CINEMAS)
    ask = {"where": f"cinema = '{cinema}' and rating is very good (necessity >= 0.6)"}
    word = rng.choice(("midnight train", "last winter", "paper island", "glass harbour"))
    contained = [f"title contains '{part.capitalize()}'" for part in word.split()]
    words = {
        "where": " or ".join(contained[: 1 + (turn % 20 == 0)]),
        "score": f"relevance(title, '{word}') + 0.01 * rating",
        "at_least": {"score": 0.4},
    }
    return [
        Wish(topic="films", policy=everything(), asks={"it": ask}),
        Wish(topic="titles", policy=best_of(40, 2), asks={"it": words}),
    ]


def nearby_stations(rng: random.Random, _: int) -> list[Wish]:
    ask = {
        "where": f"{_stations(rng, 2)} and severity is serious",
        "score": "severity * possibility",
    }
    return [
        Wish(topic="sensors", policy=best_of(rng.choice(("40m", "3h", "6h")), 2), asks={"it": ask})
    ]


def alarm(rng: random.Random, _: int) -> list[Wish]:
    ask = {"where": f"{_stations(rng, 2)} and severity is very serious (necessity >= 0.6)"}
    return [Wish(topic="alarm", policy=everything(), asks={"it": ask})]


def something_new(rng: random.Random, turn: int) -> list[Wish]:
    asks = {
        station: {"where": f"station = '{station}' and severity > {rng.choice((1, 1.5, 2))}"}
        for station in rng.sample(STATIONS, 3)
    }
    options: dict[str, Any] = {
        **NOVELTIES[turn % len(NOVELTIES)],
        "aging": (1.0, 0.3)[turn % 2],
        "seed": turn,
    }
    policy = novelty(rng.choice((0.1, 0.2)), rng.choice((50, 100)), **options)
    return [Wish(topic="news", policy=policy, asks=asks)]


def unsure_readings(rng: random.Random, turn: int) -> list[Wish]:
    centre = rng.randrange(60, 100, 5)
    ask = {
        "where": f"station = '{rng.choice(STATIONS)}' and kind = 'air' "
        f"and value is somewhat around({centre}, 30)",
        "norm": "average" if turn % 20 == 0 else "min",
        "at_least": {"possibility": 0.7, "necessity": 0.5},
        "score": "necessity - 0.01 * abs(severity - 3)",
    }
    # Under `max` any part is enough.
    rare = {"where": "severity >= 4.9 and value >= 320", "norm": "max"}
    wishes = [Wish(topic="dust", policy=top(2, refresh="3h"), asks={"it": ask})]
    if turn % 20 == 0:
        wishes.append(Wish(topic="extremes", policy=everything(), asks={"it": rare}))
    return wishes


def of_everything_a_little(rng: random.Random, turn: int) -> list[Wish]:
    home = {
        "where": f"district = '{rng.choice(DISTRICTS)}' and rent is not dear",
        "score": "-max_distance(rent: 800, floor: 2 weight 100)",
    }
    film = {"where": f"genre = '{rng.choice(GENRES)}' and cinema = '{rng.choice(CINEMAS)}'"}
    mixed = {
        "home": {"where": f"district = '{rng.choice(DISTRICTS)}' and furnished = true"},
        "film": {"where": f"genre = '{rng.choice(GENRES)}' and rating > 8"},
        "alert": {"where": f"station = '{rng.choice(STATIONS)}' and severity >= 3"},
    }
    options = NOVELTIES[(turn * 5) % len(NOVELTIES)]
    return [
        Wish(topic="homes", policy=best_of("2d", 2), asks={"it": home}),
        Wish(topic="films", policy=top(1, refresh="6h"), asks={"it": film}),
        Wish(topic="mixed", policy=novelty(0.2, 50, **options), asks=mixed),
    ]


HABITS: tuple[Habit, ...] = (
    near_a_point,
    favourite_genres,
    nearby_stations,
    roughly_affordable,
    interests,
    something_new,
    the_narrower_the_better,
    best_rated,
    alarm,
    in_so_many_words,
    one_cinema,
    unsure_readings,
    of_this_kind,
    weighing,
    of_everything_a_little,
)


def _districts(rng: random.Random, count: int) -> str:
    """One district, or some that lie side by side."""
    if count == 1:
        return f"district = '{rng.choice(DISTRICTS)}'"
    return f"district in ({_quoted(_neighbours(rng, DISTRICTS, count))})"


def _stations(rng: random.Random, count: int) -> str:
    return f"station in ({_quoted(_neighbours(rng, STATIONS, count))})"


def _neighbours(rng: random.Random, places: Sequence[str], count: int) -> Sequence[str]:
    first = rng.randrange(len(places) - count + 1)
    return places[first : first + count]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _evening(rng: random.Random) -> str:
    day = rng.randint(2, 7)
    return f"starts >= time '2026-03-{day:02d}T{rng.randint(14, 19)}:00:00Z'"
