"""Subscriptions that cover others: two trees of five, the more general the more popular.

S1 covers S2 and S3, and S2 covers S4 and S5; S6 to S10 likewise. A kind is a leaf of a tree, or
what none of the subscriptions under an inner one matches. Kinds have numbers so that each
subscription is a range of them.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.novelty.as_printed import CountedAtTheMostNovel, printed
from experiments.novelty.changing import draw_entropies, eight_variants
from experiments.novelty.measuring import ends_of_stretches, in_all, over_time
from experiments.novelty.shortlists import EVERYTHING, MEASURES, Got, deliver, policy
from experiments.novelty.streams import KINDS, Kinds, length, published, zipf_stream
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run
from shortlist.intake.files import registry_from_documents
from shortlist.measures.buckets import Bucket, Buckets
from shortlist.model.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

RANGES = ((0, 4), (1, 3), (4, 4), (2, 2), (3, 3), (5, 9), (6, 8), (9, 9), (7, 7), (8, 8))
"""First and last kind of S1 to S10."""
WHERES = tuple(f"kind >= {first} and kind <= {last}" for first, last in RANGES)
SUBSCRIPTIONS = [{"id": str(number), "where": where} for number, where in enumerate(WHERES)]
BY_POPULARITY = np.array([0, 5, 1, 6, 4, 9, 2, 7, 3, 8])
"""S1, S6, S2, S7 and so on, as far as only they match."""
AS_PRINTED = "threshold lazy as printed"


def measure(run: Run) -> Measures:
    count = length(run)
    return {"period": ends_of_stretches(count), **run.point("subsumption", lambda: _found(run))}


def _found(run: Run) -> dict[str, Any]:
    stream = BY_POPULARITY[zipf_stream(run, "subsumption", length(run))]
    known = registry_from_documents({"subscriptions": SUBSCRIPTIONS})
    matching = matching_of_kinds(run, known)
    delivered = deliver(run, stream, {**eight_variants(), "everything": EVERYTHING}, WHERES)
    for measure in MEASURES:
        delivered[f"{AS_PRINTED} {measure}"] = printed(
            CountedAtTheMostNovel, stream, policy(measure=measure), [*map(_numbers, matching)]
        )
    buckets = Buckets(known.subscriptions, known.vocabulary)
    counted = numbered([buckets.of(names) for names in matching])
    shortlists = {name: Got(got.places, counted[got.kinds]) for name, got in delivered.items()}
    return {**in_all(shortlists, stream.size), **over_time(shortlists, stream.size)}


def matching_of_kinds(run: Run, known: Registry) -> list[list[str]]:
    """The subscriptions that each kind matches; here each has a shortlist of its own."""
    matching: list[list[str]] = [[] for _ in range(KINDS)]
    deliveries = run.rank(known, published(np.arange(KINDS))).deliveries
    for each in deliveries.select(["publication", "subscription"]).to_pylist():
        matching[int(each["publication"])].append(each["subscription"])
    return matching


def numbered(buckets: list[Bucket]) -> Kinds:
    """Where a delivery of each kind is counted: at its most specific subscription, or at what that
    one has beside those that it covers."""
    distinct = sorted(set(buckets))
    return np.array([distinct.index(bucket) for bucket in buckets])


def _numbers(names: list[str]) -> list[int]:
    return [int(name) for name in names]


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    draw_entropies(measures, canvas, figure, best=log2(KINDS), changes=False)
