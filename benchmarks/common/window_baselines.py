"""What else keeps windows: the textbook's list, the plain selector, a database."""

from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Window
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.window import WindowSelector

from .candidate_list import placed_one_by_one
from .streams import Points, Stream
from .timing import core_timed
from .windows import Windows, window_keys

QUERY = """
    select place, publication from (
        select place, publication, score, max(score) over (
            partition by place order by time
            range between {span} - 1 preceding and current row
        ) as best from offers
    ) where score = best
"""
"""The arrivals that are the best of their windows: all that a window function can tell."""


def candidate_list(stream: Stream, points: Points, policy: Window) -> tuple[Longs, float]:
    """The placements as keys, in any order, and the seconds that it took."""
    span, times = policy.window.micros, stream.times
    placed_one_by_one(stream.points[:1], times[:1], points[0], span, policy.k)  # compiles
    keys, spent = [], 0.0
    for place, point in enumerate(points):
        job = partial(placed_one_by_one, stream.points, times, point, span, policy.k)
        (publications, promoted), seconds = core_timed(job)
        keys.append(window_keys(np.full(publications.size, place), publications, promoted))
        spent += seconds
    return np.concatenate(keys), spent


def sorted_list(stream: Stream, points: Points, policy: Window) -> tuple[Longs, float]:
    """The same by plain selectors, which keep whole windows in order; they are given the scores."""
    offers = every_offer(stream, points, policy)
    arrivals = [_candidate(*facts) for facts in zip(*_facts(offers), strict=True)]
    selectors = [WindowSelector(policy, str(place)) for place in range(len(points))]
    return core_timed(partial(_selected, selectors, arrivals))


def best_at_arrival(stream: Stream, points: Points, policy: Window) -> tuple[Longs, float]:
    """The same by DuckDB for k = 1, without promotions; it is given a table of scores."""
    offers = every_offer(stream, points, policy)
    columns = {"place": offers.places, "publication": offers.publications}
    table = pa.table({**columns, "time": offers.times, "score": offers.scores})
    database = duckdb.connect(config={"threads": 1})
    database.register("given", table)
    database.execute("create table offers as from given")
    query = QUERY.format(span=policy.window.micros)
    found, seconds = core_timed(lambda: database.execute(query).fetchnumpy())
    places, publications = np.asarray(found["place"]), np.asarray(found["publication"])
    return window_keys(places, publications, np.zeros(places.size, np.bool_)), seconds


def every_offer(stream: Stream, points: Points, policy: Window) -> Offers:
    """All pairs with their scores, window by window."""
    windows = Windows(points, policy, every_offer=True)
    blocks = [*windows.offers(stream)]
    joined = Offers(*map(np.concatenate, zip(*blocks, strict=True)))
    return joined.kept(np.argsort(joined.places, kind="stable"))


def _facts(offers: Offers) -> list[list[float]]:
    columns = offers.places, offers.publications, offers.times, offers.scores
    return [column.tolist() for column in columns]


def _candidate(place: int, number: int, time: int, score: float) -> tuple[int, Candidate]:
    publication = Publication(id=str(number), source="stream", time=time, position=number)
    match = ScoredMatch(str(place), score, 1.0, 1.0)
    return place, Candidate(publication, str(place), score, match, (match,))


def _selected(selectors: list[WindowSelector], arrivals: list[tuple[int, Candidate]]) -> Longs:
    placed = []
    for place, candidate in arrivals:
        outcome = selectors[place].arrive(candidate, candidate.publication.time)
        placed += [(place, placement) for placement in outcome.placements]
    for place, selector in enumerate(selectors):
        placed += [(place, placement) for placement in selector.advance(NEVER)]
    rows = [
        (place, placement.candidate.publication.position, placement.cause == "promotion")
        for place, placement in placed
    ]
    return window_keys(*map(np.array, zip(*rows, strict=True)))
