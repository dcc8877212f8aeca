"""What banks may ask about the numbers that come to them."""

from collections.abc import Callable
from typing import NamedTuple

from shortlist.matching.blocks import Longs
from shortlist.selection.bank.kept_sets import KeptSets
from shortlist.selection.bank.publications import Publications


class Subscriptions(NamedTuple):
    """Who the numbers of live subscriptions stand for."""

    refreshes: Callable[[], Longs]
    """By number, `UNSET` for those without."""
    name: Callable[[int], str]
    number: Callable[[str], int]


class World(NamedTuple):
    """All that numbers stand for; what chained shortlists matched is in `sets`."""

    publications: Publications
    subscriptions: Subscriptions
    sets: KeptSets
