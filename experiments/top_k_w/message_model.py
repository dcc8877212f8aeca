"""How many messages each routing strategy takes, by formula: nobody is simulated.

The formulas are those of Table 3 of the top-k/w paper. They count a matching publication once for
each subscription that it matches, though it travels only once to a broker of several.
"""

from dataclasses import dataclass
from math import log
from typing import NamedTuple


class Messages(NamedTuple):
    """Messages between brokers, by type."""

    subscribe: float = 0.0
    publish: float = 0.0
    deliver: float = 0.0
    update: float = 0.0

    @property
    def total(self) -> float:
        return sum(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the formulas take; the defaults are the paper's.

    >>> expected = Setting().messages()
    >>> f"{expected['covering'].total / 1e6:.2f} million"
    '2.10 million'
    """

    publications: float = 1e6
    subscriptions: float = 400
    brokers: float = 256
    updates: float = 1e4
    """Changes of thresholds, of all window subscriptions together; 0 for plain subscriptions."""
    matches: float = 385.0 * 400
    covering_probability: float = 0.5
    spreading_probability: float = 0.1
    degree: float = 3
    """Neighbours of a broker."""

    @property
    def height(self) -> float:
        """Hops between two brokers."""
        return log(self.brokers) / log(self.degree)

    def messages(self) -> dict[str, Messages]:
        """By the name of the strategy."""
        others = self.brokers - 1
        uncovered = 1 - self.covering_probability
        gossip = self.spreading_probability * self.brokers * self.publications
        return {
            "publication-flooding": Messages(publish=others * self.publications),
            "subscription-flooding": Messages(
                subscribe=self.subscriptions * others,
                deliver=self.matches,
                update=self.updates * others,
            ),
            "covering": Messages(
                subscribe=uncovered * self.subscriptions * others,
                deliver=self.matches * self.height,
                update=uncovered * self.updates * others,
            ),
            "rendezvous": Messages(
                subscribe=self.subscriptions * self.height,
                publish=self.publications * self.height,
                deliver=self.matches,
                update=self.degree * self.updates,
            ),
            "basic-gossip": Messages(publish=gossip),
            "informed-gossip": Messages(
                subscribe=self.degree * self.subscriptions,
                publish=gossip,
                update=self.degree * self.updates,
            ),
        }
