"""The scores of whole blocks: what they ask of publications, and who comes near enough.

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
from typing import TypeVar

import numpy as np

from shortlist.matching.arrays import Ints
from shortlist.matching.blocks import Block
from shortlist.model.paths import Path
from shortlist.scoring.kernels.cosines import relevant_in_block, settle_products, vectors_of
from shortlist.scoring.kernels.distances import Ordered, nearest_in_block
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

Found = Iterator[Findings]


def compute_all(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Found:
    """Every pair, one piece after the other."""
    for some in _pieces(subscriptions, readings.size):
        certain = np.ones(some.size * readings.size)
        pairs = Pairs(
            np.tile(np.arange(readings.size, dtype=np.int32), some.size),
            np.repeat(some, readings.size),
            possibility=certain,
            necessity=certain,
        )
        found = score_pairs(scores.arrays, readings.published, pairs, scores.depth)
        kept = np.flatnonzero(~np.isnan(found))
        yield Findings(pairs.publications[kept], pairs.subscriptions[kept], found[kept])


def search_near(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Found:
    """Along the axes of distances."""
    yield nearest_in_block(scores.arrays, readings.published, readings.ordered, subscriptions)


def search_terms(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Found:
    """Through the terms that queries share with texts, one attribute after the other."""
    for path, members in _grouped(scores, subscriptions, lambda first: first.path):
        text = scores.texts.number(path)
        yield relevant_in_block(
            scores.arrays, readings.published, scores.postings.arrays, text, members
        )


def search_vectors(scores: StoredScores, readings: Readings, subscriptions: Ints) -> Found:
    """By matrix products, for each attribute with vectors of one size."""
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


SEARCHES: dict[Kind, Callable[[StoredScores, Readings, Ints], Found]] = {
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


NOTHING = Findings(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
