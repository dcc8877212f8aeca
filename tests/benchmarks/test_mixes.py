"""The mixes: what they ask for, how often it matches, and that a seed fixes them."""

import pytest

from benchmarks.common.boxes import boxes_of
from benchmarks.common.conditions import where
from benchmarks.common.mixes import MIXES, draw_conditions
from benchmarks.common.movies import VOCABULARY, Movies, generated_movies
from benchmarks.common.numpy_scan import NumpyScan
from shortlist.language.parser import parse_where
from shortlist.language.tree import predicates


@pytest.fixture(scope="module")
def movies() -> Movies:
    return generated_movies(3_000)


@pytest.mark.parametrize("mix", MIXES)
def test_texts_can_be_read(movies: Movies, mix: str) -> None:
    for condition in draw_conditions(mix, 300, movies):
        tree = parse_where(where(condition), VOCABULARY)
        assert 2 <= len(list(predicates(tree))) <= (10 if mix == "deep" else 5)


@pytest.mark.parametrize("mix", MIXES)
def test_more_begin_as_fewer_do(movies: Movies, mix: str) -> None:
    assert draw_conditions(mix, 50, movies)[:20] == draw_conditions(mix, 20, movies)
    assert draw_conditions(mix, 20, movies) != draw_conditions(mix, 20, movies, seed=2)


@pytest.mark.parametrize(("mix", "share"), [("selective", 0.003), ("broad", 0.058)])
def test_share_of_films_that_match(movies: Movies, mix: str, share: float) -> None:
    drawn = draw_conditions(mix, 3_000, movies)
    found = NumpyScan(boxes_of(drawn)).match(movies)
    assert len(found) / (len(drawn) * len(movies)) == pytest.approx(share, rel=0.4)
