"""Deliveries in bulk beside one by one, in the processor's time on one core: their ids beside calls
of hashlib, their lines beside f-strings, their order beside that of Arrow.

Run: python benchmarks/deliveries.py [--deliveries 1000000]
Prints one JSON line per figure.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.random import default_rng
from numpy.typing import NDArray

from shortlist.engine.arrow import rows
from shortlist.engine.deliveries import DELIVERIES, ORDER, lines, put_in_order
from shortlist.engine.delivering import delivery_ids, publication_texts, shortlist_texts
from shortlist.model.delivery import delivery_id
from shortlist.model.times import format_time

SHORTLISTS = 10_000
SAMPLE = 100_000
"""Deliveries that lines, order and the plain ids are timed on."""
RUNS = 5


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--deliveries", type=int, default=1_000_000)
    count = arguments.parse_args().deliveries
    none = np.empty(0, np.int32)
    report(
        "kernel loaded, or compiled where it was not",
        seconds=timed(lambda: ids_of([], none, [], none)),
    )
    for shortlist, publication in (
        ("r{}", "m{}"),
        ("reader-{:06}", "movie-{:012}"),
        ("reader-{:064}", "movie-{:064}"),
    ):
        compare_ids(count, shortlist, publication)
    made = deliveries(SAMPLE, shortlists=SAMPLE // 2, publications=SAMPLE // 100)
    report(
        "kernels of lines and order loaded, or compiled where they were not",
        seconds=timed(lambda: lines(put_in_order(made.slice(0, 0)), with_data=False)),
    )
    compare_lines(made)
    compare_order(made)


def compare_ids(count: int, shortlist: str, publication: str) -> None:
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
    bulk = best(lambda: ids_of(shortlists, of_shortlist, publications, of_publication))
    plain = best(lambda: [delivery_id(*names) for names in sample])
    report(
        "ids",
        bytes_each=round(sum(len("\0".join(names)) for names in sample) / len(sample), 1),
        bulk_ns_each=round(bulk / count * 1e9, 1),
        plain_ns_each=round(plain / len(sample) * 1e9, 1),
        ratio=round(plain / len(sample) / (bulk / count), 1),
    )


def ids_of(
    shortlists: Sequence[str],
    of_shortlist: NDArray[np.int32],
    publications: Sequence[tuple[str, str]],
    of_publication: NDArray[np.int32],
) -> pa.StringArray:
    """Ids out of names, with what it takes to make them ready."""
    hashed = shortlist_texts(pa.array(shortlists, pa.string()))
    sources, ids = (
        pa.array([publication[at] for publication in publications], pa.string()) for at in (0, 1)
    )
    return delivery_ids(hashed, of_shortlist, publication_texts(sources, ids), of_publication)


def deliveries(count: int, shortlists: int, publications: int) -> pa.Table:
    """In order of publications, each delivered to shortlists anywhere; no score comes twice."""
    draw = default_rng(0)
    who = draw.integers(0, shortlists, count, np.int32)
    what = np.sort(draw.integers(0, publications, count, np.int32))
    readers = [f"reader-{number:06}" for number in range(shortlists)]
    films = [f"movie-{number:06}" for number in range(publications)]
    nothing = np.zeros(count, np.int32)
    columns = {
        "id": ids_of(readers, who, [("cinema", film) for film in films], what),
        "time": pa.array(1_772_323_200_000_000 + 1_000_000 * what.astype(np.int64)),
        "shortlist": repeated(readers, who),
        "subscriber": repeated([f"ann-{number}" for number in range(shortlists)], who),
        "source": repeated(["cinema"], nothing),
        "publication": repeated(films, what),
        "subscription": repeated([f"wish-{number}" for number in range(shortlists)], who),
        "score": draw.random(count),
        "possibility": np.ones(count),
        "necessity": np.ones(count),
        "rank": pa.nulls(count, pa.int32()),
        "cause": repeated(["arrival"], nothing),
        "data": pa.nulls(count, pa.string()),
        "position": what.astype(np.int64),
    }
    times = columns["time"].cast(DELIVERIES.field("time").type)
    return pa.table(columns | {"time": times}).select(DELIVERIES.names)


def repeated(names: list[str], places: NDArray[np.int32]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(names))


def compare_lines(made: pa.Table) -> None:
    plain = made.cast(DELIVERIES)
    instants = plain.set_column(1, "time", plain.column("time").cast(pa.int64()))
    wanted = [*row_by_row(instants)]
    for form, table in (("dictionaries", made), ("plain", plain)):
        assert lines(table, with_data=False).to_pylist() == wanted
        bulk = best(lambda table=table: lines(table, with_data=False))
        one_by_one = best(lambda: [*row_by_row(instants)])
        report_ratio(f"lines of {form}", made.num_rows, bulk, one_by_one)


def row_by_row(instants: pa.Table) -> Iterator[str]:
    """Lines of deliveries whose times are numbers; each name and time is written out once."""
    texts: dict[str, str] = {}
    times: dict[int, str] = {}

    def text(name: str) -> str:
        if name not in texts:
            texts[name] = json.dumps(name, ensure_ascii=False)
        return texts[name]

    for key, instant, shortlist, subscriber, source, publication, subscription, *rest in rows(
        instants.to_batches()
    ):
        score, high, low, rank, cause, *_ = rest
        if instant not in times:
            times[instant] = format_time(instant)
        yield (
            f'{{"id": "{key}", "time": "{times[instant]}", "shortlist": {text(shortlist)}, '
            f'"subscriber": {text(subscriber)}, "source": {text(source)}, '
            f'"publication": {text(publication)}, "subscription": {text(subscription)}, '
            f'"score": {score!r}, "possibility": {high!r}, "necessity": {low!r}, '
            f'"rank": {"null" if rank is None else rank}, "cause": "{cause}"}}'
        )


def compare_order(made: pa.Table) -> None:
    """Of tables from four shards, of rows that come anyhow, and of rows in order."""
    plain = made.cast(DELIVERIES)
    anyhow = plain.take(pa.array(default_rng(1).permutation(plain.num_rows)))
    keys = [(name, "ascending") for name in ORDER]
    quarter = plain.num_rows // 4
    parts = [put_in_order(anyhow.slice(start, quarter)) for start in range(0, 4 * quarter, quarter)]
    for form, table in (
        ("four shards", pa.concat_tables(parts)),
        ("rows anyhow", anyhow),
        ("rows in order", put_in_order(plain)),
    ):
        found, wanted = put_in_order(table), table.sort_by(keys)
        assert found.select(ORDER).equals(wanted.select(ORDER))
        bulk = best(lambda table=table: put_in_order(table))
        report_ratio(
            f"order of {form}", plain.num_rows, bulk, best(lambda table=table: table.sort_by(keys))
        )


def report_ratio(figure: str, count: int, bulk: float, plain: float) -> None:
    report(
        figure,
        bulk_ns_each=round(bulk / count * 1e9, 1),
        plain_ns_each=round(plain / count * 1e9, 1),
        ratio=round(plain / bulk, 1),
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
