"""From files to registries and shards: how long it takes, and what a subscription weighs.

Run: python benchmarks/reading.py [--subscriptions 100000] [--sample 2000] [--deep 5000]
Prints one JSON line per figure. Deep conditions have 128 predicates each, and no two of them are
alike but for their literals; with `--subscriptions 0` nothing else is measured.
"""

import argparse
import json
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow
import pyarrow.parquet
import yaml
from common.deep_conditions import deep_conditions

from shortlist import read_registry, registry_from_documents
from shortlist.engine.compiled import compiled
from shortlist.engine.shard import Shard
from shortlist.language.parser import parse_any_score, parse_where
from shortlist.matching.census import TypeCensus
from shortlist.model.collecting import uncollected
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits

GENRES = ("action", "animation", "comedy", "documentary", "drama", "romance", "short")
POLICIES = (
    {"kind": "everything"},
    {"kind": "top-k", "k": 5, "refresh": "1h"},
    {"kind": "window", "k": 5, "window": "1h"},
)
Entry = dict[str, Any]

Made = TypeVar("Made")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, default=100_000)
    arguments.add_argument("--sample", type=int, default=2_000)
    arguments.add_argument("--deep", type=int, default=5_000)
    asked = arguments.parse_args()
    if asked.deep:
        report_deep(asked.deep)
    if asked.subscriptions:
        report_all(asked)


def report_all(asked: argparse.Namespace) -> None:
    entries = subscriptions(asked.subscriptions)
    report_texts(entries[: asked.sample])
    with tempfile.TemporaryDirectory() as folder:
        for form, (write, read) in FORMS.items():
            # YAML is written by hand, and read so slowly that the sample must do for it.
            whole = entries[: asked.sample] if form == "one YAML file" else entries
            report(form, len(whole), timed(read, write(Path(folder, "whole"), whole)))
        registry = report_memory(Path(folder, "whole"), entries)
    report_census(registry)
    report_shard(registry)


def subscriptions(count: int, seed: int = 1) -> list[Entry]:
    """Subscriptions of three predicates, most of them conjunctions."""
    draw = random.Random(seed)
    return [_subscription(draw, number) for number in range(count)]


def _subscription(draw: random.Random, number: int) -> Entry:
    million = 1_000_000
    predicates = draw.sample(
        [
            f"year >= {draw.randint(1920, 2020)}",
            f"length between {draw.randint(60, 100)} and {draw.randint(101, 180)}",
            f"rating >= {round(draw.uniform(1, 10), 2)}",
            f"genre = '{draw.choice(GENRES)}'",
            f"title contains '{draw.choice(GENRES)} {draw.randint(1, 5000)}'",
            f"budget is around({draw.randint(10, 150) * million}, {draw.randint(1, 9) * million})",
            f"country in ('us', 'c{draw.randint(1, 90)}')",
            f"not votes < {draw.randint(50, 5000)}",
        ],
        k=3,
    )
    first, second, third = predicates
    joined = f"{first} and ({second} or {third})" if number % 4 == 0 else " and ".join(predicates)
    near = f"-distance(year: {draw.randint(1920, 2020)}, length: {draw.randint(60, 180)} weight 2)"
    return {
        "id": f"subscription-{number}",
        "where": joined,
        "score": draw.choice(["rating / 10", near, "possibility"]),
        "policy": POLICIES[number % len(POLICIES)],
    }


def as_document(_: Path, entries: list[Entry]) -> dict[str, Any]:
    return {"subscriptions": entries}


def as_json(place: Path, entries: list[Entry]) -> Path:
    file = place.with_suffix(".json")
    file.write_text(json.dumps(as_document(place, entries)))
    return file


def as_yaml(place: Path, entries: list[Entry]) -> Path:
    file = place.with_suffix(".yaml")
    file.write_text(yaml.safe_dump(as_document(place, entries)))
    return file


def as_lines(place: Path, entries: list[Entry]) -> Path:
    folder = place.with_suffix(".lines")
    folder.mkdir(exist_ok=True)
    (folder / "subscriptions.jsonl").write_text("\n".join(json.dumps(entry) for entry in entries))
    return folder


def as_parquet(place: Path, entries: list[Entry]) -> Path:
    folder = place.with_suffix(".tables")
    folder.mkdir(exist_ok=True)
    rows = [{**entry, "policy": json.dumps(entry["policy"])} for entry in entries]
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, folder / "subscriptions.parquet")
    return folder


FORMS: dict[str, tuple[Callable[[Path, list[Entry]], Any], Callable[[Any], Registry]]] = {
    "documents in memory": (as_document, registry_from_documents),
    "one JSON file": (as_json, read_registry),
    "a folder of JSON lines": (as_lines, read_registry),
    "a folder of Parquet": (as_parquet, read_registry),
    "one YAML file": (as_yaml, read_registry),
}


def timed(read: Callable[[Any], Any], source: Any) -> float:
    """Seconds."""
    started = time.perf_counter()
    read(source)
    return time.perf_counter() - started


def report(figure: str, count: int, seconds: float) -> None:
    measured = {"seconds": round(seconds, 3), "microseconds_each": round(seconds / count * 1e6, 1)}
    print(json.dumps({"figure": figure, "count": count, **measured}), flush=True)


def report_texts(entries: list[Entry]) -> None:
    """Single texts, one after the other."""
    ways = [("a condition", "where", parse_where), ("a score", "score", parse_any_score)]
    for figure, field, parse in ways:
        texts = [entry[field] for entry in entries]
        report(figure, len(texts), timed(for_all(parse), texts))


def report_deep(count: int) -> None:
    """Conditions of many predicates: parsed, read as subscriptions, and compiled on one core."""
    texts = deep_conditions(count)
    report("deep conditions parsed", count, timed(for_all(parse_where), texts))
    entries = [{"id": f"s{number}", "where": text} for number, text in enumerate(texts)]
    document = as_document(Path(), entries)
    report("deep conditions read", count, timed(registry_from_documents, document))
    registry = registry_from_documents(document)
    with uncollected():
        seconds = timed(lambda limits: compiled(Shard(registry, limits)), Limits())
    report("deep conditions compiled", count, seconds)


def for_all(act: Callable[[Any], Any]) -> Callable[[Sequence[Any]], None]:
    def act_on_all(items: Sequence[Any]) -> None:
        for item in items:
            act(item)

    return act_on_all


def report_memory(place: Path, entries: list[Entry]) -> Registry:
    folder = as_lines(place, entries)
    return weighed("memory of a registry", len(entries), lambda: read_registry(folder))


def weighed(figure: str, count: int, make: Callable[[], Made]) -> Made:
    """What it makes, and reports the bytes of."""
    tracemalloc.start()
    made = make()
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    sizes = {"bytes_each": round(kept / count), "peak_bytes_each": round(most / count)}
    print(json.dumps({"figure": figure, "count": count, **sizes}), flush=True)
    return made


def report_shard(registry: Registry) -> None:
    """A shard that has all of it: what it takes to make one beside the registry itself."""
    count = len(registry.subscriptions)
    Shard(Registry(subscriptions=registry.subscriptions[:100]), Limits())  # loads the kernels
    report("a shard", count, timed(lambda limits: Shard(registry, limits), Limits()))
    weighed("memory of a shard", count, lambda: Shard(registry, Limits()))


def report_census(registry: Registry) -> None:
    seconds = timed(for_all(TypeCensus(registry.vocabulary).add), registry.subscriptions)
    report("the census of types", len(registry.subscriptions), seconds)


if __name__ == "__main__":
    main()
