"""The two gossips: publications are passed on to a few neighbours by chance, for some rounds."""

import hashlib
from collections.abc import Collection
from dataclasses import replace
from random import Random

import numpy as np

from shortlist.model.registry import Registry
from shortlist.overlay.broker import Broker, Options, Place
from shortlist.overlay.messages import Proxies, Publications, Send


class Gossip(Broker):
    """Whoever hears a publication first passes it on to `fan_out` neighbours.

    An informed one knows the subscriptions of its neighbours too, and passes on what they want
    whatever chance says. What chance says follows from the seed, the broker and the publication.
    """

    def __init__(
        self, place: Place, registry: Registry, options: Options, *, is_informed: bool
    ) -> None:
        super().__init__(place, registry, options)
        self._is_informed = is_informed
        self._network = options.network

    def _announce(self, news: Proxies) -> list[Send]:
        if not self._is_informed:
            return []
        return [Send(name, news) for name in self._place.neighbours]

    def _hear(self, sender: str, message: Proxies, hop: int) -> list[Send]:
        return self._learn(sender, message, hop)

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        self._local.take(message.items)
        if sender is None:
            message = replace(message, rounds=self._network.rounds)
        known = () if sender is None else (sender,)
        sends = self._pass_on(message, known, hop)
        has = {(send.to, position) for send in sends for position in _positions(send)}
        return sends + self._spread(message, has, known, hop)

    def _spread(
        self,
        message: Publications,
        has: Collection[tuple[str, int]],
        known: Collection[str],
        hop: int,
    ) -> list[Send]:
        """By chance, to some who do not have them already."""
        if message.rounds == 0:
            return []
        positions = message.items.positions.tolist()
        picked = [self._picked(position, known) for position in positions]
        sends = []
        for name in self._place.neighbours:
            goes = np.array(
                [
                    name in some and (name, position) not in has
                    for position, some in zip(positions, picked, strict=True)
                ],
                np.bool_,
            )
            if goes.any():
                items = message.items.kept(goes)
                onward = replace(message, items=items, kind="publish", rounds=message.rounds - 1)
                sends.append(Send(name, onward, hop + 1))
        return sends

    def _picked(self, position: int, known: Collection[str]) -> list[str]:
        others = [name for name in self._place.neighbours if name not in known]
        digest = hashlib.sha256(f"{self._network.seed} {self.name} {position}".encode()).digest()
        chance = Random(int.from_bytes(digest[:8]))
        return chance.sample(others, min(self._network.fan_out, len(others)))


def _positions(send: Send) -> list[int]:
    message = send.message
    return message.items.positions.tolist() if isinstance(message, Publications) else []
