"""The matches of a block in, pairs with a score out: equal to the plain scores.

Scores of one shape share a template and differ in a row of parameters, so that a subscription takes
tens of bytes. Pairs are computed by a small machine that runs a template's steps on some hundreds
of them together. Where there is no condition, whole blocks are searched (`searches.py`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.storage import Parts
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.distances import Hopes, hopeful_in_block
from shortlist.scoring.kernels.layout import Findings, Kind
from shortlist.scoring.kernels.programs import Pairs, score_pairs
from shortlist.scoring.searches import NOTHING, SEARCHES, Readings
from shortlist.scoring.stored import StoredScores

DISTANCES = (Kind.NEAREST, Kind.NEAREST_AT_WORST)


class Arrivals(NamedTuple):
    """Matches that are deliveries: publications by place in the block, subscriptions by number."""

    publications: Ints
    subscriptions: Ints
    scores: Floats
    possibilities: Floats
    necessities: Floats

    @classmethod
    def joined(cls, some: Sequence["Arrivals"]) -> "Arrivals":
        return cls._make(np.concatenate(arrays) for arrays in zip(*some, strict=True))

    def kept(self, which: Bools | Ints) -> "Arrivals":
        return Arrivals._make(array[which] for array in self)

    def between(self, first: int, end: int) -> "Arrivals":
        """Those of the publications from one place to another, with places from 0."""
        is_between = (self.publications >= first) & (self.publications < end)
        some = self if is_between.all() else self.kept(is_between)
        return some._replace(publications=some.publications - np.int32(first))


def certain(found: Findings) -> Arrivals:
    """What has a score, where there is no condition."""
    sure = np.ones(found.scores.size)
    return Arrivals(*found, sure, sure)


class BulkScores:
    """The scores of subscriptions, each known by a small number that may be used again, and which
    of them have no condition.

    A score is rounded. There is none where an attribute that it needs is absent or of another type,
    where it is not finite, and where it is under the subscription's `at_least.score`.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.subscription import AtLeast
    >>> flats = [Publication(id=str(rent), source="ads", time=0, position=0, data={"rent": rent})
    ...          for rent in (900, 1200)]
    >>> values = Values(Vocabulary())
    >>> block = Block.of_readers([values.of(flat) for flat in flats])
    >>> scores = BulkScores(Vocabulary())
    >>> near, dear = AtLeast(score=-150.0), AtLeast(score=10.0)
    >>> scores.add(0, Subscription(id="near", score="-distance(rent: 1000)", at_least=near))
    >>> scores.add(1, Subscription(id="dear", score="rent / 100", at_least=dear))
    >>> scores.scored(block, Matches.of_rows([])).scores
    array([  12., -100.])
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._scores = StoredScores(vocabulary, limits or Limits())
        self._is_unconditional: Bools = np.zeros(8, np.bool_)
        self._readings: Readings | None = None

    def add(self, number: int, subscription: Subscription) -> None:
        self._scores.add(number, subscription)
        self._is_unconditional = with_length(self._is_unconditional, number + 1)
        self._is_unconditional[number] = subscription.where is None

    def remove(self, number: int) -> None:
        self._scores.remove(number)
        self._is_unconditional[number] = False

    def replace(self, number: int, old: Subscription, new: Subscription) -> None:
        """A subscription that was added has other settings."""
        if (old.score, old.at_least.score) != (new.score, new.at_least.score):
            self._scores.remove(number)
            self._scores.add(number, new)
        self._is_unconditional[number] = new.where is None

    def saved(self) -> Parts:
        return {"scores": self._scores.saved(), "is_unconditional": self._is_unconditional}

    def load(self, saved: Parts) -> None:
        """Takes the place of all scores."""
        self._scores.load(saved["scores"])
        self._is_unconditional = saved["is_unconditional"]

    def wants_nearest(self, number: int) -> bool:
        """Whether a subscription ranks everything by distance, without a threshold of its own."""
        stored = self._scores.arrays
        is_distance = stored.kinds[stored.templates[number]] in DISTANCES
        return bool(
            is_distance and stored.least[number] == -np.inf and self._is_unconditional[number]
        )

    def scored(self, block: Block, matches: Matches, among: Ints | None = None) -> Arrivals:
        """The pairs that have a score; matches are those of subscriptions with a condition.

        Where only some subscriptions are asked about, `among` has their numbers.
        """
        if among is None:
            unconditional = self._unconditional
        else:
            unconditional = among[self._is_unconditional[among]]
        high, low = matches.possibility, matches.necessity
        who = matches.publications, matches.subscriptions
        pairs = Arrivals(*who, self.of_pairs(block, *who, high, low), high, low)
        if unconditional.size:
            pairs = Arrivals.joined([pairs, certain(self.of_block(block, unconditional))])
        has_score = ~np.isnan(pairs.scores)
        return pairs if has_score.all() else pairs.kept(has_score)

    def hopeful(
        self, block: Block, matches: Matches, hopes: Hopes, lasts: Bools
    ) -> tuple[Arrivals, int]:
        """As `scored`, but without what cannot matter, where hopes say so; how many that were.

        Hopes are of subscriptions that want the nearest; `lasts` says which publications leave no
        earlier than those before them.
        """
        others = np.setdiff1d(self._unconditional, hopes.subscriptions, assume_unique=True)
        found = self.scored(block, matches, others)
        near, scored = self.hopeful_in_block(block, hopes, lasts)
        if near.scores.size:
            found = Arrivals.joined([found, certain(near)])
        return found, scored - near.scores.size

    def of_pairs(
        self,
        block: Block,
        publications: Ints,
        subscriptions: Ints,
        possibility: Floats,
        necessity: Floats,
    ) -> Floats:
        """The score of each pair, NaN where there is none."""
        readings = self._read(block)
        readings.read(self._scores.templates_of(subscriptions))
        order = self._by_template(subscriptions)
        pairs = Pairs(
            publications[order], subscriptions[order], possibility[order], necessity[order]
        )
        found = score_pairs(self._scores.arrays, readings.published, pairs, self._scores.depth)
        scores = np.empty_like(found)
        scores[order] = found
        return scores

    def of_block(self, block: Block, subscriptions: Ints) -> Findings:
        """All pairs of the block with these subscriptions that have a score, in any order.

        Possibility and necessity are 1, as where there is no condition.
        """
        readings, stored, found = self._read(block), self._scores.arrays, [NOTHING]
        kinds = stored.kinds[stored.templates[subscriptions]]
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            members = subscriptions[kinds == kind]
            readings.read(self._scores.templates_of(members), in_order=kind in DISTANCES)
            found += SEARCHES[Kind(kind)](self._scores, readings, members)
        return Findings(*map(np.concatenate, zip(*found, strict=True)))

    def hopeful_in_block(self, block: Block, hopes: Hopes, lasts: Bools) -> tuple[Findings, int]:
        """Of distances what can matter to the k best of what came last, and how many have a score.

        `lasts` says which publications leave no earlier than those before them.
        """
        readings = self._read(block)
        readings.read(self._scores.templates_of(hopes.subscriptions))
        return hopeful_in_block(self._scores.arrays, readings.published, hopes, lasts)

    @property
    def _unconditional(self) -> Ints:
        return np.flatnonzero(self._is_unconditional).astype(np.int32)

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
