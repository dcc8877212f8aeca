"""How the pairs of a whole block that reach their thresholds are found, by kind of score.

A search takes subscriptions of its kind and gives findings in parts, each with the number of pairs
that were evaluated for it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from shortlist.matching.arrays import Floats, Ints
from shortlist.scoring.kernels.findings import Findings
from shortlist.scoring.kernels.layout import Kind
from shortlist.scoring.kernels.nearest import nearest_in_block
from shortlist.scoring.kernels.postings import relevant_in_block
from shortlist.scoring.kernels.products import settle_products, vectors_of
from shortlist.scoring.kernels.programs import Pairs, score_pairs
from shortlist.scoring.readings import Readings
from shortlist.scoring.stored import StoredScores
from shortlist.scoring.templates import Instruction

Key = TypeVar("Key")

AT_ONCE = 1 << 16
"""Pairs whose numbers are held at once, so that they stay in a cache."""

Part = tuple[Findings, int]
Search = Callable[[StoredScores, Readings, Ints, Floats], Iterator[Part]]


def compute_all(
    scores: StoredScores, readings: Readings, subscriptions: Ints, floors: Floats
) -> Iterator[Part]:
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
        found, _ = score_pairs(scores.arrays, readings.published, pairs, floors, scores.depth)
        kept = np.flatnonzero(~np.isnan(found))
        yield (
            Findings(pairs.publications[kept], pairs.subscriptions[kept], found[kept]),
            found.size,
        )


def search_near(
    scores: StoredScores, readings: Readings, subscriptions: Ints, floors: Floats
) -> Iterator[Part]:
    """Along the axes of distances."""
    readings.read(scores.templates_of(subscriptions), in_order=True)
    yield nearest_in_block(
        scores.arrays, readings.published, readings.ordered, subscriptions, floors
    )


def search_terms(
    scores: StoredScores, readings: Readings, subscriptions: Ints, floors: Floats
) -> Iterator[Part]:
    """Through the terms that queries share with texts, one attribute after the other."""
    readings.read(scores.templates_of(subscriptions))
    for path, members in _grouped(scores, subscriptions, lambda first: first.path):
        text = scores.texts.number(path)
        yield relevant_in_block(
            scores.arrays, readings.published, scores.postings.arrays, text, members, floors
        )


def search_vectors(
    scores: StoredScores, readings: Readings, subscriptions: Ints, floors: Floats
) -> Iterator[Part]:
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
                scores.arrays, published, vector, publications, some, products, size, floors
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
