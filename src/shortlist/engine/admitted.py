"""Publications that were let in, and whom their publishers want to reach."""

from collections.abc import Collection
from typing import NamedTuple

from shortlist.matching.values import Reader
from shortlist.model.publication import Publication
from shortlist.selection.audience import Inducement


class Admitted(NamedTuple):
    """A publication that is to be matched."""

    publication: Publication
    read: Reader
    inducement: Inducement | None = None
    """What the publisher's advertisements say of it."""
    allowed: Collection[str] | None = None
    """The shortlists that were chosen for it, where that was done elsewhere."""
