"""Films whose numbers are known only roughly, beside the same films."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from shortlist.intake.reading import items_of
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.index.matches import Matches
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.items import Items, Wanted
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription

from .compiled import BLOCK, Compiled
from .movies import NUMBERS, QUANTILES, SHARES, VOCABULARY

ROUGHLY = 0.01
"""A core reaches so far on both sides, as a share of what most films lie between."""
SHAPES = ("linear", "linear", "smooth", "gauss")


def blurred(publications: Sequence[Publication], seed: int = 5) -> list[Publication]:
    """The same, with half of the numbers fuzzy, and at least one in each publication.

    >>> film = Publication(id="f", source="cinema", time=0, position=0, data={"year": 1990})
    >>> list(blurred([film])[0].data["year"])
    ['trapezoid', 'shape']
    """
    random = Random(seed)
    return [replace(one, data=_blurred(one.data, random)) for one in publications]


def _blurred(data: dict[str, Any], random: Random) -> dict[str, Any]:
    here = [name for name in NUMBERS if name in data]
    chosen = random.sample(here, max(1, round(len(here) / 2 + random.uniform(-0.5, 0.5))))
    return data | {name: _rough(name, data[name], random) for name in chosen}


def _rough(name: str, number: float, random: Random) -> dict[str, Any]:
    spread = QUANTILES[name][SHARES.index(0.9)] - QUANTILES[name][SHARES.index(0.1)]
    near = spread * ROUGHLY * random.uniform(0.5, 1.5)
    if random.random() < 0.25:
        return {"between": [number - near, number + near]}
    corners = [number - 2 * near, number - near, number + near, number + 2 * near]
    return {"trapezoid": corners, "shape": random.choice(SHAPES)}


def arrived(publications: Sequence[Publication]) -> list[Items]:
    """Publications as they come to a shard, block by block."""
    paths = frozenset((name,) for one in publications for name in one.data)
    return [
        items_of(publications[first : first + BLOCK], Wanted(paths))[0]
        for first in range(0, len(publications), BLOCK)
    ]


def matches(index: Index, blocks: Sequence[Items]) -> Iterator[Matches]:
    """Those of one block after the other, from items as they came."""
    values = Values(VOCABULARY)
    return (index.match_block(Block.of_items(items, values)) for items in blocks)


def count_matches(compiled: Compiled, blocks: Sequence[Items]) -> int:
    return sum(found.count for found in matches(compiled.index, blocks))


def blurred_agree_with_plain(
    subscriptions: Sequence[Subscription], publications: Sequence[Publication]
) -> bool:
    """Whether the index says of a block what the plain matcher says, degrees included.

    >>> film = Publication(id="f", source="cinema", time=0, position=0, data={"year": 1990})
    >>> recent = Subscription(id="s", where="year > 1990")
    >>> blurred_agree_with_plain([recent], blurred([film]))
    True
    """
    scan, values = Scan(VOCABULARY), Values(VOCABULARY)
    for subscription in subscriptions:
        scan.add(subscription)
    expected = {
        (place, *match)
        for place, publication in enumerate(publications)
        for match in scan.match(values.of(publication))
    }
    (found,) = matches(Compiled.of(subscriptions).index, arrived(publications))
    columns = found.publications, found.subscriptions, found.possibility, found.necessity
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return expected == {
        (place, subscriptions[number].id, possibility, necessity)
        for place, number, possibility, necessity in rows
    }
