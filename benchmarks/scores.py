"""Scores in bulk beside the plain evaluator, which scores every pair.

Run: python benchmarks/scores.py [--subscriptions 10000] [--publications 1000]
Prints one JSON line per figure. The plain evaluator is timed on a sample of the pairs.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one core for both; read when NumPy is imported

import numpy as np

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_score
from shortlist.matching.blocks import Block
from shortlist.matching.values import Reader, Values
from shortlist.model.publication import Publication
from shortlist.model.rounding import rounded
from shortlist.model.subscription import AtLeast, Subscription
from shortlist.model.vocabulary import Attribute, Vocabulary
from shortlist.scoring.blocks import BulkScores
from shortlist.scoring.expression import Subject, expression

SAMPLE = 20_000
"""Pairs that the plain evaluator is timed on."""
BLOCK = 500
DIMENSIONS = 64
WORDS = [f"word{rank}" for rank in range(1, 20_001)]
FREQUENCIES = list(accumulate(1 / rank for rank in range(1, 20_001)))
VOCABULARY = Vocabulary({("embedding",): Attribute(type="vector")})
CERTAIN = Degrees(1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """Scores of one kind, and the floor under which they are of no interest."""

    name: str
    score: Callable[[random.Random], str]
    floor: float


def text(draw: random.Random, shortest: int, longest: int) -> str:
    return " ".join(draw.choices(WORDS, cum_weights=FREQUENCIES, k=draw.randint(shortest, longest)))


def vector(draw: random.Random) -> list[float]:
    return [round(draw.gauss(0, 1), 3) for _ in range(DIMENSIONS)]


def film(draw: random.Random, number: int) -> Publication:
    data = {
        "title": text(draw, 3, 8),
        "embedding": vector(draw),
        "year": draw.randint(1920, 2025),
        "length": draw.randint(5, 240),
        "rating": round(draw.uniform(1, 10), 1),
    }
    return Publication(id=str(number), source="cinema", time=number, position=number, data=data)


FIGURES = [
    Figure("relevance", lambda draw: f"relevance(title, '{text(draw, 2, 3)}')", 0.3),
    Figure("cosine", lambda draw: f"cosine(embedding, {vector(draw)})", 0.3),
    Figure(
        "distance",
        lambda draw: (
            f"-distance(year: {draw.randint(1920, 2025)}, length: {draw.randint(60, 180)}, "
            f"rating: {draw.randint(1, 10)} weight 10)"
        ),
        -15.0,
    ),
    Figure(
        "general expression",
        lambda draw: (
            f"log(length) + {draw.randint(1, 9)} * rating "
            f"- abs(year - {draw.randint(1920, 2025)}) / {draw.randint(2, 5)}"
        ),
        60.0,
    ),
]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, default=10_000)
    arguments.add_argument("--publications", type=int, default=1_000)
    asked = arguments.parse_args()
    draw = random.Random(0)
    values = Values(VOCABULARY)
    readers = [values.of(film(draw, number)) for number in range(asked.publications)]
    for figure in FIGURES:
        subscriptions = [
            Subscription(id=str(number), score=figure.score(draw))
            for number in range(asked.subscriptions)
        ]
        report(figure, subscriptions, readers)


def report(
    figure: Figure, subscriptions: Sequence[Subscription], readers: Sequence[Reader]
) -> None:
    started = time.perf_counter()
    scores, floor = BulkScores(VOCABULARY), AtLeast(score=figure.floor)
    for number, subscription in enumerate(subscriptions):
        scores.add(number, replace(subscription, at_least=floor))
    added = time.perf_counter() - started
    everything = BulkScores(VOCABULARY)
    for number, subscription in enumerate(subscriptions):
        everything.add(number, subscription)
    numbers = np.arange(len(subscriptions), dtype=np.int32)
    in_bulk(scores, readers[:1], numbers)  # compiles what is not compiled yet
    computed_pairs_per_second(everything, readers[:1], numbers)
    found, seconds = in_bulk(scores, readers, numbers)
    pairs = len(readers) * len(subscriptions)
    plain = plain_pairs_per_second(subscriptions, readers)
    computed = computed_pairs_per_second(everything, readers[:BLOCK], numbers)
    print(
        json.dumps(
            {
                "figure": figure.name,
                "floor": figure.floor,
                "subscriptions": len(subscriptions),
                "publications": len(readers),
                "found": found,
                "seconds": round(seconds, 3),
                "pairs_per_second": round(pairs / seconds),
                "plain_pairs_per_second": round(plain),
                "ratio_to_plain": round(pairs / seconds / plain, 1),
                "ratio_to_all_pairs_compiled": round(pairs / seconds / computed, 1),
                "subscriptions_added_per_second": round(len(subscriptions) / added),
            }
        ),
        flush=True,
    )


def in_bulk(
    scores: BulkScores, readers: Sequence[Reader], numbers: np.ndarray
) -> tuple[int, float]:
    """How many pairs reach their floor, and how long it takes to find them."""
    started = time.perf_counter()
    found = 0
    for start in range(0, len(readers), BLOCK):
        block = Block.of_readers(readers[start : start + BLOCK])
        found += scores.of_block(block, numbers).scores.size
    return found, time.perf_counter() - started


def computed_pairs_per_second(
    scores: BulkScores, readers: Sequence[Reader], numbers: np.ndarray
) -> float:
    """The same compiled arithmetic, on every pair."""
    block, pairs = Block.of_readers(readers), pairs_of(readers, numbers)
    started = time.perf_counter()
    computed = scores.of_pairs(block, *pairs)
    return computed.size / (time.perf_counter() - started)


def pairs_of(readers: Sequence[Reader], numbers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every pair, with degrees."""
    publications = np.tile(np.arange(len(readers), dtype=np.int32), numbers.size)
    certain = np.ones(publications.size)
    return publications, np.repeat(numbers, len(readers)), certain, certain


def plain_pairs_per_second(
    subscriptions: Sequence[Subscription], readers: Sequence[Reader]
) -> float:
    draw = random.Random(1)
    some = draw.sample(subscriptions, min(500, len(subscriptions)))
    evaluate = [expression(parse_any_score(str(one.score)), VOCABULARY) for one in some]
    sample = [(draw.choice(readers), draw.choice(evaluate)) for _ in range(SAMPLE)]
    started = time.perf_counter()
    for read, score in sample:
        rounded(score(Subject(read, CERTAIN)))
    return SAMPLE / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
