"""Publications that very many shortlists match, and the k of them that their publisher wants."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from shortlist.intake.roster import Roster
from shortlist.matching.blocks import Floats, Longs
from shortlist.matching.values import Values
from shortlist.model.advertisement import Advertisement
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.progress import Steps
from shortlist.scoring.candidates import Scoring
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Advertisements, Inducement
from shortlist.selection.bank.audience import BulkAudience

from .report import Report
from .timing import best_of

VOCABULARY = Vocabulary()
SOURCE = "publisher"
KINDS = 1_000
"""Different subscriptions: the candidates name one of these each, for reading millions of
conditions takes minutes, and is not what is measured."""
SCORES = {
    "own": "subscription.score",
    "traits": "subscription.score * subscription.profile.rank / (1 + subscription.volume)",
}
SQL_SCORES = {"own": "score", "traits": "round(score * rank / (1 + volume), 9)"}


@dataclass(frozen=True, slots=True)
class AudienceFigures:
    """Adds figures to a report."""

    report: Report
    steps: Steps
    candidates: int
    k: int
    patience: float
    """Seconds after which a figure is not measured once more."""

    def beside_others(self) -> None:
        """Scores that differ, scores that are all the same, and scores with traits."""
        for ties, kinds in ((False, SCORES), (True, ["own"])):
            with self.steps.step(f"audiences: {self.candidates:,} candidates"):
                audience = Audience(self.candidates, self.k, ties)
                database = DatabaseAudience(audience)
            for score in kinds:
                self._beside_others(audience, database, score, "equal" if ties else score)

    def _beside_others(
        self, audience: "Audience", database: "DatabaseAudience", score: str, name: str
    ) -> None:
        facts = {"score": name, "candidates": self.candidates, "k": self.k}
        with self.steps.step(f"audiences: {name} scores"):
            audience.chosen(score)  # compiles, and looks traits up
            best, seconds = best_of(partial(audience.chosen, score), self.patience)
            ratios = {}
            for other, choose in (("numpy", audience.sorted), ("duckdb", database.chosen)):
                found, theirs = best_of(partial(choose, score), self.patience)
                self.report.compared(np.array_equal(best, found), "audience", to=other, **facts)
                self.report.add("audience", engine=other, **facts, core_milliseconds=1e3 * theirs)
                ratios[f"ratio_to_{other}"] = theirs / seconds
        self.report.add(
            "audience", engine="bulk", **facts, core_milliseconds=1e3 * seconds, **ratios
        )


@dataclass(frozen=True, slots=True)
class Traits:
    """What an advertisement may ask about the candidates, side by side."""

    scores: Floats
    volumes: Floats
    ranks: Floats


class Audience:
    """Candidates by number; their ids are in another order.

    >>> audience = Audience(candidates=5, k=2, ties=True)
    >>> [audience.ids[number] for number in audience.chosen("own")]
    ['shortlist 00000000', 'shortlist 00000001']
    """

    def __init__(self, candidates: int, k: int, ties: bool = False, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        self._order = draw.permutation(candidates)
        self.ids = [f"shortlist {place:08}" for place in self._order.tolist()]
        self.k = k
        widths, ranks = draw.integers(1, 100, (2, KINDS))
        kinds = np.arange(candidates) % KINDS
        scores = np.ones(candidates) if ties else draw.random(candidates).round(9)
        self.traits = Traits(scores, widths[kinds].astype(float), ranks[kinds].astype(float))
        self._numbers = np.arange(candidates, dtype=np.int32)
        self._read = Values(VOCABULARY).of(Publication(id="p", source=SOURCE, time=0, position=0))
        self._bulk = _bulk(self.ids, k, _subscriptions(widths.tolist(), ranks.tolist()))

    def chosen(self, score: str) -> Longs:
        """The k best, best first, by one of SCORES."""
        inducement = Inducement(self.k, score)
        numbers = self._numbers
        best, _ = self._bulk.chosen(inducement, self._read, numbers, self.traits.scores, numbers)
        return best

    def sorted(self, score: str) -> Longs:
        """The same by NumPy, which puts all in order; it is given the order of the ids."""
        traits = self.traits
        if score == "own":
            values = traits.scores
        else:
            values = (traits.scores * traits.ranks / (1 + traits.volumes)).round(9)
        return np.lexsort((self._order, -values))[: self.k]


class DatabaseAudience:
    """The same candidates as a table in DuckDB, on one core."""

    def __init__(self, audience: Audience) -> None:
        traits = audience.traits
        columns = {"score": traits.scores, "volume": traits.volumes, "rank": traits.ranks}
        numbers = np.arange(traits.scores.size)
        self._k = audience.k
        self._database = duckdb.connect(config={"threads": 1})
        self._database.register(
            "given", pa.table({"number": numbers, "id": audience.ids, **columns})
        )
        self._database.execute("create table candidates as from given")

    def chosen(self, score: str) -> Longs:
        query = (
            f"select number from candidates order by {SQL_SCORES[score]} desc, id limit {self._k}"
        )
        return np.asarray(self._database.execute(query).fetchnumpy()["number"])


def _subscriptions(widths: Sequence[int], ranks: Sequence[int]) -> list[Subscription]:
    return [
        Subscription(id=f"kind {kind}", where=f"size between 0 and {width}", profile={"rank": rank})
        for kind, (width, rank) in enumerate(zip(widths, ranks, strict=True))
    ]


def _bulk(ids: Sequence[str], k: int, subscriptions: Sequence[Subscription]) -> BulkAudience:
    roster = Roster.of(Registry(vocabulary=VOCABULARY, subscriptions=tuple(subscriptions)))
    advertisements, scoring = Advertisements(VOCABULARY), Scoring(VOCABULARY, live=roster.live)
    for name, score in SCORES.items():
        advertisements.add(Advertisement(id=name, source=SOURCE, k=k, score=score))
    shortlists = Numbers()
    for name in ids:
        shortlists.number(name)
    return BulkAudience(
        advertisements, scoring, shortlists, lambda number: subscriptions[number % KINDS]
    )
