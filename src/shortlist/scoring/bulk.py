"""Scores in bulk: of many pairs of publications and subscriptions at once, equal to the plain ones.

Scores of one shape share a template and differ in a row of parameters, so that a subscription takes
tens of bytes. Pairs are computed by a small machine that runs a template's steps on some hundreds
of them together.

What cannot reach its threshold (`at_least.score`) is skipped early, where that is cheaper than the
score. In a whole block

- `relevance` only looks at pairs that share a term (`kernels/cosines.py`),
- `-distance` and `-max_distance` only at publications within reach on one axis, each until its
  partial sum is too large (`kernels/distances.py`),
- `cosine` is a product of matrices, and settles only pairs that are not clearly under their
  threshold (`kernels/cosines.py`).

Every other score is computed for each pair and then compared.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.arrays import Bools, Floats, Ints
from shortlist.matching.blocks import Block
from shortlist.matching.index.storage import Parts
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.cosines import relevant_in_block, settle_products, vectors_of
from shortlist.scoring.kernels.distances import Hopes, Ordered, hopeful_in_block, nearest_in_block
from shortlist.scoring.kernels.layout import Findings, Kind, Operation, Published
from shortlist.scoring.kernels.programs import Pairs, score_pairs
from shortlist.scoring.relevance import term_weights
from shortlist.scoring.stored import StoredScores
from shortlist.scoring.templates import Instruction, Term


class Readings:
    """What scores ask of a block, read when one of them first asks.

    Good until another template or term gets a number.
    """

    def __init__(self, block: Block, scores: StoredScores) -> None:
        numbers, texts, vectors = (
            (len(attributes), block.size)
            for attributes in (scores.numbers, scores.texts, scores.vectors)
        )
        self.published = Published(
            numbers=np.empty(numbers),
            text_starts=np.zeros(texts, np.int64),
            text_ends=np.zeros(texts, np.int64),
            text_lengths=np.full(texts, np.nan),
            terms=np.empty(0, np.int32),
            term_weights=np.empty(0),
            vector_starts=np.zeros(vectors, np.int64),
            vector_sizes=np.full(vectors, -1, np.int32),
            vector_lengths=np.zeros(vectors),
            coordinates=np.empty(0),
        )
        self.ordered = Ordered(
            np.empty(numbers, np.int32), np.empty(numbers), np.empty(numbers[0], np.int32)
        )
        self.size = block.size
        self._block = block
        self._scores = scores
        self._introduced = scores.introduced
        self._done: set[tuple[Callable[[Path], None], Path]] = set()
        self._ready: set[tuple[int, bool]] = set()

    def are_of(self, block: Block) -> bool:
        return self._block is block and self._introduced == self._scores.introduced

    def read(self, templates: Iterable[int], in_order: bool = False) -> None:
        """All that these templates ask for; `in_order`, numbers also sorted."""
        for template in templates:
            if (template, in_order) in self._ready:
                continue
            self._ready.add((template, in_order))
            for instruction in self._scores.templates[template].instructions:
                match instruction.operation:
                    case Operation.ATTRIBUTE | Operation.OFFSET:
                        self._once(self._read_numbers, instruction.path)
                        if in_order:
                            self._once(self._sort_numbers, instruction.path)
                    case Operation.RELEVANCE:
                        self._once(self._read_texts, instruction.path)
                    case Operation.COSINE:
                        self._once(self._read_vectors, instruction.path)

    def _once(self, act: Callable[[Path], None], path: Path) -> None:
        if (act, path) not in self._done:
            act(path)
            self._done.add((act, path))

    def _read_numbers(self, path: Path) -> None:
        row = self._scores.numbers.number(path)
        self.published.numbers[row] = self._block.column(path).numbers

    def _sort_numbers(self, path: Path) -> None:
        row = self._scores.numbers.number(path)
        numbers = self.published.numbers[row]
        order = np.argsort(numbers)
        self.ordered.publications[row] = order
        self.ordered.numbers[row] = numbers[order]
        self.ordered.counts[row] = np.count_nonzero(~np.isnan(numbers))  # NaN comes last

    def _read_texts(self, path: Path) -> None:
        """Each distinct text once; terms that no query has only count for its length."""
        row = self._scores.texts.number(path)
        column, idf = self._block.column(path), self._scores.vocabulary.of(path).idf
        terms: list[tuple[int, float]] = []
        bounds, lengths = [len(self.published.terms)], []
        for text in column.words:
            weights = term_weights(text, idf)
            numbered = ((self._scores.terms.find(Term(path, word)), word) for word in weights)
            terms += sorted((term, weights[word]) for term, word in numbered if term is not None)
            bounds.append(bounds[0] + len(terms))
            lengths.append(math.hypot(*weights.values()))
        found = np.array(terms).reshape(-1, 2)
        self.published = self.published._replace(
            terms=np.append(self.published.terms, found[:, 0].astype(np.int32)),
            term_weights=np.append(self.published.term_weights, found[:, 1]),
        )
        present = column.codes >= 0
        codes = column.codes[present]
        self.published.text_starts[row, present] = np.array(bounds)[codes]
        self.published.text_ends[row, present] = np.array(bounds)[codes + 1]
        self.published.text_lengths[row, present] = np.array(lengths)[codes]

    def _read_vectors(self, path: Path) -> None:
        row = self._scores.vectors.number(path)
        coordinates: list[float] = []
        before = len(self.published.coordinates)
        for place, vector in self._block.column(path).special.items():
            if isinstance(vector, tuple):
                self.published.vector_starts[row, place] = before + len(coordinates)
                self.published.vector_sizes[row, place] = len(vector)
                self.published.vector_lengths[row, place] = math.hypot(*vector)
                coordinates += vector
        self.published = self.published._replace(
            coordinates=np.append(self.published.coordinates, coordinates)
        )


Key = TypeVar("Key")

AT_ONCE = 1 << 16
"""Pairs whose numbers are held at once, so that they stay in a cache."""

Part = tuple[Findings, int]
Search = Callable[[StoredScores, Readings, Ints], Iterator[Part]]


def compute_all(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Iterator[Part]:
    """Every pair, one piece after the other."""
    readings.read(scores.templates_of(subscriptions))
    for some in _pieces(subscriptions, readings.size):
        certain = np.ones(some.size * readings.size)
        pairs = Pairs(
            np.tile(np.arange(readings.size, dtype=np.int32), some.size),
            np.repeat(some, readings.size),
            possibility=certain,
            necessity=certain,
        )
        found, _ = score_pairs(scores.arrays, readings.published, pairs, scores.depth)
        kept = np.flatnonzero(~np.isnan(found))
        yield (
            Findings(pairs.publications[kept], pairs.subscriptions[kept], found[kept]),
            found.size,
        )


def search_near(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Iterator[Part]:
    """Along the axes of distances."""
    readings.read(scores.templates_of(subscriptions), in_order=True)
    yield nearest_in_block(scores.arrays, readings.published, readings.ordered, subscriptions)


def search_terms(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Iterator[Part]:
    """Through the terms that queries share with texts, one attribute after the other."""
    readings.read(scores.templates_of(subscriptions))
    for path, members in _grouped(scores, subscriptions, lambda first: first.path):
        text = scores.texts.number(path)
        yield relevant_in_block(
            scores.arrays, readings.published, scores.postings.arrays, text, members
        )


def search_vectors(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Iterator[Part]:
    """By matrix products, for each attribute with vectors of one size."""
    readings.read(scores.templates_of(subscriptions))
    published = readings.published
    for (_, path, size), members in _grouped(scores, subscriptions, lambda first: first):
        vector = scores.vectors.number(path)
        publications = np.flatnonzero(published.vector_sizes[vector] == size).astype(np.int32)
        starts = published.vector_starts[vector, publications]
        columns = published.coordinates[starts + np.arange(size)[:, None]]
        for some in _pieces(members, publications.size):
            with np.errstate(over="ignore", invalid="ignore"):
                products = vectors_of(scores.arrays, some, size) @ columns
            yield settle_products(
                scores.arrays, published, vector, publications, some, products, size
            )


SEARCHES: dict[Kind, Search] = {
    Kind.GENERAL: compute_all,
    Kind.NEAREST: search_near,
    Kind.NEAREST_AT_WORST: search_near,
    Kind.RELEVANCE: search_terms,
    Kind.COSINE: search_vectors,
}


def _pieces(subscriptions: Ints, publications: int) -> Iterator[Ints]:
    """Some subscriptions after the other, so many that their pairs are held at once."""
    if publications:
        length = max(1, AT_ONCE // publications)
        for start in range(0, subscriptions.size, length):
            yield subscriptions[start : start + length]


def _grouped(
    scores: StoredScores, subscriptions: Ints, key: Callable[[Instruction], Key]
) -> Iterator[tuple[Key, Ints]]:
    """Subscriptions whose first instruction has the same key."""
    templates = scores.arrays.templates[subscriptions]
    groups: defaultdict[Key, list[int]] = defaultdict(list)
    for template in scores.templates_of(subscriptions):
        groups[key(scores.templates[template].instructions[0])].append(template)
    for found, members in groups.items():
        yield found, subscriptions[np.isin(templates, members)]


DISTANCES = (Kind.NEAREST, Kind.NEAREST_AT_WORST)
NOTHING = Findings(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@dataclass(slots=True)
class PairCounts:
    """Pairs asked for so far."""

    evaluated: int = 0
    pruned: int = 0
    """Given up before their score was known."""


class BulkScores:
    """The scores of subscriptions, each known by a small number that may be used again.

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
    >>> everything = np.array([0, 1], np.int32)
    >>> scores.of_block(block, everything).scores
    array([  12., -100.])
    >>> scores.work
    PairCounts(evaluated=3, pruned=1)
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self.work = PairCounts()
        self._scores = StoredScores(vocabulary, limits or Limits())
        self._readings: Readings | None = None

    def add(self, number: int, subscription: Subscription) -> None:
        self._scores.add(number, subscription)

    def remove(self, number: int) -> None:
        self._scores.remove(number)

    def saved(self) -> Parts:
        return self._scores.saved()

    def load(self, saved: Parts) -> None:
        """Takes the place of all scores."""
        self._scores.load(saved)

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
        found, pruned = score_pairs(
            self._scores.arrays,
            readings.published,
            pairs,
            self._scores.depth,
        )
        self._count(found.size, found.size - pruned)
        scores = np.empty_like(found)
        scores[order] = found
        return scores

    def of_block(self, block: Block, subscriptions: Ints) -> Findings:
        """All pairs of the block with these subscriptions that have a score, in any order.

        Possibility and necessity are 1, as where there is no condition.
        """
        readings = self._read(block)
        stored = self._scores.arrays
        kinds = stored.kinds[stored.templates[subscriptions]]
        found, evaluated = [NOTHING], 0
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            search, members = SEARCHES[Kind(kind)], subscriptions[kinds == kind]
            for part, count in search(self._scores, readings, members):
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
