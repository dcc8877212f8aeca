"""What users keep of what matched: how they rate it, and how varied it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from experiments.combined.films import Films
from shortlist.experiments.ranking import Ranked
from shortlist.measures.spread import entropy

FAVOURITE = 4.5
"""Stars that make a favourite."""


class Quality(NamedTuple):
    """Of all deliveries of a policy."""

    delivered: int
    judged: int
    """Deliveries of movies that their user rated in the held-out part."""
    stars: float
    """The mean of these ratings."""
    gain: float
    """By how much they are above the mean of what the same user gave to all that matched."""
    error: float
    """The standard error of the gain."""
    variety: float
    """Entropy over the genres that a user subscribes to, in bits; the mean over users."""
    favourites: float
    """The share of the held-out favourites that matched which were delivered."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Held-out ratings as a table of users and movies, NaN where there is none."""

    users: pa.Array
    movies: pa.Array
    ratings: np.ndarray
    genres: np.ndarray
    """By movie and genre, whether it is of it."""
    subscribed: np.ndarray
    """By user and genre."""

    @classmethod
    def of(cls, films: Films) -> Judge:
        users = sorted({rating.user for rating in films.known})
        movies = sorted(films.movies)
        genres = sorted({genre for movie in films.movies.values() for genre in movie.genres})
        row = {user: number for number, user in enumerate(users)}
        column = {movie: number for number, movie in enumerate(movies)}
        place = {genre: number for number, genre in enumerate(genres)}
        ratings = np.full((len(users), len(movies)), np.nan)
        for rating in films.held_out:
            ratings[row[rating.user], column[rating.movie]] = rating.stars
        has = np.zeros((len(movies), len(genres)), dtype=bool)
        for name, movie in films.movies.items():
            has[column[name], [place[genre] for genre in movie.genres]] = True
        subscribed = np.zeros((len(users), len(genres)), dtype=bool)
        for user, genre in films.interests():
            subscribed[row[user], place[genre]] = True
        names = pa.array([*map(str, users)]), pa.array([*map(str, movies)])
        return cls(*names, ratings, has, subscribed)

    def matched_means(self, everything: Ranked) -> list[float]:
        """By user, the mean held-out rating of all that matched; 0 where there is none."""
        came = self._came(everything)
        return [
            float(np.nanmean(row)) if np.isfinite(row).any() else 0.0 for row in self._rated(came)
        ]

    def matched_favourites(self, everything: Ranked) -> int:
        return int((self._rated(self._came(everything)) >= FAVOURITE).sum())

    def quality(self, ranked: Ranked, means: list[float], favourites: int) -> Quality:
        came = self._came(ranked)
        rated = self._rated(came)
        stars = rated[np.isfinite(rated)]
        above = (rated - np.array(means)[:, None])[np.isfinite(rated)]
        counts = (came @ self.genres.astype(np.int32)) * self.subscribed
        varieties = [entropy(row.tolist()) for row in counts if row.any()]
        return Quality(
            delivered=int(ranked.report["deliveries"]),
            judged=len(stars),
            stars=float(stars.mean()),
            gain=float(above.mean()),
            error=float(above.std() / len(above) ** 0.5),
            variety=float(np.mean(varieties)),
            favourites=int((rated >= FAVOURITE).sum()) / max(favourites, 1),
        )

    def _rated(self, came: np.ndarray) -> np.ndarray:
        return np.where(came, self.ratings, np.nan)

    def _came(self, ranked: Ranked) -> np.ndarray:
        """By user and movie, whether it was delivered."""
        rows = pa.compute.index_in(ranked.deliveries["shortlist"], self.users)
        columns = pa.compute.index_in(ranked.deliveries["publication"], self.movies)
        came = np.zeros(self.ratings.shape, dtype=bool)
        came[rows.to_numpy(), columns.to_numpy()] = True
        return came
