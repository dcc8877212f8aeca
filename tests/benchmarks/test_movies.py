"""The films of the benchmark: read from a file, or generated like them."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.common.movies import FILE, QUANTILES, SHARES, generated_movies, read_movies

HEADER = (
    "title,year,length,budget,rating,votes,mpaa,"
    "Action,Animation,Comedy,Drama,Documentary,Romance,Short"
)
LINES = ('"$40,000",1996,70,,8.2,6,,0,0,1,0,0,0,0', "NA,1971,121,5000,6.4,348,R,0,0,0,0,0,0,0")


def test_a_file_of_films(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(gzip.compress("\n".join((HEADER, *LINES)).encode()))
    movies = read_movies(tmp_path)
    films = sorted((film.data for film in movies.publications()), key=lambda data: data["year"])
    assert movies.origin == "imdb"
    known = {"title": "NA", "year": 1971, "length": 121, "rating": 6.4, "votes": 348}
    assert films[0] == {**known, "budget": 5000, "mpaa": "R", "genre": []}
    assert films[1]["genre"] == ["comedy"]
    assert not {"budget", "mpaa"} & films[1].keys()


def test_without_the_file_they_are_generated(tmp_path: Path) -> None:
    assert read_movies(tmp_path).origin == "generated"
    assert read_movies(None).table.equals(read_movies(tmp_path).table)


@pytest.mark.parametrize("attribute", QUANTILES)
def test_generated_films_are_spread_as_the_real_ones(attribute: str) -> None:
    values = generated_movies(20_000).numbers(attribute)
    found = np.nanquantile(values, SHARES[2:-2])
    assert found == pytest.approx(QUANTILES[attribute][2:-2], rel=0.15)


def test_some_attributes_are_mostly_absent() -> None:
    movies = generated_movies(20_000)
    assert np.isnan(movies.numbers("budget")).mean() == pytest.approx(0.911, abs=0.01)
    assert np.isnan(movies.numbers("mpaa")).mean() == pytest.approx(0.916, abs=0.01)


def test_genres_as_bits_say_the_same() -> None:
    movies = generated_movies(500).first(300)
    lists = movies.table["genre"].to_pylist()
    counts = [mask.bit_count() for mask in movies.genre_masks().tolist()]
    assert counts == [len(genres) + bool(genres) for genres in lists]
