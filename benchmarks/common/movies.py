"""The films that are published: IMDB's where its file is at hand, else generated ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shortlist.intake.files import registry_from_documents
from shortlist.model.publication import Publication

from .workloads import GENRES, START_SECONDS

FILE = "imdb_movies_58788.csv.gz"
COUNT = 58_788
NUMBERS = ("year", "length", "rating", "votes", "budget")
CERTIFICATES = ("NC-17", "PG", "PG-13", "R")
CONTEXT = ("id", "source", "time")
ANY_GENRE = 1 << len(GENRES)
"""The bit of a mask that says that a film has a genre at all."""

DECLARED = {"genre": {"type": "string", "many": True}}
VOCABULARY = registry_from_documents({"vocabulary": DECLARED}).vocabulary

SHARES = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
QUANTILES: Mapping[str, tuple[float, ...]] = {
    "year": (1893, 1917, 1940, 1958, 1983, 1997, 2002, 2004, 2005),
    "length": (1, 4, 14, 74, 90, 100, 114, 170, 5220),
    "rating": (1, 1.8, 3.8, 5, 6.1, 7, 7.8, 9.2, 10),
    "votes": (5, 5, 7, 11, 30, 112, 592, 13_330, 157_608),
    "budget": (1, 1_000, 25_000, 250_000, 3e6, 1.5e7, 4.3e7, 1.0872e8, 2e8),
}
"""What IMDB's films have at SHARES, and below: how many have what."""
BUDGET_SHARE = 0.089
CERTIFICATE_SHARES = (0.0003, 0.009, 0.017, 0.0574)
GENRE_SHARES = (0.08, 0.063, 0.294, 0.059, 0.371, 0.081, 0.161)

WORDS = 20_000
SYLLABLES = ("ba", "cor", "den", "fi", "gra", "ho", "lin", "mar", "no", "ra", "sto", "ti", "ven")


@dataclass(frozen=True, slots=True)
class Movies:
    """Publications as an Arrow table: id, source, time, and the attributes."""

    origin: Literal["imdb", "generated"]
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def first(self, count: int) -> "Movies":
        return replace(self, table=self.table.slice(0, count))

    def numbers(self, attribute: str) -> NDArray[np.float64]:
        """A column of numbers, NaN where the attribute is absent; certificates as places."""
        if attribute == "mpaa":
            places = {name: float(place) for place, name in enumerate(CERTIFICATES)}
            return np.array([places.get(name, np.nan) for name in self.table["mpaa"].to_pylist()])
        return np.asarray(self.table[attribute].cast(pa.float64()).to_numpy())

    def genre_masks(self) -> NDArray[np.uint8]:
        """The films' genres as bits; 0 where the attribute is absent."""
        lists = self.table["genre"].combine_chunks()
        counts = pc.list_value_length(lists).to_numpy()
        coded = lists.flatten().dictionary_encode()
        masks = np.array([genre_mask([name]) for name in coded.dictionary.to_pylist()])
        films = np.repeat(np.arange(len(self)), counts)
        found = np.zeros(len(self), dtype=np.uint8)
        np.bitwise_or.at(found, films, masks.astype(np.uint8)[coded.indices.to_numpy()])
        return found

    def publications(self) -> list[Publication]:
        """The films as the engine reads them."""
        return [_publication(row, place) for place, row in enumerate(self.table.to_pylist())]


def read_movies(folder: Path | None) -> Movies:
    """IMDB's films from a folder that holds FILE, else generated ones."""
    if folder is not None and (folder / FILE).is_file():
        return _arriving("imdb", _imdb(folder / FILE))
    return generated_movies()


def generated_movies(count: int = COUNT, seed: int = 0) -> Movies:
    """Films whose attributes are each spread as those of IMDB's films are.

    >>> generated_movies(3).table["year"].to_pylist()
    [1925, 1960, 1991]
    """
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({name: _spread(draw.random(count), name) for name in NUMBERS})
    frame["budget"] = frame["budget"].where(draw.random(count) < BUDGET_SHARE)
    certificates = np.searchsorted(np.cumsum(CERTIFICATE_SHARES), draw.random(count), "right")
    frame["mpaa"] = [(*CERTIFICATES, None)[place] for place in certificates]
    frame["genre"] = _genres(draw.random((count, len(GENRES))) < GENRE_SHARES)
    frame["title"] = _titles(draw, count)
    return _arriving("generated", frame)


def genre_mask(genres: Sequence[str]) -> int:
    """The bits of several genres, and ANY_GENRE.

    >>> f"{genre_mask(['comedy', 'action']):08b}", genre_mask([])
    ('10000101', 0)
    """
    bits = sum(1 << GENRES.index(genre) for genre in genres)
    return bits | ANY_GENRE if genres else 0


def _imdb(file: Path) -> pd.DataFrame:
    frame = pd.read_csv(file, keep_default_na=False, na_values={"budget": "", "mpaa": ""})
    frame["mpaa"] = frame["mpaa"].astype(object).where(frame["mpaa"].notna(), None)
    frame["genre"] = _genres(frame[[genre.capitalize() for genre in GENRES]].to_numpy(dtype=bool))
    return frame


def _genres(flags: NDArray[np.bool_]) -> list[list[str]]:
    return [list(compress(GENRES, row)) for row in flags.tolist()]


def _arriving(origin: Literal["imdb", "generated"], frame: pd.DataFrame) -> Movies:
    """Films in an order of their own, a second apart: the file goes by title."""
    frame = frame.sample(frac=1, random_state=0)
    count = len(frame)
    seconds = np.arange(START_SECONDS, START_SECONDS + count)
    types = {name: pa.float64() if name == "rating" else pa.int64() for name in NUMBERS}
    columns = {
        "id": [f"movie-{place}" for place in range(count)],
        "source": ["cinema"] * count,
        "time": pa.array(seconds * 1_000_000, pa.timestamp("us", tz="UTC")),
        "title": pa.array(frame["title"], pa.string()),
        **{name: pa.array(frame[name], kind, from_pandas=True) for name, kind in types.items()},
        "mpaa": pa.array(frame["mpaa"], pa.string()),
        "genre": pa.array(frame["genre"], pa.list_(pa.string())),
    }
    return Movies(origin, pa.table(columns))


def _publication(row: Mapping[str, Any], place: int) -> Publication:
    data = {name: value for name, value in row.items() if name not in CONTEXT and value is not None}
    time = START_SECONDS + place
    return Publication(
        id=row["id"], source=row["source"], time=time * 1_000_000, position=place, data=data
    )


def _spread(shares: NDArray[np.float64], attribute: str) -> NDArray[np.float64]:
    values = np.exp(np.interp(shares, SHARES, np.log(QUANTILES[attribute])))
    return np.round(values, 1 if attribute == "rating" else 0)


def _titles(draw: np.random.Generator, count: int) -> list[str]:
    """One to six words each, the n-th most frequent word about n times rarer than the first."""
    syllables = draw.choice(SYLLABLES, size=(WORDS, 3))
    words = ["The", *("".join(parts).capitalize() for parts in syllables)]
    ranks = np.exp(draw.random((count, 6)) * np.log(len(words))).astype(int) - 1
    lengths = draw.integers(1, 7, count)
    return [
        " ".join(words[rank] for rank in row[:length])
        for row, length in zip(ranks.tolist(), lengths, strict=True)
    ]
