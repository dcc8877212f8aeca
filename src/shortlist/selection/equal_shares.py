"""Budgets under which the subscriptions of a shortlist can have equal shares."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Rates(NamedTuple):
    """From the least rate that lets every subscription have something to the largest that lets the
    rarest one keep up."""

    least: float
    largest: float


def equal_share_rates(matches: int, delivered: int, matches_of_each: list[int]) -> Rates:
    """Of a shortlist with so many matches, deliveries, and matches of each subscription.

    >>> equal_share_rates(1000, 200, [700, 250, 50])
    Rates(least=0.015, largest=0.15)
    """
    members = len(matches_of_each)
    return Rates(members / max(delivered, 1), members * min(matches_of_each) / max(matches, 1))


def rate_warnings(
    rate: float, matches: int, delivered: int, matches_of: Mapping[str, int]
) -> Iterator[str]:
    """What is wrong with the rate of a shortlist, if anything is."""
    least, largest = equal_share_rates(matches, delivered, [*matches_of.values()])
    shares = f"equal shares of its {len(matches_of)} subscriptions"
    if rate > largest:
        rarest = min(matches_of, key=lambda name: (matches_of[name], name))
        yield (
            f"rate {rate:g} is too high for {shares}: expected at most {largest:.3g}, "
            f"since {rarest!r} has {matches_of[rarest]:,} of {matches:,} matches"
        )
    elif rate < least:
        yield (
            f"rate {rate:g} is too low for {shares}: "
            f"expected at least {least:.3g} after {delivered:,} deliveries"
        )
