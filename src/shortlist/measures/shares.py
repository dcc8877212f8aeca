"""Whether the subscriptions of a shortlist can have equal shares of what it delivers."""

from typing import NamedTuple


class Rates(NamedTuple):
    """From the least rate that lets every subscription have something to the largest that lets the
    rarest one keep up."""

    least: float
    largest: float


def equal_share_rates(matches: int, delivered: int, matches_of_each: list[int]) -> Rates:
    """Of a shortlist with so many matches, deliveries, and matches of each subscription.

    >>> equal_share_rates(1000, 200, [700, 250, 50])
    Rates(least=0.015, largest=0.15000000000000002)
    """
    members = len(matches_of_each)
    return Rates(members / max(delivered, 1), members * min(matches_of_each) / max(matches, 1))
