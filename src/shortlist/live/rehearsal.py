"""Rehearse what a deployment does, so that the kernels it needs are compiled before it begins.

A kernel is compiled when it is called first, for the types that it is called with: half a minute
for some policies, in which nothing else is delivered. What is called, and with which types, follows
from all the code around the kernels. So a rehearsal is no list of kernels and types: it runs a
small deployment in a temporary folder, in this process, through the same steps as a real one.
"""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import product
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shortlist.intake.files import registry_from_documents
from shortlist.live.audiences import PARTS as AUDIENCES
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.here import run_here
from shortlist.live.log_stream import LogStream
from shortlist.live.matching_stage import PARTS as LANES
from shortlist.live.outlets import LogOutlet
from shortlist.live.shard import SHARDS
from shortlist.live.warming import CHAIN, FUZZY, MATCHING
from shortlist.log.base import INPUT, Log
from shortlist.log.sqlite import SqliteLog
from shortlist.matching.index.masks import WIDTHS
from shortlist.model.settings import PlanSetting, Settings, TimeBasis
from shortlist.model.times import format_time, parse_time

Document = dict[str, Any]

WINDOWS = ("1h", 3, None)
DIFFERENCES = ({"price": 2}, {"mood": None, "price": 4}, {"event.source": None, "size": 1.5})
# Settings of each kind, so that each of its kernels is called: what holds only some publications
# drops others, and what goes by the clock comes to a boundary.
SETTINGS: dict[str, list[Document]] = {
    "top-k": [{"k": 1}, {"k": 3, "refresh": "2s"}, {"k": 2, "refresh": "3s", "period": "7s"}],
    "window": [
        {"k": k, "window": window, "error": error}
        for k, window, error in product((1, 3), WINDOWS, (0.0, 0.1))
    ],
    "novelty": [
        {"rate": 0.5, "period": 3, "mode": mode, "measure": measure, "algorithm": algorithm}
        for mode, measure, algorithm in product(
            ("lazy", "eager"), ("rate", "interval"), ("threshold", "sampling", "random")
        )
    ],
    "fresh": [{"k": k, "window": window, "half_life": "2s"} for k in (1, 3) for window in WINDOWS],
    "diverse": [
        {"k": 2, "window": window, "over": over} for window in WINDOWS for over in DIFFERENCES
    ],
    "digest": [{"k": k, "every": every} for k in (2, None) for every in ("2s", "day")],
    "quiet": [{"from": "23:00", "to": to, "k": k} for to in ("22:59", "23:30") for k in (2, None)],
    "cap": [{"most": 2, "per": "3s"}, {"most": 1, "per": "day"}],
}
FIRST = (
    {"kind": "window", "k": 2, "window": 3},
    {"kind": "fresh", "k": 2, "window": "10s", "half_life": "2s"},
    {"kind": "diverse", "k": 2, "window": "5s", "over": {"mood": None, "price": 4}},
    {"kind": "novelty", "rate": 0.7, "period": 3},
    {"kind": "digest", "k": 3, "every": "2s"},
)
LATER = (
    {"kind": "top-k", "k": 1, "refresh": "2s"},
    {"kind": "window", "k": 1, "window": "3s"},
    {"kind": "cap", "most": 2, "per": "5s"},
    {"kind": "digest", "k": 2, "every": "3s"},
)

