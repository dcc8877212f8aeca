"""Scans and joins of boxes say what the plain matcher says, whatever the condition."""

from functools import cache
from math import inf

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.common.boxes import boxes_of
from benchmarks.common.compiled import subscriptions_of
from benchmarks.common.conditions import All, Condition, Not, Range, Some, Word, supports
from benchmarks.common.duckdb_join import DuckDbJoin
from benchmarks.common.matches import Matches
from benchmarks.common.mixes import MIXES, draw_conditions
from benchmarks.common.movies import CERTIFICATES, NUMBERS, VOCABULARY, Movies, generated_movies
from benchmarks.common.numpy_scan import NumpyScan
from benchmarks.common.workloads import GENRES
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values

BASELINES = (NumpyScan, DuckDbJoin)


@cache
def films() -> Movies:
    return generated_movies(60)


def plain_matches(conditions: list[Condition]) -> Matches:
    scan, values = Scan(VOCABULARY), Values(VOCABULARY)
    for subscription in subscriptions_of(conditions):
        scan.add(subscription)
    found = [scan.match(values.of(film)) for film in films().publications()]
    return Matches.of_each(
        [np.array([int(match.subscription[1:]) for match in each], dtype=int) for each in found]
    )


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    attribute = draw(st.sampled_from(NUMBERS))
    known = films().table[attribute].drop_null().to_pylist()
    ends = sorted(draw(st.lists(st.sampled_from(known), min_size=2, max_size=2)))
    low, high = draw(st.sampled_from((ends, (ends[0], inf), (-inf, ends[1]))))
    return Range(attribute, low, high, draw(st.booleans()))


predicates = st.one_of(
    ranges(),
    st.builds(Word, st.just("genre"), st.just("="), st.sampled_from(GENRES)),
    st.builds(Word, st.just("mpaa"), st.just("="), st.sampled_from(CERTIFICATES)),
)


def groups(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(All, several), st.builds(Some, several), st.builds(Not, inner))


conditions = st.recursive(predicates, groups, max_leaves=6)


@given(asked=st.lists(conditions, min_size=1, max_size=5))
@example(asked=[All((Range("year", 2005, 2005), Not(Range("year", 2005, 2005))))])
@example(asked=[All((Word("mpaa", "=", "R"), Not(Word("mpaa", "=", "R"))))])
def test_boxes_are_the_condition(asked: list[Condition]) -> None:
    boxes, expected = boxes_of(asked), plain_matches(asked)
    for baseline in BASELINES:
        assert baseline(boxes).match(films()).same_as(expected)


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("mix", MIXES)
def test_mixes(baseline: type, mix: str) -> None:
    drawn = draw_conditions(mix, 150, films())
    crisp = [supports(condition) for condition in drawn] if mix == "fuzzy" else drawn
    assert baseline(boxes_of(crisp)).match(films()).same_as(plain_matches(drawn))


def test_chunks_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw_conditions("deep", 200, films())
    monkeypatch.setattr("benchmarks.common.numpy_scan.BLOCK", 32)
    cut = NumpyScan(boxes_of(drawn), chunk=7).match(films())
    assert cut.same_as(plain_matches(drawn))
