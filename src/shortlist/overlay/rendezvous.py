"""Rendezvous: publications and the subscriptions that they can match meet at one broker.

The attribute space is cut into cells, and each cell is a broker's. A subscription is registered
where it may match something, a publication goes to the broker of its cell.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import isfinite
from typing import NamedTuple

import numpy as np

from shortlist.covering.conjunctions import cases
from shortlist.covering.covers import implied, where_intersects
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import And, Comparison, Exists, Or, Where
from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.paths import Path
from shortlist.model.registry import Registry
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.broker import Broker, Options, Place
from shortlist.overlay.messages import Proxies, Publications, Send

ABSENT = -1
"""The cell, along an axis, of publications that do not have the attribute."""


class GridAxis(NamedTuple):
    """An attribute, and the numbers at which its cells begin, ascending."""

    path: Path
    cuts: tuple[float, ...]

    @property
    def cells(self) -> range:
        return range(ABSENT, len(self.cuts) + 1)

    def of_value(self, value: object) -> Sequence[int]:
        """The cells that somebody may look for a value in.

        >>> axis = GridAxis(("rent",), (500.0, 900.0))
        >>> axis.of_value(700.0), axis.of_value(None), axis.of_value("free")
        ((1,), (-1,), range(-1, 3))
        """
        if value is None:
            return (ABSENT,)
        if isinstance(value, float) and isfinite(value):
            return (bisect_right(self.cuts, value),)
        return self.cells  # fuzzy, of another type, or several values

    def of_condition(self, where: Where | None, vocabulary: Vocabulary) -> list[int]:
        """The cells that something which meets a condition may be looked for in.

        >>> from shortlist.language.parser import parse_where
        >>> axis = GridAxis(("rent",), (500.0, 900.0))
        >>> axis.of_condition(parse_where("rent > 700"), Vocabulary())
        [1, 2]
        """
        alternatives = [
            [member for member in members if _path(member) == self.path] for members in cases(where)
        ]
        found = [
            cell
            for cell in self.cells
            if any(self._may_hold(cell, members, vocabulary) for members in alternatives)
        ]
        return found or [ABSENT]  # of another type than number: looked for in all cells

    def _may_hold(self, cell: int, members: Sequence[Where], vocabulary: Vocabulary) -> bool:
        asks = [member for member in members if not isinstance(member, Exists)]
        if cell == ABSENT or not asks:
            return not asks
        space: list[Where] = []
        if cell > 0:
            space.append(Comparison(self.path, ">=", self.cuts[cell - 1]))
        if cell < len(self.cuts):
            space.append(Comparison(self.path, "<", self.cuts[cell]))
        both = And((*asks, *space))
        return where_intersects(both, None, vocabulary, crisp_values_only=True)


class Rendezvous(Broker):
    """Subscriptions and publications travel to the brokers of their cells; from there publications
    go straight to those who want them."""

    sends_directly = True

    def __init__(self, place: Place, registry: Registry, options: Options) -> None:
        super().__init__(place, registry, options)
        self._axes, brokers = options.network.axes, options.brokers
        cells = product(*(axis.cells for axis in self._axes))
        self._brokers = {cell: brokers[n % len(brokers)] for n, cell in enumerate(cells)}
        """By cell of the attribute space; they are dealt out in turn."""
        self._values = Values(registry.vocabulary)
        self._registered: dict[str, tuple[str, ...]] = {}
        """Where each local subscription is known."""

    def _announce(self, news: Proxies) -> list[Send]:
        gone = {name: self._registered.pop(name) for name in news.dropped}
        for proxy in news.put:
            self._registered[proxy.id] = self._of_subscription(proxy.subscription)
        at = gone | {each.id: self._registered[each.id] for each in (*news.put, *news.updated)}
        to = dict.fromkeys(broker for brokers in at.values() for broker in brokers)
        to.pop(self.name, None)
        return [
            self._routed(
                Proxies(
                    home=self.name,
                    put=tuple(each for each in news.put if broker in at[each.id]),
                    updated=tuple(each for each in news.updated if broker in at[each.id]),
                    dropped=tuple(name for name in gone if broker in at[name]),
                    to=broker,
                ),
                0,
            )
            for broker in to
        ]

    def _hear(self, sender: str, message: Proxies, hop: int) -> list[Send]:
        return self._learn(message.home, message, hop)

    def _arrived(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        """What comes to its cell here may have been delivered here by another of its cells: others
        still have to get it from this one."""
        positions = message.items.positions.tolist()
        is_known = np.array([position in self._seen for position in positions], np.bool_)
        sends = super()._arrived(sender, message, hop)
        if message.kind == "publish" and is_known.any():
            sends += self._meet(replace(message, items=message.items.kept(is_known)), hop)
        return sends

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        self._local.take(message.items)
        if message.kind == "deliver":
            return []
        sends: list[Send] = []
        if sender is None:
            block = Block.of_items(message.items, self._values)
            at = [self._of_publication(block, place) for place in range(block.size)]
            for broker in dict.fromkeys(broker for brokers in at for broker in brokers):
                is_here = np.array([broker in brokers for brokers in at], np.bool_)
                some = replace(message, items=message.items.kept(is_here))
                sends += (
                    self._meet(some, hop)
                    if broker == self.name
                    else [self._routed(replace(some, to=broker), hop)]
                )
            return sends
        return self._meet(message, hop)

    def _of_subscription(self, subscription: Subscription) -> tuple[str, ...]:
        """The brokers that have to know it."""
        where = parse_any_where(subscription.where, self._vocabulary, self._options.limits)
        asked = implied(where, subscription.norm)
        return self._at(*(axis.of_condition(asked, self._vocabulary) for axis in self._axes))

    def _of_publication(self, block: Block, place: int) -> tuple[str, ...]:
        """The brokers that it has to come to."""
        return self._at(*(axis.of_value(block.value(place, axis.path)) for axis in self._axes))

    def _at(self, *cells: Sequence[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._brokers[cell] for cell in product(*cells)))

    def _meet(self, message: Publications, hop: int) -> list[Send]:
        """Publications are at the broker of one of their cells."""
        return self._pass_on(message, {self.name, message.origin}, hop)

    def _routed(self, message: Proxies | Publications, hop: int) -> Send:
        assert message.to is not None
        return Send(self._place.next_hops[message.to], message, hop + 1)


def _path(predicate: Where) -> Path | None:
    return None if isinstance(predicate, And | Or) else predicate.path
