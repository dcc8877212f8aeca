"""What comes to policies and what they let through, as columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.arrays import Bools, Floats, Ints, Longs

NEVER = 2**62
"""An instant that does not come."""


class Offers(NamedTuple):
    """Publications that come to shortlists which match them and were chosen for them.

    Those of one place stand together, in the order in which they come.
    """

    places: Ints
    """Of the shortlists, in their bank."""
    times: Longs
    """When they come: of a policy that stands first, when they appeared."""
    publications: Ints
    """Their numbers: what appears later has a larger one."""
    appeared: Longs
    expiries: Longs
    """`NEVER` for those without."""
    scores: Floats
    named: Ints
    """The numbers of the subscriptions that a delivery would name."""
    possibilities: Floats
    necessities: Floats
    refreshes: Longs
    """Of the named subscriptions, `UNSET` for those without."""
    matched: Ints
    """The numbers of the sets of matching subscriptions, or `ALONE`."""

    def kept(self, which: Bools | Longs | slice) -> "Offers":
        return Offers._make(column[which] for column in self)

    def aligned(self) -> "Offers":
        """The same as kernels want them."""
        columns = zip(self, NO_OFFERS, strict=True)
        return Offers._make(np.require(each, like.dtype, ["C", "W"]) for each, like in columns)

    def placed(self, which: Bools | Longs, ranks: Ints | None = None) -> "Placements":
        """Some of them, as they come; without ranks, they have none."""
        shared = {name: getattr(self, name)[which] for name in SHARED}
        size = shared["places"].size
        ranks = np.zeros(size, np.int32) if ranks is None else ranks
        return Placements(**shared, ranks=ranks, promoted=np.zeros(size, np.bool_))


class Placements(NamedTuple):
    """Publications that enter shortlists: of one place, in the order in which they do."""

    places: Ints
    times: Longs
    publications: Ints
    scores: Floats
    named: Ints
    possibilities: Floats
    necessities: Floats
    ranks: Ints
    """0 where the policy does not rank."""
    promoted: Bools
    matched: Ints

    def kept(self, which: Bools | Longs | slice) -> "Placements":
        return Placements._make(column[which] for column in self)

    @classmethod
    def joined(cls, some: Sequence["Placements"]) -> "Placements":
        """At least one."""
        full = [each for each in some if each.places.size]
        if len(full) <= 1:  # most commands place nothing
            return full[0] if full else some[0]
        return cls._make(np.concatenate(columns) for columns in zip(*full, strict=True))


SHARED = [name for name in Placements._fields if name in Offers._fields]


def _empty(kinds: str) -> list[Any]:
    return [np.empty(0, kind) for kind in kinds.split()]


NO_OFFERS = Offers(*_empty("i4 i8 i4 i8 i8 f8 i4 f8 f8 i8 i4"))
NO_PLACEMENTS = Placements(*_empty("i4 i8 i4 f8 i4 f8 f8 i4 ? i4"))
