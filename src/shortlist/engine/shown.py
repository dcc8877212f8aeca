"""What the shortlists of a shard show, and when that may change."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from shortlist.engine.departures import Reason
from shortlist.engine.shard import Shard
from shortlist.model.policy import shows
from shortlist.model.publication import Publication
from shortlist.selection.bank.contents import holders, shortlist_contents, showing
from shortlist.selection.bank.offers import NEVER, Placements
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


class Showing:
    """What the shortlists of a shard show, and when that may change; they are known by id here."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def offered(self) -> set[str]:
        """The shortlists that the last publications came to."""
        return set(map(self._name, self._shard.offered.tolist()))

    def holders(self, source: str, publication: str) -> set[str]:
        """The shortlists of which some policy holds a publication."""
        return set(map(self._name, holders(self._shard.selecting, source, publication)))

    def shown(self, names: Iterable[str], now: int) -> Shown:
        """What those shortlists show that are live and show anything, but for what waits."""
        live = self._shard.matching.roster.shortlists
        shown: Shown = {name: {} for name in names if name in live and shows(live[name].policy)}
        contents = shortlist_contents(
            self._shard.selecting, map(self._number, shown), now, with_waiting=False
        )
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
            publication = self._shard.selecting.publications[held]
            subscription = None if named < 0 else self._shard.matching.names[named]
            ending: Reason = "window" if is_windowed and publication.expiry != end else "expired"
            shown[self._name(number)][publication.position] = Held(
                publication, subscription, end, ending, push
            )
        return shown

    def delivered(self, placements: Placements) -> Iterator[tuple[str, Held]]:
        """Placements by shortlist."""
        columns = placements.places, placements.publications, placements.named
        for number, publication, named in zip(*(c.tolist() for c in columns), strict=True):
            subscription = self._shard.matching.names[named]
            held = Held(self._shard.selecting.publications[publication], subscription)
            yield self._name(number), held

    def is_pushed_out(self, name: str, held: Held) -> bool:
        """Whether so many matches have come that it is not in its count window any more."""
        if held.push == NEVER:
            return False
        (depth, _), *_ = showing(self._shard.selecting.stages(self._number(name)))
        return bool(held.push <= [*self._heads(name)][depth]["matches"])

    def next_due(self, name: str) -> int:
        """When some policy of a shortlist has something to do, though nothing comes."""
        heads = self._heads(name)
        dues = [int(head["next_due"]) for head in heads if "next_due" in (head.dtype.names or ())]
        return min(dues, default=NEVER)

    def _heads(self, name: str) -> Iterator[Records]:
        """What a shortlist's policies have in mind, one after the other."""
        stages = self._shard.selecting.stages(self._number(name))
        for level, (kind, place) in zip(self._shard.selecting.levels, stages, strict=False):
            yield level.banks[kind].arenas[0].heads[place]

    def _name(self, number: int) -> str:
        return self._shard.names[number]

    def _number(self, name: str) -> int:
        return self._shard.matching.shortlists.number(name)
