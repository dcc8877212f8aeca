"""What is published in each example."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
Publication = dict[str, Any]

WIRES = {"agency": 16, "city": 6, "science": 2, "opera": 1}
"""Who writes how much, of 25 stories."""
EVENTS = ("A bridge opens", "Prices fall", "Rain is on its way", "A record is broken")
STREETS = ("Park Row", "Mill Lane", "Quay Street", "Hill Road")
MACHINES = ("press", "oven", "mixer", "conveyor")
GOODS = ("lamp", "chair", "print", "kettle")


@dataclass(frozen=True)
class Example:
    """A registry, and what is published to it."""

    name: str
    publication: Callable[[Random], Publication]

    @property
    def registry(self) -> Path:
        return HERE / f"{self.name}.yaml"

    def publications(self, seed: int = 0) -> Iterator[Publication]:
        """Without end; the same for the same seed.

        >>> [story["source"] for story, _ in zip(EXAMPLES["news_desk"].publications(), range(3))]
        ['city', 'agency', 'agency']
        """
        chance = Random(seed)
        for number in count(1):
            yield {"id": f"{self.name} {number}"} | self.publication(chance)


def story(chance: Random) -> Publication:
    (wire,) = chance.choices([*WIRES], [*WIRES.values()])
    return {"source": wire, "data": {"headline": f"{chance.choice(EVENTS)}, says the {wire} desk"}}


def flat(chance: Random) -> Publication:
    """Some agents name a rent, some only a range."""
    rent = chance.randrange(700, 2500, 10)
    said = rent if chance.random() < 0.5 else {"between": [rent, rent + 300]}
    place = {"street": chance.choice(STREETS), "minutes": chance.randrange(2, 45)}
    return {"source": f"agent {chance.randrange(3)}", "data": {"rent": said, **place}}


def reading(chance: Random) -> Publication:
    """Most are of no interest, a few are bad."""
    machine = chance.choice(MACHINES)
    severity = round(min(chance.expovariate(4), 1.0), 2)
    return {"source": machine, "data": {"machine": machine, "severity": severity}}


def offer(chance: Random) -> Publication:
    what = {"what": chance.choice(GOODS), "price": chance.randrange(10, 300)}
    return {"source": "shop", "data": what}


EXAMPLES = {
    name: Example(name, publication)
    for name, publication in {
        "news_desk": story,
        "flat_hunting": flat,
        "plant": reading,
        "promotions": offer,
    }.items()
}
