"""Scores in bulk: of many pairs of publications and subscriptions at once, equal to the plain ones.

Scores of one shape share a template and differ in a row of parameters, so that a subscription takes
tens of bytes. Pairs are computed by a small machine that runs a template's steps on some hundreds
of them together.

What cannot reach its threshold is skipped early, where that is cheaper than the score: the
subscription's own `at_least.score` and the caller's floor count alike. In a whole block

- `relevance` only looks at pairs that share a term (`kernels/postings.py`),
- `-distance` and `-max_distance` only at publications within reach on one axis, each until its
  partial sum is too large (`kernels/nearest.py`),
- `cosine` is a product of matrices, and settles only pairs that are not clearly under their
  threshold (`kernels/products.py`).

Every other score is computed for each pair and then compared.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.arrays import Bools, Floats, Ints
from shortlist.matching.blocks import Block
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.findings import Findings
from shortlist.scoring.kernels.hopeful import Hopes, hopeful_in_block
from shortlist.scoring.kernels.layout import Kind
from shortlist.scoring.kernels.programs import Pairs, score_pairs
from shortlist.scoring.readings import Readings
from shortlist.scoring.searches import SEARCHES
from shortlist.scoring.stored import StoredScores

DISTANCES = (Kind.NEAREST, Kind.NEAREST_AT_WORST)
NO_FLOORS = np.empty(0)
NOTHING = Findings(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@dataclass(slots=True)
class Work:
    """Pairs asked for so far."""

    evaluated: int = 0
    pruned: int = 0
    """Given up before their score was known."""


class BulkScores:
    """The scores of subscriptions, each known by a small number that may be used again.

    A score is rounded. There is none where an attribute that it needs is absent or of another type,
    where it is not finite, and where it is under the subscription's `at_least.score` or under the
    caller's floor for that subscription: `floors` has one for every number, -inf for no floor.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> flats = [Publication(id=str(rent), source="ads", time=0, position=0, data={"rent": rent})
    ...          for rent in (900, 1200)]
    >>> values = Values(Vocabulary())
    >>> block = Block.of_readers([values.of(flat) for flat in flats])
    >>> scores = BulkScores(Vocabulary())
    >>> scores.add(0, Subscription(id="near 1000", score="-distance(rent: 1000)"))
    >>> scores.add(1, Subscription(id="dear", score="rent / 100"))
    >>> everything = np.array([0, 1], np.int32)
    >>> scores.of_block(block, everything, floors=np.array([-150.0, 10.0])).scores
    array([  12., -100.])
    >>> scores.work
    Work(evaluated=3, pruned=1)
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self.work = Work()
        self._scores = StoredScores(vocabulary, limits or Limits())
        self._readings: Readings | None = None

    def add(self, number: int, subscription: Subscription) -> None:
        self._scores.add(number, subscription)

    def remove(self, number: int) -> None:
        self._scores.remove(number)

    def of_pairs(
        self,
        block: Block,
        publications: Ints,
        subscriptions: Ints,
        possibility: Floats,
        necessity: Floats,
        floors: Floats | None = None,
    ) -> Floats:
        """The score of each pair, NaN where there is none."""
        readings = self._read(block)
        readings.read(self._scores.templates_of(subscriptions))
        order = self._by_template(subscriptions)
        pairs = Pairs(
            publications[order], subscriptions[order], possibility[order], necessity[order]
        )
        found, pruned = score_pairs(
            self._scores.arrays,
            readings.published,
            pairs,
            NO_FLOORS if floors is None else floors,
            self._scores.depth,
        )
        self._count(found.size, found.size - pruned)
        scores = np.empty_like(found)
        scores[order] = found
        return scores

    def of_block(self, block: Block, subscriptions: Ints, floors: Floats | None = None) -> Findings:
        """All pairs of the block with these subscriptions that have a score, in any order.

        Possibility and necessity are 1, as where there is no condition.
        """
        readings = self._read(block)
        stored = self._scores.arrays
        kinds = stored.kinds[stored.templates[subscriptions]]
        found, evaluated = [NOTHING], 0
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            search, members = SEARCHES[Kind(kind)], subscriptions[kinds == kind]
            for part, count in search(
                self._scores, readings, members, NO_FLOORS if floors is None else floors
            ):
                found.append(part)
                evaluated += count
        self._count(block.size * subscriptions.size, evaluated)
        return Findings(*map(np.concatenate, zip(*found, strict=True)))

    def measures_distance(self, subscription: int) -> bool:
        """Whether a score is minus a distance and nothing else, without a threshold of its own."""
        stored = self._scores.arrays
        is_distance = stored.kinds[stored.templates[subscription]] in DISTANCES
        return bool(is_distance and stored.least[subscription] == -np.inf)

    def hopeful_in_block(self, block: Block, hopes: Hopes, lasts: Bools) -> tuple[Findings, int]:
        """Of distances what can matter to the k best of what came last, and how many have a score.

        `lasts` says which publications leave no earlier than those before them.
        """
        readings = self._read(block)
        readings.read(self._scores.templates_of(hopes.subscriptions))
        found, scored = hopeful_in_block(self._scores.arrays, readings.published, hopes, lasts)
        self._count(block.size * hopes.subscriptions.size, found.scores.size)
        return found, scored

    def _read(self, block: Block) -> Readings:
        if self._readings is None or not self._readings.are_of(block):
            self._readings = Readings(block, self._scores)
        return self._readings

    def _by_template(self, subscriptions: Ints) -> NDArray[np.intp] | slice:
        """An order in which pairs of one template are neighbours, unless most are so already."""
        templates = self._scores.arrays.templates[subscriptions]
        changes = np.count_nonzero(templates[1:] != templates[:-1])
        if changes < subscriptions.size // 16:
            return slice(None)
        return np.argsort(templates.astype(np.uint16), kind="stable")  # a radix sort

    def _count(self, asked: int, evaluated: int) -> None:
        self.work.evaluated += evaluated
        self.work.pruned += asked - evaluated
