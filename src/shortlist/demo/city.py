"""The city: its districts, its vocabulary, and a week of what its publishers send."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from shortlist.demo.alerts import alert
from shortlist.demo.films import showing
from shortlist.demo.rentals import rental

SEED = 2026
START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 7

Document = dict[str, Any]

VOCABULARY: Document = {
    "rent": {
        "type": "number",
        "terms": {
            "cheap": {"trapezoid": [None, None, 650, 950]},
            "fair": {"trapezoid": [700, 900, 1200, 1450]},
            "dear": {"trapezoid": [1400, 1900, None, None], "shape": "smooth"},
        },
    },
    "size": {
        "type": "number",
        "terms": {
            "small": {"trapezoid": [None, None, 35, 50]},
            "medium": {"trapezoid": [35, 50, 70, 90]},
            "large": {"trapezoid": [70, 95, None, None], "left": "gauss"},
        },
    },
    "district": {
        "type": "string",
        "terms": {
            "central": {"values": {"Old Town": 1, "Market": 0.9, "Station": 0.7, "Docks": 0.5}},
            "green": {"values": {"Parkside": 1, "Hill": 0.8, "Orchard": 0.8, "Meadows": 0.6}},
        },
    },
    "rooms": {"type": "number"},
    "floor": {"type": "number"},
    "furnished": {"type": "boolean"},
    "description": {"type": "string", "idf": {"flat": 0.1, "with": 0.1, "and": 0.1, "close": 0.3}},
    "embedding": {"type": "vector"},
    "title": {"type": "string", "idf": {"the": 0.1, "of": 0.1}},
    "genre": {"type": "string", "many": True},
    "rating": {"type": "number", "terms": {"good": {"trapezoid": [6, 8, None, None]}}},
    "starts": {"type": "time"},
    "station": {"type": "string"},
    "kind": {"type": "string"},
    "value": {"type": "number"},
    "severity": {
        "type": "number",
        "terms": {"serious": {"trapezoid": [2, 4, None, None], "shape": "smooth"}},
    },
}


class Mess(NamedTuple):
    """How many lines of each kind of trouble a city of a given size has.

    >>> Mess.among(20_000)
    Mess(malformed=40, duplicates=50, wrong_types=200, out_of_order=100)
    """

    malformed: int
    duplicates: int
    wrong_types: int
    out_of_order: int

    @classmethod
    def among(cls, lines: int) -> Mess:
        return cls(lines // 500, lines // 400, lines // 100, lines // 200)


class Trade(NamedTuple):
    """One kind of publication: what makes one, its share, and when in a week it appears."""

    make: Callable[[random.Random, int, datetime], Document]
    share: float
    hours: str
    """For each hour of a day a digit that says how busy it is."""
    days: str


TRADES = (
    # Landlords write by day and rest at the weekend.
    Trade(rental, 0.3, hours="110001247998778899963321", days="6666632"),
    # Cinemas announce in the late morning, most of all before the weekend.
    Trade(showing, 0.2, hours="000000002699644433221000", days="4446775"),
    # Sensors never sleep; traffic has its hours, and on Thursday there is a storm.
    Trade(alert, 0.5, hours="322223589644444579865554", days="4449543"),
)


def publication_lines(count: int, seed: int = SEED) -> list[str]:
    """A week of publications as lines of a file, the mess included.

    >>> lines = publication_lines(400)
    >>> len(lines), lines == publication_lines(400), lines == publication_lines(400, seed=1)
    (400, True, False)
    """
    rng = random.Random(seed)
    mess = Mess.among(count)
    documents = list(_documents(rng, count - mess.malformed - mess.duplicates))
    for document in rng.sample(documents, mess.wrong_types):
        _spoil(rng, document["data"])
    placed = [(document["time"], json.dumps(document)) for document in documents]
    for number, document in enumerate(rng.sample(documents, mess.malformed)):
        placed.append((document["time"], _malformed(number, document)))
    for document in rng.sample(documents, mess.duplicates):
        resent = _written(_read(document["time"]) + timedelta(minutes=rng.randint(1, 20)))
        placed.append((resent, json.dumps(document)))
    for place in rng.sample(range(len(placed)), mess.out_of_order):
        delayed = _written(_read(placed[place][0]) + timedelta(minutes=rng.randint(2, 30)))
        placed[place] = delayed, placed[place][1]
    placed.sort(key=lambda entry: entry[0])
    return [line for _, line in placed]


def _documents(rng: random.Random, count: int) -> Iterator[Document]:
    counts = [int(trade.share * count) for trade in TRADES]
    counts[-1] = count - sum(counts[:-1])
    drawn = [
        (moment, trade)
        for trade, number in zip(TRADES, counts, strict=True)
        for moment in _moments(rng, trade, number)
    ]
    drawn.sort(key=lambda entry: entry[0])
    numbers = dict.fromkeys(TRADES, 0)
    for moment, trade in drawn:
        numbers[trade] += 1
        document = trade.make(rng, numbers[trade], moment)
        yield {"specversion": "1.0", "time": _written(moment), **document}


def _moments(rng: random.Random, trade: Trade, count: int) -> list[datetime]:
    days = rng.choices(range(DAYS), [int(digit) for digit in trade.days], k=count)
    hours = rng.choices(range(24), [int(digit) for digit in trade.hours], k=count)
    return [
        START + timedelta(days=day, hours=hour, seconds=rng.randrange(3600))
        for day, hour in zip(days, hours, strict=True)
    ]


def _spoil(rng: random.Random, data: Document) -> None:
    """A value of another type than everybody expects; the publication stays valid."""
    if "rent" in data:
        data["rent"] = rng.choice(("on request", "850 EUR", True))
    elif "rating" in data:
        data["rating"] = rng.choice(("n/a", "8/10"))
    else:
        data["severity"] = rng.choice(("high", "?", [3]))


def _malformed(number: int, document: Document) -> str:
    """A publisher's first attempt, which went wrong."""
    broken = copy.deepcopy(document)
    match number % 5:
        case 0:
            return json.dumps(broken)[:-17]
        case 1:
            del broken["id"]
        case 2:
            broken["time"] = "yesterday evening"
        case 3:
            broken["data"] = list(broken["data"])
        case 4:
            del broken["source"]
    return json.dumps(broken)


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _read(text: str) -> datetime:
    return datetime.fromisoformat(text)
