"""Ids of deliveries in bulk beside one call of hashlib each, in the processor's time on one core.

Run: python benchmarks/delivery_ids.py [--deliveries 1000000]
Prints one JSON line per figure.
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from numpy.random import default_rng

from shortlist.engine.delivery_ids import delivery_ids
from shortlist.model.delivery import delivery_id

SHORTLISTS = 10_000
SAMPLE = 100_000
"""Deliveries that the plain ids are timed on."""
RUNS = 5


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--deliveries", type=int, default=1_000_000)
    count = arguments.parse_args().deliveries
    none = np.empty(0, np.int32)
    report(
        "kernel loaded, or compiled where it was not",
        seconds=timed(lambda: delivery_ids([], none, [], none)),
    )
    for shortlist, publication in (
        ("r{}", "m{}"),
        ("reader-{:06}", "movie-{:012}"),
        ("reader-{:064}", "movie-{:064}"),
    ):
        compare(count, shortlist, publication)


def compare(count: int, shortlist: str, publication: str) -> None:
    """Ids of publications in order, each delivered to shortlists anywhere."""
    draw = default_rng(0)
    shortlists = [shortlist.format(number) for number in range(SHORTLISTS)]
    publications = [("cinema", publication.format(number)) for number in range(count // 100)]
    of_shortlist = draw.integers(0, SHORTLISTS, count, np.int32)
    of_publication = np.sort(draw.integers(0, len(publications), count, np.int32))
    sample = [
        (shortlists[one], *publications[other])
        for one, other in zip(of_shortlist[:SAMPLE], of_publication[:SAMPLE], strict=True)
    ]
    bulk = best(lambda: delivery_ids(shortlists, of_shortlist, publications, of_publication))
    plain = best(lambda: [delivery_id(*names) for names in sample])
    report(
        "ids",
        bytes_each=round(sum(len("\0".join(names)) for names in sample) / len(sample), 1),
        bulk_ns_each=round(bulk / count * 1e9, 1),
        plain_ns_each=round(plain / len(sample) * 1e9, 1),
        ratio=round(plain / len(sample) / (bulk / count), 1),
    )


def best(work: Callable[[], object]) -> float:
    return min(timed(work) for _ in range(RUNS))


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def report(figure: str, **facts: float) -> None:
    print(json.dumps({"figure": figure, **facts}), flush=True)


if __name__ == "__main__":
    main()
