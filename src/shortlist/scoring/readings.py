"""A block's numbers, texts and vectors as kernels read them."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from shortlist.matching.blocks import Block
from shortlist.model.paths import Path
from shortlist.scoring.kernels.layout import Operation, Published
from shortlist.scoring.kernels.nearest import Ordered
from shortlist.scoring.relevance import term_weights
from shortlist.scoring.stored import StoredScores
from shortlist.scoring.templates import Term


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