VOCABULARY: Document = {
    "price": {
        "type": "number",
        "terms": {
            "cheap": {"trapezoid": [None, None, 2, 4]},
            "dear": {"trapezoid": [3, 6, None, None], "shape": "smooth"},
        },
    },
    "mood": {"type": "string", "terms": {"bright": {"values": {"happy": 1, "calm": 0.4}}}},
    "genre": {"type": "string", "many": True},
    "scores": {"many": True},
    "released": {"type": "time"},
    "embedding": {"type": "vector"},
    "title": {"type": "string", "idf": {"red": 2}},
}
CRISP = (
    None,
    "price < 3",
    "price >= 1 and size < 3",
    "price between 1 and 4 and mood != 'sad'",
    "price in (1, 2, 3) or size not in (2, 6)",
    "title contains 'car' or mood starts with 'h'",
    "not (size exists) or not genre = 'drama'",
    "genre != 'drama' and scores > 2",
    "released < '2026-01-01T06:00:00Z' and event.source = 'a'",
)
FUZZY_CONDITIONS = (
    "price is cheap",
    "price is not very cheap and size is around(2, 2)",
    "price is somewhat dear or mood is bright",
    "price is dear (possibility >= 0.2, necessity >= 0.1)",
    "size is not trapezoid(0, 1, 2, 4) and (price is cheap or mood is not bright)",
    "scores is around(2, 2) or not (price is dear and size is around(3, 1))",
)
SCORES: tuple[str | int, ...] = (
    "price",
    "2 * price - size / 4",
    "-distance(price: 3, size: 2 weight 2)",
    "-max_distance(price: 3, size: 2)",
    "relevance(title, 'red car')",
    "cosine(embedding, [1, 0])",
    "possibility * 2 - necessity / 2",
    "min(price, size, 2) + sqrt(abs(price)) + log(size) ^ 2",
    1,
)
# Subscriptions whose registry is compiled to a file: packed they are more than
# `compiled.LEAST_BYTES`.
SEVERAL = 1_000
NORMS: tuple[str | None, ...] = ("min", "product", "lukasiewicz", "average", "max")
COMBINES = ("max", "min", "mean", "sum", "most_specific")
START = parse_time("2026-03-01T00:00:00Z")
PRICES = (0, 1, 2.5, 3, 4, 6, "dear", -1)
SIZES = (1, 2, 3, [1], 1e300)
MOODS = ("happy", "calm", "sad", 3)
FUZZY_DATA: Document = {
    "price": ({"term": "cheap"}, {"between": [2, 4]}, 3),
    "size": ({"trapezoid": [0, 1, 2, 4]}, 1, [2, 3]),
    "mood": ({"term": "bright"}, {"values": {"sad": 1, "calm": 0.5}}, "happy"),
}
GENRES: tuple[Any, ...] = ("drama", ["war", "drama"], [], "war")
TITLES = ("red car", "blue bus", "Red RED bus", "")


def rehearse(part: str) -> None:
    """Run small deployments that call the kernels of a part: one of `warming.PARTS`."""
    bases: tuple[TimeBasis, ...] = ("event", "arrival")
    for basis in bases:
        with TemporaryDirectory(prefix="shortlist-") as folder:
            _rehearse(Path(folder), part, basis)
    _forget()


def _rehearse(folder: Path, part: str, basis: TimeBasis) -> None:
    files, settings = Files(folder / "files"), Settings(lateness=0, time=basis)
    # lanes match what shards do not match for themselves, and what leaves is noted for policies:
    # each once
    plan: PlanSetting = "auto"
    with_departures = False
    if basis == "arrival":
        plan = "broadcast" if part in (MATCHING, FUZZY) else "auto"
        with_departures = plan == "auto"
    registry = registry_from_documents(registry_of(part))
    with closing(SqliteLog(folder / "log")) as log:
        begin(log, files, registry, 2, settings)
        for attempt in range(2):
            # what is restored has other types than what was made here, and may not be written to
            _forget()
            driver = Driver(
                log,
                files,
                settings,
                run_here,
                LogOutlet(log),
                with_data=bool(attempt),
                plan=plan,
                with_departures=with_departures,
                begun_with=None if attempt else registry,
            )
            if not attempt:
                driver.keep_registry()
            for lines in batches_of(part, attempt):
                _carry_out(log, driver, lines)


def _carry_out(log: Log, driver: Driver, lines: Iterable[Document]) -> None:
    """Append lines to the log, and run the driver until it has read them."""
    log.append(INPUT, [json.dumps(line).encode() for line in lines])
    end = log.end(INPUT)
    with LogStream(log, driver, 50_000, lambda report, appended: None) as stream:
        stream.start()
        while stream.is_active and driver.manifest.position - driver.manifest.base < end:
            time.sleep(0.002)
        stream.stop()


def _forget() -> None:
    """Forget what this process has in memory of deployments."""
    for cache in (SHARDS, LANES, AUDIENCES):
        cache.clear()


def policies_of(part: str) -> list[Any]:
    if part in (MATCHING, FUZZY):
        return [{"kind": "everything"}] * len(COMBINES)
    if part == CHAIN:
        return [[first, later] for first, later in product(FIRST, LATER)]
    return [{"kind": part, **settings} for settings in SETTINGS[part]]


