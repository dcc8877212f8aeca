"""The workload of section 5: movies as publications, subscriptions drawn from their values.

A publication has title, year, length, rating, MPAA and genre of a movie, where it has them; a movie
of several genres has them all. A subscription asks for one to five of these attributes (a title
would pick a single movie, so it is left out): a string equals a value, a number is above or below
one. Values are drawn from those in the data set, each alike ("uniform") or by Zipf's law in order
of how often they occur ("zipf"). Each subscription has a score, uniform in [0, 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.experiments.ranking import Ranked
from shortlist.experiments.run import Run

Distribution = Literal["uniform", "zipf"]
DISTRIBUTIONS: tuple[Distribution, ...] = ("uniform", "zipf")
Expiry = int | Sequence[int] | None
"""Of all publications or of each, in t after it; None is never."""
DATA = "imdb_movies_58788"
NUMBERS = ("year", "length", "rating")
STRINGS = ("mpaa", "genre")
GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")
VOCABULARY = {"genre": {"type": "string", "many": True}}
STEP = timedelta(milliseconds=500)
"""t: what passes between two publications."""
START = datetime(2026, 1, 1, tzinfo=UTC)
SUBSCRIPTIONS = 5
"""Of each subscriber."""


class Interest(NamedTuple):
    """A subscription with a score, whoever has it."""

    where: str
    score: float


@dataclass(frozen=True, slots=True)
class Movies:
    """The movies, and the values that they have: of each attribute the most frequent first."""

    data: pa.Array
    values: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, run: Run) -> Movies:
        table = run.data(DATA)
        flags = np.column_stack([table[name].to_numpy() for name in GENRES]).astype(bool)
        genres = [[GENRES[place] for place in np.flatnonzero(row)] for row in flags]
        mpaa = [name or None for name in table["mpaa"].to_pylist()]
        columns = {name: table[name].combine_chunks() for name in ("title", *NUMBERS)}
        columns |= {"mpaa": pa.array(mpaa), "genre": pa.array(genres)}
        flat = columns | {"genre": columns["genre"].flatten()}
        values = {name: _by_frequency(flat[name]) for name in (*NUMBERS, *STRINGS)}
        data = pa.StructArray.from_arrays([*columns.values()], [*columns])
        return cls(data, values)

    def interest(self, draws: np.random.Generator, distribution: Distribution) -> Interest:
        """A subscription as the paper draws them."""
        names = (*NUMBERS, *STRINGS)
        chosen = draws.choice(names, draws.integers(1, len(names) + 1), replace=False)
        predicates = []
        for name in sorted(chosen):
            value = self._drawn(name, draws, distribution)
            operator = draws.choice(["<", ">"]) if name in NUMBERS else "="
            predicates.append(f"{name} {operator} {value!r}")
        return Interest(" and ".join(predicates), round(draws.random(), 6))

    def interests(
        self, draws: np.random.Generator, distribution: Distribution, count: int = SUBSCRIPTIONS
    ) -> list[Interest]:
        return [self.interest(draws, distribution) for _ in range(count)]

    def publications(
        self, movies: Sequence[int] | np.ndarray, expiry: Expiry = None, source: str = "cinema"
    ) -> pa.Table:
        """These movies, one each t; the number at the end of an id is its place."""
        count = len(movies)
        times = [START + STEP * place for place in range(count)]
        columns = {
            "id": [f"{source}-{place}" for place in range(count)],
            "source": [source] * count,
            "time": pa.array(times, pa.timestamp("us", "UTC")),
            "data": self.data.take(pa.array(movies)),
        }
        if expiry is not None:
            after = [expiry] * count if isinstance(expiry, int) else expiry
            ends = [time + STEP * steps for time, steps in zip(times, after, strict=True)]
            columns["expirytime"] = pa.array(ends, pa.timestamp("us", "UTC"))
        return pa.table(columns)

    def _drawn(self, name: str, draws: np.random.Generator, distribution: Distribution) -> Any:
        values = self.values[name]
        chances = 1 / np.arange(1, len(values) + 1) ** (distribution == "zipf")
        return values[int(draws.choice(len(values), p=chances / chances.sum()))]


class Subscriber(NamedTuple):
    """A shortlist with what it is to hold."""

    id: str
    interests: Sequence[Interest]
    policy: Mapping[str, Any] = MappingProxyType({"kind": "everything"})
    source: str | None = None
    """The only publisher that it takes from; None takes from all."""


def registry(subscribers: Iterable[Subscriber]) -> dict[str, Any]:
    subscribers = [*subscribers]
    return {
        "vocabulary": VOCABULARY,
        "shortlists": [
            {"id": each.id, "subscriber": each.id, "policy": dict(each.policy)}
            for each in subscribers
        ],
        "subscriptions": [
            {
                "id": f"{each.id}/{number}",
                "shortlist": each.id,
                "where": f"{interest.where} and event.source = '{each.source}'"
                if each.source
                else interest.where,
                "score": interest.score,
            }
            for each in subscribers
            for number, interest in enumerate(each.interests)
        ],
    }


class Event(NamedTuple):
    """A publication that a shortlist matched or delivered."""

    place: int
    score: float


def by_shortlist(ranked: Ranked) -> dict[str, list[Event]]:
    """What was delivered, by shortlist, in order."""
    columns = ranked.deliveries.select(["shortlist", "publication", "score"]).to_pydict()
    found: dict[str, list[Event]] = {}
    for shortlist, publication, score in zip(*columns.values(), strict=True):
        found.setdefault(shortlist, []).append(Event(int(publication.split("-")[-1]), score))
    return found


def counts(ranked: Ranked) -> dict[str, int]:
    """Deliveries by shortlist."""
    counted = ranked.deliveries["shortlist"].value_counts()
    return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))


def mean(numbers: Iterable[float]) -> float:
    return float(np.mean([*numbers]))


def _by_frequency(column: pa.Array) -> list[Any]:
    counted = pc.value_counts(column.drop_null())
    names, numbers = counted.field(0).to_pylist(), counted.field(1).to_pylist()
    return [name for _, name in sorted(zip((-n for n in numbers), names, strict=True))]
