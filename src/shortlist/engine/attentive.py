"""Halves that a mirror can follow: they say what shortlists show, and when that may change."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.engine.admitted import Admitted
from shortlist.engine.bulk import BulkHalves
from shortlist.engine.departures import Reason
from shortlist.matching.blocks import Ints
from shortlist.matching.index.index import Index
from shortlist.model.policy import shows
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals
from shortlist.scoring.combined import Combined
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.contents import holders, shortlist_contents
from shortlist.selection.bank.offers import NEVER, Placements
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.kernels.arena import Records


class Held(NamedTuple):
    """A publication that is shown, or was delivered, and what may take it away."""

    publication: Publication
    subscription: str | None
    end: int = NEVER
    ending: Reason = "expired"
    """Why it leaves at its end."""
    push: int = NEVER
    """The match that pushes it out of a count window."""


Shown = dict[str, dict[int, Held]]
"""By shortlist, and by the publication's position."""


NOBODY: Ints = np.empty(0, np.int32)


class AttentiveSelecting(BankSelecting):
    """Also says which shortlists the last publications were offered to."""

    offered = NOBODY

    def publish(
        self, publications: Sequence[Publication], combined: Combined, sets: MatchSets
    ) -> Placements:
        self.offered = combined.shortlists
        return super().publish(publications, combined, sets)


class AttentiveHalves(BulkHalves):
    """Shortlists are known by id here."""

    selecting: AttentiveSelecting

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index | None) -> None:
        super().__init__(vocabulary, limits, index)
        self.selecting = AttentiveSelecting(self.subscriptions())

    def placed(self, block: Sequence[Admitted], found: Arrivals | None = None) -> Placements:
        self.selecting.offered = NOBODY
        return super().placed(block, found)

    def offered(self) -> set[str]:
        """The shortlists that the last publications came to."""
        return set(map(self._name, self.selecting.offered.tolist()))

    def holders(self, source: str, publication: str) -> set[str]:
        """The shortlists of which some policy holds a publication."""
        return set(map(self._name, holders(self.selecting, source, publication)))

    def shown(self, names: Iterable[str], now: int) -> Shown:
        """What those shortlists show that are live and show anything."""
        live = self.matching.roster.shortlists
        shown: Shown = {name: {} for name in names if name in live and shows(live[name].policy)}
        contents = shortlist_contents(self.selecting, map(self._number, shown), now)
        columns = (
            contents.places,
            contents.publications,
            contents.named,
            contents.ends,
            contents.pushes,
            contents.windowed,
        )
        for number, held, named, end, push, is_windowed in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            publication = self.selecting.publications[held]
            subscription = None if named < 0 else self.matching.subscription(named).id
            ending: Reason = "window" if is_windowed and publication.expiry != end else "expired"
            shown[self._name(number)][publication.position] = Held(
                publication, subscription, end, ending, push
            )
        return shown

    def delivered(self, placements: Placements) -> Iterator[tuple[str, Held]]:
        """Placements by shortlist."""
        columns = placements.places, placements.publications, placements.named
        for number, publication, named in zip(*(c.tolist() for c in columns), strict=True):
            subscription = self.matching.subscription(named).id
            held = Held(self.selecting.publications[publication], subscription)
            yield self._name(number), held

    def is_pushed_out(self, name: str, held: Held) -> bool:
        """Whether so many matches have come that it is not in its count window any more."""
        if held.push == NEVER:
            return False
        *_, last = self._heads(name)
        return bool(held.push <= last["matches"])

    def next_due(self, name: str) -> int:
        """When some policy of a shortlist has something to do, though nothing comes."""
        heads = self._heads(name)
        dues = [int(head["next_due"]) for head in heads if "next_due" in (head.dtype.names or ())]
        return min(dues, default=NEVER)

    def _heads(self, name: str) -> Iterator[Records]:
        """What a shortlist's policies have in mind, one after the other."""
        stages = self.selecting.stages[self._number(name)]
        for level, (kind, place) in zip(self.selecting.levels, stages, strict=False):
            yield level.banks[kind].arenas[0].heads[place]

    def _name(self, number: int) -> str:
        return self.shortlist(number).id

    def _number(self, name: str) -> int:
        return self.matching.shortlists.number(name)
