"""The publications that shortlists hold, by number."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.publication import Publication
from shortlist.selection.bank.arena import Arena, sweep
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.bank.tables import grown
from shortlist.selection.kernels.arena import Records

FACTS = np.dtype([("time", "i8"), ("expiry", "i8"), ("serial", "i8"), ("is_saved", "?")])
LEAST = 8192
"""So many may be held by nobody before that is looked into."""


class Publications:
    """What appears later has a larger number. Numbers change when others are forgotten; serial
    numbers do not.

    >>> known = Publications()
    >>> flats = [Publication(id=name, source="ads", time=0, position=n)
    ...          for n, name in enumerate("ab")]
    >>> known.add(flats)
    0
    >>> known[1].id
    'b'
    """

    def __init__(self) -> None:
        self._known: list[Publication] = []
        self._facts: Records = np.zeros(64, FACTS)
        self._serials = 0
        self._most = LEAST
        self._names: defaultdict[tuple[str, str], list[int]] | None = None

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, number: int) -> Publication:
        return self._known[number]

    @property
    def facts(self) -> Records:
        """What policies ask of publications, by number: a view."""
        return self._facts[: len(self._known)]

    def add(self, some: Sequence[Publication]) -> int:
        """Takes publications in that appear after all others; the number of the first."""
        first, end = len(self._known), len(self._known) + len(some)
        self._known += some
        if self._names is not None:
            self._name(first)
        self._facts = grown(self._facts, end)
        facts = self._facts[first:end]
        facts["time"] = [publication.time for publication in some]
        facts["expiry"] = [
            NEVER if publication.expiry is None else publication.expiry for publication in some
        ]
        facts["serial"] = np.arange(self._serials, self._serials + len(some))
        facts["is_saved"] = False
        self._serials += len(some)
        return first

    def named(self, source: str, name: str) -> list[int]:
        """The numbers of all that have an id; nothing is kept of ids before this is asked for."""
        if self._names is None:
            self._names = defaultdict(list)
            self._name(0)
        return self._names.get((source, name), [])

    def numbers(self, serials: Longs) -> Longs:
        """The numbers that publications have now."""
        return np.searchsorted(self.facts["serial"], serials)

    def restore(self, some: Sequence[Publication], serials: Longs, following: int) -> None:
        """Takes publications back in that were saved, later than all that are known."""
        first = self.add(some)
        self.facts["serial"][first:] = serials
        self.facts["is_saved"][first:] = True
        self._serials = following

    def _name(self, first: int) -> None:
        """Writes down who publications are, from one on."""
        assert self._names is not None
        for number, publication in enumerate(self._known[first:], start=first):
            self._names[publication.source, publication.id].append(number)

    @property
    def serials(self) -> int:
        """How many were ever taken in."""
        return self._serials

    @property
    def is_worth_sweeping(self) -> bool:
        return len(self._known) >= self._most

    def sweep(self, arenas: Iterable[Arena]) -> None:
        """Forgets those that no arena holds, and renumbers the rest in all of them."""
        kept = sweep(arenas, "publication", len(self._known))
        self._known = [self._known[number] for number in kept.tolist()]
        self._facts[: kept.size] = self._facts[kept]
        self._names = None
        self._most = max(LEAST, 2 * kept.size)
