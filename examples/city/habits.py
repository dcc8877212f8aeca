"""What readers of the city commonly want; each habit varies with the turn and by chance."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from examples.city.tables import CINEMAS, DISTRICTS, FEATURES, GENRES, STATIONS


class Wish(NamedTuple):
    """A shortlist to be: its policy, and what is asked for, part by part."""

    topic: str
    policy: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    asks: Mapping[str, Mapping[str, Any]]
    combine: str | None = None
    prefers: Sequence[Sequence[str]] = ()


Wishes = Iterator[Wish]
NOVELTIES = tuple(
    dict(zip(("algorithm", "mode", "measure"), options, strict=True))
    for options in product(
        ("threshold", "sampling", "random"), ("lazy", "eager"), ("rate", "interval")
    )
)
EVERYTHING = {"kind": "everything"}
ZONE = "Europe/Oslo"
BEST_FIVE = {"kind": "digest", "k": 5, "every": "day", "at": "18:00", "zone": ZONE}
BY_DAY = (
    {"kind": "quiet", "from": "22:00", "to": "07:00", "zone": ZONE},
    {"kind": "cap", "most": 20, "per": "day", "zone": ZONE},
)
"""Nothing at night, and at most twenty a day."""


def top(k: int, **lasting: str) -> dict[str, Any]:
    return {"kind": "top-k", "k": k, **lasting}


def best_of(window: str | int | None, k: int, **options: float) -> dict[str, Any]:
    return {"kind": "window", "k": k, "window": window, **options}


def novelty(rate: float, period: int, **options: Any) -> dict[str, Any]:
    return {"kind": "novelty", "rate": rate, "period": period, **options}


def ask(where: str, **how: Any) -> dict[str, dict[str, Any]]:
    return {"it": {"where": where, **how}}


def near_a_point(rng: random.Random, _: int) -> Wishes:
    rent, size = rng.randrange(500, 1400, 50), rng.randrange(30, 90, 5)
    where = (
        f"district in {_neighbours(rng, DISTRICTS)} and rent between {rent - 250} and {rent + 150}"
    )
    asks = ask(where, score=f"-distance(rent: {rent}, size: {size} weight 10)")
    yield Wish("homes", best_of(rng.choice(("12h", "1d", "2d")), 3), asks)


def roughly_affordable(rng: random.Random, turn: int) -> Wishes:
    hedge, district = rng.choice(("very ", "somewhat ", "")), rng.choice(DISTRICTS)
    size = rng.choice(("medium", "not small", "large"))
    asks = ask(
        f"district = '{district}' and rent is {hedge}cheap (possibility >= 0.4) and size is {size}",
        norm=("product", "lukasiewicz", "min")[turn % 3],
        score="0.7 * possibility + 0.3 * necessity",
        at_least={"possibility": 0.2},
    )
    yield Wish("homes", top(3, refresh="12h"), asks)


def the_narrower_the_better(rng: random.Random, _: int) -> Wishes:
    home = f"district = '{rng.choice(DISTRICTS)}'"
    asks = {
        "any": {"where": home, "score": 0.2},
        "rooms": {"where": f"{home} and rooms >= 2", "score": 0.5},
        "furnished": {"where": f"{home} and rooms >= 2 and furnished = true", "score": 0.9},
    }
    yield Wish("homes", top(2, period="1d"), asks, "most_specific")


def in_so_many_words(rng: random.Random, _: int) -> Wishes:
    words = " ".join(rng.sample(sorted(FEATURES), 3))
    where = f"district = '{rng.choice(DISTRICTS)}' and not (rent > {rng.randrange(900, 1500, 100)})"
    asks = ask(where, score=f"relevance(description, '{words}')", at_least={"score": 0.3})
    yield Wish("words", best_of(rng.choice((50, 100, 200)), 3), asks)


def of_this_kind(rng: random.Random, _: int) -> Wishes:
    score = f"cosine(embedding, {[round(rng.random(), 2) for _ in range(4)]})"
    where = f"district = '{rng.choice(DISTRICTS)}' and size >= {rng.randrange(30, 60, 5)}"
    yield Wish("taste", best_of(None, 5), ask(where, score=score, at_least={"score": 0.85}))


def weighing(rng: random.Random, turn: int) -> Wishes:
    asks = ask(
        f"district = '{rng.choice(DISTRICTS)}' and rent is cheap and size is large and floor >= 1",
        norm={"weights": [3, 2, 2, 1]} if turn % 20 == 0 else "product",
        at_least={"possibility": 0.8},
    )
    yield Wish("homes", top(2, refresh="1d"), asks)
    where = f"district = '{rng.choice(DISTRICTS)}' and rent is fair"
    value = ask(where, score="log(size) - rent / 1000 + 0.05 * min(floor, 3)")
    yield Wish("value", best_of("1d", 2, error=0.001), value)


def favourite_genres(rng: random.Random, _: int) -> Wishes:
    first, second, third = rng.sample(GENRES, 3)
    cinemas = f"cinema in {_neighbours(rng, CINEMAS)}"
    day, hour = rng.randint(2, 7), rng.randint(14, 19)
    evening = f"starts >= time '2026-03-{day:02d}T{hour}:00:00Z'"
    asks = {
        "first": {"where": f"{cinemas} and genre = '{first}' and rating >= 7"},
        "second": {"where": f"{cinemas} and genre = '{second}' and {evening}"},
        "third": {"where": f"{cinemas} and genre = '{third}' and not genre = '{first}'"},
    }
    yield Wish("films", top(2), asks, prefers=(("first", "second"), ("first", "third")))


def interests(rng: random.Random, turn: int) -> Wishes:
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
    yield Wish("films", top(3), asks, combine=("sum", "mean", "min", "max")[turn % 4])


def best_rated(rng: random.Random, _: int) -> Wishes:
    where = f"cinema = '{rng.choice(CINEMAS)}' and genre = '{rng.choice(GENRES)}'"
    policy = best_of(rng.choice(("6h", "12h", "1d")), 3)
    yield Wish("films", policy, ask(where, score="rating - 1 / seats"))
    yield Wish("tonight", BEST_FIVE, ask(where, score="rating"))


def one_cinema(rng: random.Random, turn: int) -> Wishes:
    where = f"cinema = '{rng.choice(CINEMAS)}' and rating is very good (necessity >= 0.6)"
    yield Wish("films", EVERYTHING, ask(where))
    words = rng.choice(("midnight train", "last winter", "paper island", "glass harbour"))
    contained = [f"title contains '{word.capitalize()}'" for word in words.split()]
    where = " or ".join(contained[: 1 + (turn % 20 == 0)])
    score = f"relevance(title, '{words}') + 0.01 * rating"
    yield Wish("titles", best_of(40, 2), ask(where, score=score, at_least={"score": 0.4}))


def nearby_stations(rng: random.Random, _: int) -> Wishes:
    where = f"station in {_neighbours(rng, STATIONS)} and severity is serious"
    policy = best_of(rng.choice(("40m", "3h", "6h")), 2)
    yield Wish("sensors", policy, ask(where, score="severity * possibility"))


def alarm(rng: random.Random, _: int) -> Wishes:
    stations = _neighbours(rng, STATIONS)
    where = f"station in {stations} and severity is very serious (necessity >= 0.6)"
    yield Wish("alarm", EVERYTHING, ask(where))
    yield Wish("by day", BY_DAY, ask(f"station in {stations} and severity is serious"))


def something_new(rng: random.Random, turn: int) -> Wishes:
    asks = {
        station: {"where": f"station = '{station}' and severity > {rng.choice((1, 1.5, 2))}"}
        for station in rng.sample(STATIONS, 3)
    }
    options = {**NOVELTIES[turn % 12], "aging": (1.0, 0.3)[turn % 2], "seed": turn}
    yield Wish("news", novelty(rng.choice((0.1, 0.2)), rng.choice((50, 100)), **options), asks)


def unsure_readings(rng: random.Random, turn: int) -> Wishes:
    centre, station = rng.randrange(60, 100, 5), rng.choice(STATIONS)
    asks = ask(
        f"station = '{station}' and kind = 'air' and value is somewhat around({centre}, 30)",
        norm="average" if turn % 20 == 0 else "min",
        at_least={"possibility": 0.7, "necessity": 0.5},
        score="necessity - 0.01 * abs(severity - 3)",
    )
    yield Wish("dust", top(2, refresh="3h"), asks)
    if turn % 20 == 0:  # under `max` any part is enough
        yield Wish("extremes", EVERYTHING, ask("severity >= 4.9 and value >= 320", norm="max"))


def of_everything_a_little(rng: random.Random, turn: int) -> Wishes:
    where = f"district = '{rng.choice(DISTRICTS)}' and rent is not dear"
    home = ask(where, score="-max_distance(rent: 800, floor: 2 weight 100)")
    yield Wish("homes", best_of("2d", 2), home)
    film = f"genre = '{rng.choice(GENRES)}' and cinema = '{rng.choice(CINEMAS)}'"
    yield Wish("films", top(1, refresh="6h"), ask(film))
    mixed = {
        "home": {"where": f"district = '{rng.choice(DISTRICTS)}' and furnished = true"},
        "film": {"where": f"genre = '{rng.choice(GENRES)}' and rating > 8"},
        "alert": {"where": f"station = '{rng.choice(STATIONS)}' and severity >= 3"},
    }
    yield Wish("mixed", novelty(0.2, 50, **NOVELTIES[turn * 5 % 12]), mixed)


HABITS: tuple[Callable[[random.Random, int], Wishes], ...] = (
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


def _neighbours(rng: random.Random, places: Sequence[str]) -> str:
    """Two that lie side by side."""
    first = rng.randrange(len(places) - 1)
    return f"('{places[first]}', '{places[first + 1]}')"
