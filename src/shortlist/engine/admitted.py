"""Publications that were let in, and whom their publishers want to reach."""

from collections.abc import Collection
from typing import NamedTuple

from shortlist.engine.live import LiveRegistry
from shortlist.intake.lines import reread
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


def readmitted(
    matching: LiveRegistry,
    line: str,
    position: int,
    time: int,
    audience: int | None,
    advertisement: str | None,
    allowed: Collection[str] | None,
) -> Admitted:
    """A publication as it comes to a shard, with what was chosen for it elsewhere, if anything."""
    publication = reread(line, position, time)
    read = matching.read(publication)
    if advertisement is None:
        return Admitted(publication, read)
    assert audience is not None
    return Admitted(publication, read, Inducement(audience, advertisement), allowed or ())
