"""Movies as publications, and what MovieLens users think of them.

Each user's ratings are split by time: what they rated first (70 %) is known, what they rated last
is held out and only judges. All that the system gets to know is made of the known part:

- A user subscribes to each genre that they rated at least three times, and not lower than their
  own mean; `interest` is by how much higher, drawn towards 0 where there are few ratings.
- A movie carries its `acclaim`: by how much users rate it above their own means, drawn towards 0 in
  the same way; and, as a fuzzy value, `acclaimed`: the same with what is uncertain about it, two
  standard errors to both sides.
- The score is the rating that these predict, (mean + interest + acclaim) / 5.

The movies are published one a minute, in drawn order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from shortlist.experiments.run import Run

DATA = "movielens_100k_latest_small_2016"
KNOWN = 0.7
"""The share of each user's ratings, the earliest, from which all is made but the verdict."""
FEWEST = 3
"""Ratings of a genre that make a subscription."""
DRAWN_TO_0 = 5
"""As many ratings of no deviation are added to those that there are."""
START = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)
VOCABULARY = {
    "genre": {"type": "string", "many": True},
    "acclaimed": {"type": "number", "terms": {"good": {"trapezoid": [-0.5, 0.25, None, None]}}},
}


class Rating(NamedTuple):
    """What a user thought of a movie."""

    user: int
    movie: int
    stars: float


class Movie(NamedTuple):
    title: str
    decade: int
    genres: Sequence[str]


@dataclass(frozen=True, slots=True)
class Films:
    """Ratings in two parts, and the movies."""

    movies: Mapping[int, Movie]
    known: Sequence[Rating]
    held_out: Sequence[Rating]

    @classmethod
    def of(cls, run: Run) -> Films:
        rows = run.data(DATA).sort_by([("userId", "ascending"), ("timestamp", "ascending")])
        columns = rows.to_pydict()
        movies = {
            movie: Movie(title or "", int(year or 0) // 10 * 10, genres.split("|"))
            for movie, title, year, genres in zip(
                *(columns[name] for name in ("movieId", "title", "year", "genres")), strict=True
            )
        }
        by_user: dict[int, list[Rating]] = {}
        for each in zip(*(columns[name] for name in ("userId", "movieId", "rating")), strict=True):
            by_user.setdefault(each[0], []).append(Rating(*each))
        users = sorted(by_user)
        chosen = run.draws("users").permutation(users)[: run.pick(full=len(users), quick=60)]
        parts = [_split(by_user[user]) for user in chosen.tolist()]
        known = [*chain.from_iterable(part for part, _ in parts)]
        return cls(movies, known, [*chain.from_iterable(part for _, part in parts)])

    def registry(
        self, policy: object, condition: str = "", audience: int | None = None
    ) -> dict[str, Any]:
        """A shortlist for each user; `condition` is added to what all subscriptions ask for."""
        means = _means(self.known)
        users = [{"id": str(user), "subscriber": str(user), "policy": policy} for user in means]
        interests = self.interests()
        subscriptions = [
            {
                "id": f"{user} {genre}",
                "shortlist": str(user),
                "where": f"genre = '{genre}'{condition and f' and {condition}'}",
                "score": f"({means[user] + interest:.6f} + acclaim) / 5",
            }
            for (user, genre), interest in interests.items()
        ]
        best = {"id": "best", "source": "cinema", "k": audience, "score": "subscription.score"}
        return {
            "vocabulary": VOCABULARY,
            "shortlists": [user | {"combine": "mean"} for user in users],
            "subscriptions": subscriptions,
            "advertisements": [best] if audience else [],
        }

    def interests(self) -> dict[tuple[int, str], float]:
        """By user and genre that they subscribe to."""
        means = _means(self.known)
        found: dict[tuple[int, str], list[float]] = {}
        for user, movie, stars in self.known:
            for genre in self.movies[movie].genres:
                found.setdefault((user, genre), []).append(stars - means[user])
        return {
            each: _towards_0(above)
            for each, above in found.items()
            if len(above) >= FEWEST and sum(above) >= 0
        }

    def publications(self, run: Run) -> list[dict[str, Any]]:
        means = _means(self.known)
        above: dict[int, list[float]] = {}
        for user, movie, stars in self.known:
            above.setdefault(movie, []).append(stars - means[user])
        spread = float(np.std([*chain.from_iterable(above.values())]))
        order = run.draws("order").permutation(sorted(self.movies))
        order = order[: run.pick(full=len(order), quick=1500)]
        publications = []
        for place, movie in enumerate(order.tolist()):
            ratings = above.get(movie, [])
            acclaim = round(_towards_0(ratings), 6)
            unsure = 2 * spread / (len(ratings) + DRAWN_TO_0) ** 0.5
            data = {
                "genre": [*self.movies[movie].genres],
                "decade": self.movies[movie].decade,
                "acclaim": acclaim,
                "acclaimed": {"trapezoid": [acclaim - unsure, acclaim, acclaim, acclaim + unsure]},
            }
            time = (START + place * STEP).isoformat()
            publications.append({"id": str(movie), "source": "cinema", "time": time, "data": data})
        return publications


def _split(ratings: Sequence[Rating]) -> tuple[Sequence[Rating], Sequence[Rating]]:
    """The earlier part and the later one, of ratings in order of time."""
    known = int(KNOWN * len(ratings))
    return ratings[:known], ratings[known:]


def _means(ratings: Sequence[Rating]) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for user, _, stars in ratings:
        found.setdefault(user, []).append(stars)
    return {user: float(np.mean(stars)) for user, stars in found.items()}


def _towards_0(above: Sequence[float]) -> float:
    return sum(above) / (len(above) + DRAWN_TO_0)
