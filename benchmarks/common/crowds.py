"""Very many shortlists, publications that match some of them, and the banks that choose."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import SinglePolicy
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER, Offers, Placements
from shortlist.selection.policies import selector

from .timing import core_timed

BLOCK = 512
"""Publications that come together, as in the engine."""
SECOND = 1_000_000
SUBSCRIPTION_SHARES = (0.6, 0.9, 1.0)
"""Each shortlist has three subscriptions: the first matches in six of ten cases, and so on."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Shortlists, each matched about once in a block; a publication a second.

    >>> [*Crowd(shortlists=3, matches_each=1).blocks()][0].places.tolist()
    [1, 1, 2]
    """

    shortlists: int
    matches_each: int

    def blocks(self, seed: int = 0) -> Iterator[Offers]:
        draw = np.random.default_rng(seed)
        for block in range(self.matches_each):
            pairs = np.unique(draw.integers(0, self.shortlists * BLOCK, self.shortlists))
            places = (pairs // BLOCK).astype(np.int32)
            publications = (pairs % BLOCK + block * BLOCK).astype(np.int32)
            count = pairs.size
            which = np.searchsorted(SUBSCRIPTION_SHARES, draw.random(count), "right")
            times, certain = publications.astype(np.int64) * SECOND, np.ones(count)
            yield Offers(
                places=places,
                times=times,
                publications=publications,
                appeared=times,
                expiries=np.full(count, NEVER),
                scores=draw.random(count).round(9),
                named=places * np.int32(len(SUBSCRIPTION_SHARES)) + which.astype(np.int32),
                possibilities=certain,
                necessities=certain,
                refreshes=np.full(count, UNSET),
                matched=np.full(count, ALONE, np.int32),
            )


@dataclass(slots=True)
class Chosen:
    """What a bank placed of all that came, what of that to the first few, and how fast."""

    matches: int = 0
    deliveries: int = 0
    seconds: float = 0.0
    due: int = 0
    """What was released when the last period was over."""
    due_seconds: float = 0.0
    first: list[Placements] = field(default_factory=list)


def choose(bank: Bank, crowd: Crowd, few: int) -> Chosen:
    """All offers of a crowd come to a bank, then what is due happens; drawing does not count."""
    chosen = Chosen()
    for offers in crowd.blocks():
        placed, seconds = core_timed(partial(bank.arrive, offers, NO_SETS))
        chosen.matches += offers.places.size
        chosen.deliveries += placed.places.size
        chosen.seconds += seconds
        chosen.first.append(placed.kept(placed.places < few))
    placed, chosen.due_seconds = core_timed(partial(bank.advance, NEVER))
    chosen.due = placed.places.size
    chosen.first.append(placed.kept(placed.places < few))
    return chosen


def choose_plainly(policy: SinglePolicy, crowd: Crowd, few: int) -> tuple[int, Longs, float]:
    """How many of the same came to the first few, one plain selector each; what, and how fast."""
    arrivals = [
        _candidate(*facts)
        for offers in crowd.blocks()
        for facts in zip(*_columns(offers.kept(offers.places < few)), strict=True)
    ]
    selectors = [
        selector(Shortlist(id=str(place), subscriber="somebody", policy=policy))
        for place in range(few)
    ]

    def chosen() -> list[tuple[int, int]]:
        return [
            (place, placed.candidate.publication.position)
            for place, candidate in arrivals
            for placed in selectors[place].arrive(candidate, candidate.publication.time).placements
        ]

    rows, seconds = core_timed(chosen)
    rows += [
        (place, placed.candidate.publication.position)
        for place in range(few)
        for placed in selectors[place].advance(NEVER)
    ]
    return len(arrivals), np.array(sorted(rows)), seconds


def placed_pairs(placed: Sequence[Placements]) -> Longs:
    """Place and publication of placements, in order."""
    joined = Placements.joined(placed)
    pairs = np.stack([joined.places, joined.publications], axis=1)
    return pairs[np.lexsort((joined.publications, joined.places))]


def _columns(offers: Offers) -> list[list[float]]:
    columns = offers.places, offers.publications, offers.times, offers.scores, offers.named
    return [column.tolist() for column in columns]


def _candidate(
    place: int, number: int, time: int, score: float, named: int
) -> tuple[int, Candidate]:
    publication = Publication(id=str(number), source="crowd", time=time, position=number)
    match = ScoredMatch(str(named), score, 1.0, 1.0)
    return place, Candidate(publication, str(place), score, match, (match,))