def registry_of(part: str) -> Document:
    """Return the registry that a part is rehearsed with."""
    conditions = {MATCHING: CRISP, FUZZY: FUZZY_CONDITIONS}.get(part, CRISP[:3])
    varies = part in (MATCHING, FUZZY)
    shortlists, subscriptions = [], []
    for number, policy in enumerate(policies_of(part)):
        name = f"list{number}"
        combine, norm, scores = "max", None, [SCORES[0]]
        if varies:
            combine, norm, scores = COMBINES[number], NORMS[number], [*SCORES]
        prefers = [[f"{name}.0", f"{name}.1"]] if number % 2 else None
        shortlists.append(
            _given(id=name, subscriber="u", policy=policy, combine=combine, prefers=prefers)
        )
        for place, condition in enumerate(conditions):
            subscriptions.append(
                _given(
                    id=f"{name}.{place}",
                    shortlist=name,
                    where=condition,
                    score=scores[(number + place) % len(scores)],
                    norm=norm if condition else None,
                    refresh="3s" if place == 1 else None,
                    profile={"age": place},
                )
            )
    # what has no condition is found by its score; and of distances only what can be among the best
    subscriptions += [
        {"id": f"near{number}", "score": "-distance(price: 3, size: 2)", "policy": policy}
        for number, policy in enumerate(policies_of(part))
    ]
    if varies:
        subscriptions += [
            {"id": f"any{number}", "score": score} for number, score in enumerate(SCORES)
        ]
    if part == MATCHING:
        # a larger registry is read otherwise, and opened from a file
        subscriptions += [
            {"id": f"never{number}", "where": f"price > {10 + sqrt(number)}"}
            for number in range(SEVERAL)
        ]
    return {
        "vocabulary": VOCABULARY,
        "shortlists": shortlists,
        "subscriptions": [*subscriptions, {"id": "own", "where": "price > 0"}],
        "advertisements": [
            {"id": "ad", "source": "b", "k": 2, "score": "subscription.score"},
            {
                "id": "by profile",
                "source": "c",
                "k": 2,
                "score": "subscription.profile.age * price",
            },
        ],
    }


def _given(**fields: Any) -> Document:
    return {name: value for name, value in fields.items() if value is not None}


def batches_of(part: str, attempt: int) -> Iterator[list[Document]]:
    """Yield the lines of each batch: after a restart they follow those before it."""
    base = 10_000 * attempt
    sizes = [5, 5, 40]
    if part in (MATCHING, FUZZY):
        # a batch for each width of a mask, whether it is matched whole or by two lanes
        sizes = [5, *(130 * width for width in WIDTHS[:-1])]
    for size in sizes:
        yield [_publication(part, base + number) for number in range(size)]
        base += size
    yield _commands(part, base)
    yield [_publication(part, base + 100)]


def _publication(part: str, number: int) -> Document:
    data = {
        "price": PRICES[number % len(PRICES)],
        "size": SIZES[number % len(SIZES)],
        "mood": MOODS[number % len(MOODS)],
        "genre": GENRES[number % len(GENRES)],
        "scores": [number % 4, number % 3],
        "released": f"2026-01-0{1 + number % 2}T03:00:00Z",
        "embedding": [number % 3, 1],
        "title": TITLES[number % len(TITLES)],
    }
    if number % 5 != 3:  # most lines are simple, which has a reader of its own
        data = {"price": number % 5, "size": number % 3, "title": TITLES[number % len(TITLES)]}
    elif part == FUZZY:
        data |= {name: values[number % 3] for name, values in FUZZY_DATA.items()}
    return _given(
        id=f"p{number}",
        time=_time(number),
        source="c" if number % 7 == 6 else "ab"[number % 2],
        data=data,
        audience=2 if number % 11 == 5 else None,
        replaces=f"p{number - 2}" if number % 13 == 7 else None,
    )


def _commands(part: str, base: int) -> list[Document]:
    """Return changes between publications: what is held moves, goes, or is shown again."""
    changes: list[Document] = [
        {"retract": {"source": "ab"[base % 2], "id": f"p{base - 2}"}},
        {"retract": {"source": "ab"[base % 2], "id": f"p{base - 4}"}},
        {"unsubscribe": "list0.1"},
        {"subscribe": {"id": "list0.1", "shortlist": "list0", "where": "price > 1"}},
        {"update": {"subscription": "list0.2", "where": "price > 0", "refresh": "1s"}},
        {"update": {"shortlist": "list0", "combine": "min"}},
        {"close": "own"},
        {"subscribe": {"id": "own", "where": "price > 1"}},
        {"unadvertise": "ad"},
        {"advertise": {"id": "ad", "source": "a", "k": 1}},
        {"heartbeat": True},
    ]
    lines = []
    for number, change in enumerate(changes, start=base):
        lines += [{"time": _time(number), **change}, _publication(part, number)]
    return lines


def _time(number: int) -> str:
    """Return the time of a publication: the clock goes by what windows and rhythms last."""
    return format_time(START + number * 500_000)
