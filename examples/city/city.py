"""A week of what the city's publishers send, and the mess in it."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from examples.city.publications import Document, alert, rental, showing, written

SEED = 2026
START = datetime(2026, 3, 2, tzinfo=UTC)


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
    def among(cls, lines: int) -> "Mess":
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
ODDITIES = {
    "rent": ("on request", "850 EUR", True),
    "rating": ("n/a", "8/10"),
    "severity": ("high", "?", [3]),
}
"""Values of another type than everybody expects; the publication stays valid."""


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
        spoilt = next(name for name in ODDITIES if name in document["data"])
        document["data"][spoilt] = rng.choice(ODDITIES[spoilt])
    placed = [(document["time"], json.dumps(document)) for document in documents]
    for number, document in enumerate(rng.sample(documents, mess.malformed)):
        placed.append((document["time"], _malformed(number, document)))
    for document in rng.sample(documents, mess.duplicates):
        placed.append((_later(document["time"], rng.randint(1, 20)), json.dumps(document)))
    for place in rng.sample(range(len(placed)), mess.out_of_order):
        time, line = placed[place]
        placed[place] = _later(time, rng.randint(2, 30)), line
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
    numbers = dict.fromkeys(TRADES, 0)
    for moment, trade in sorted(drawn, key=lambda entry: entry[0]):
        numbers[trade] += 1
        document = trade.make(rng, numbers[trade], moment)
        yield {"specversion": "1.0", "time": written(moment), **document}


def _moments(rng: random.Random, trade: Trade, count: int) -> list[datetime]:
    days = rng.choices(range(7), [int(digit) for digit in trade.days], k=count)
    hours = rng.choices(range(24), [int(digit) for digit in trade.hours], k=count)
    return [
        START + timedelta(days=day, hours=hour, seconds=rng.randrange(3600))
        for day, hour in zip(days, hours, strict=True)
    ]


def _malformed(number: int, document: Document) -> str:
    """A publisher's first attempt, which went wrong."""
    broken = dict(document)
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


def _later(time: str, minutes: int) -> str:
    return written(datetime.fromisoformat(time) + timedelta(minutes=minutes))
