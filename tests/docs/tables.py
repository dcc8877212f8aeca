"""Blocks that say what comes out of what: tables of expressions, and drawn timelines.

A `where` or `score` block has one expression a line, an arrow and its result. A line that starts
with `given`, `norm` or `at_least` holds for the lines below it. A `timeline` block draws one
shortlist: a policy, then rows of cells.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from shortlist import Registry, registry_from_documents, replay
from shortlist.engine.engine import Result
from shortlist.model.problem import InvalidRegistry
from shortlist.model.times import format_time, parse_time

SETTINGS = ("given", "norm", "at_least")
NOON = parse_time("2026-03-01T12:00:00Z")
SECOND = 1_000_000


class Entry(NamedTuple):
    """One line of a table."""

    expression: str
    expected: str
    settings: dict[str, Any]


def entries(text: str) -> Iterator[Entry]:
    settings: dict[str, Any] = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in SETTINGS and "→" not in line:
            settings = {**settings, word: json.loads(rest)}
        elif line.strip():
            expression, arrow, expected = line.partition("→")
            assert arrow, f"no arrow in {line!r}"
            yield Entry(expression.strip(), expected.strip(), settings)


def result_of(entry: Entry, field: str, vocabulary: object) -> str:
    """What a table should say of an expression in this field of a subscription."""
    subscription = {"id": "s", field: entry.expression}
    subscription |= {name: entry.settings[name] for name in SETTINGS[1:] if name in entry.settings}
    try:
        registry = registry_from_documents(
            {"vocabulary": vocabulary, "subscriptions": [subscription]}
        )
    except InvalidRegistry as error:
        return str(error).partition(f"{field}: ")[2]
    deliveries = replay(registry, [_line("p", 0, entry.settings.get("given"))]).deliveries
    if field == "score":
        return f"{deliveries[0].score:g}" if deliveries else "no match"
    if not deliveries:
        return "0"
    possibility, necessity = deliveries[0].possibility, deliveries[0].necessity
    both = f"{possibility:g}, {necessity:g}"
    return f"{possibility:g}" if possibility == necessity else both


def drawn(text: str) -> tuple[str, str]:
    """The last row of a drawing, and what it should be, both with single spaces.

    The first line is the policy; `seconds` are the columns, or the `clock` in UTC, which goes on to
    the next day where it would go back. `topics`, if there are any, are the
    subscriptions that match. A cell of `arrives` is a publication: its name (letters), the score
    that it carries (a number) and `!` with the second at which it expires; or `-NAME` cancels a
    subscription. A cell of `delivers` is `name#rank`, with `+` where it is a promotion, or for a
    policy without ranks just the name; several are joined by commas, and `.` is nothing.
    """
    first, *rows = text.strip().splitlines()
    cells = {row.split()[0]: row.split()[1:] for row in rows}
    seconds = [float(cell) for cell in cells.get("seconds", ())] or [*_by_clock(cells["clock"])]
    subscriptions = cells.get("topics", ["all"] * len(seconds))
    scored = any(re.search(r"\d", cell) for cell in cells["arrives"])
    lines = []
    for second, cell, topic in zip(seconds, cells["arrives"], subscriptions, strict=True):
        if cell.startswith("-"):
            time = format_time(NOON + int(second * SECOND))
            lines.append(json.dumps({"time": time, "unsubscribe": cell[1:]}))
        elif cell != ".":
            lines.append(_arrival(cell, second, topic))
    registry = _one_shortlist(json.loads(first), set(subscriptions) - {"."}, scored)
    result = replay(registry, lines)
    assert not result.rejects, result.rejects
    return " ".join(cells["delivers"]), " ".join(_delivered(result, seconds))


def _arrival(cell: str, second: float, topic: str) -> str:
    described, _, expiry = cell.partition("!")
    name = described.rstrip("0123456789.")
    score = described[len(name) :]
    more = {"expirytime": _time(_second(expiry, second))} if expiry else {}
    data = {"topic": topic, **({"score": float(score)} if score else {})}
    publication = name if score else described
    return json.dumps({**json.loads(_line(publication, second, data)), **more})


def _by_clock(cells: list[str]) -> Iterator[float]:
    """Seconds since noon."""
    before = -float("inf")
    for cell in cells:
        before = _second(cell, before)
        yield before


def _second(cell: str, before: float) -> float:
    """A second, or that at which the clock next shows something, not before another one."""
    if ":" not in cell:
        return float(cell)
    hours, minutes = map(float, cell.split(":"))
    second = 3600 * (hours - 12) + 60 * minutes
    while second < before:
        second += 86_400
    return second


def _one_shortlist(policy: object, topics: set[str], scored: bool) -> Registry:
    return registry_from_documents(
        {
            "shortlists": [{"id": "drawn", "subscriber": "you", "policy": policy}],
            "subscriptions": [
                {
                    "id": topic,
                    "shortlist": "drawn",
                    "where": f"topic = '{topic}'",
                    "score": "score" if scored else None,
                }
                for topic in sorted(topics)
            ],
        }
    )


def _delivered(result: Result, seconds: list[float]) -> Iterator[str]:
    by_second: dict[float, list[str]] = {second: [] for second in seconds}
    for delivery in result.deliveries:
        rank = "" if delivery.rank is None else f"#{delivery.rank}"
        mark = "+" if delivery.cause == "promotion" else ""
        by_second[(delivery.time - NOON) / SECOND].append(f"{delivery.publication.id}{rank}{mark}")
    for delivered in by_second.values():
        yield ",".join(delivered) or "."


def _line(name: str, second: float, data: object) -> str:
    return json.dumps(
        {"id": name, "source": "ads", "type": "offer", "time": _time(second), "data": data}
    )


def _time(second: float) -> str:
    return format_time(NOON + int(second * SECOND))
