"""Requests by number, and who asks the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa

from shortlist.matching.blocks import Ints
from shortlist.matching.index.layers import Layered
from shortlist.matching.index.numbering import NOBODY, NumberTable
from shortlist.matching.index.terms import Request
from shortlist.matching.index.texts import Texts
from shortlist.model.subscription import Subscription

REMEMBERED = 4096
"""Saved requests that are not read from their texts again."""


@dataclass(frozen=True, slots=True)
class SavedRequests:
    """Requests as they are saved: as texts, and each number's place among them."""

    texts: Texts = field(default_factory=lambda: Texts.plain(()))
    places: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    table: NumberTable = field(default_factory=NumberTable)


class Requests:
    """What subscriptions ask, by number; of new ones only the subscription itself is kept.

    >>> from shortlist.matching.index.terms import Terms
    >>> from shortlist.model.settings import Limits
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> requests = Requests(Terms(Vocabulary(), Limits()).request)
    >>> requests.put(0, Subscription(id="s1", where="rent < 900"), sharer=NOBODY)
    >>> requests.find(requests[0]), requests[0].where
    (0, 'rent < 900')
    """

    def __init__(
        self, request_of: Callable[[Subscription], Request], saved: SavedRequests | None = None
    ) -> None:
        self._request_of = request_of
        self._saved = saved or SavedRequests()
        self._table = self._saved.table
        self._given: Layered[Request | Subscription] = Layered(
            self._saved.places.size, lru_cache(REMEMBERED)(self._saved_request)
        )

    def __len__(self) -> int:
        """With free numbers."""
        return len(self._given)

    @property
    def nbytes(self) -> int:
        """Without the texts."""
        arrays = self._table.entries, self._saved.places, self._saved.texts.offsets
        return self._given.nbytes + sum(array.nbytes for array in arrays)

    def __contains__(self, number: int) -> bool:
        return self._given[number] is not None

    def __getitem__(self, number: int) -> Request:
        given = self._given[number]
        assert given is not None
        return given if isinstance(given, Request) else self._request_of(given)

    def find(self, request: Request) -> int:
        """Someone who asks the same, or nobody."""
        return self._table.find(request.hash, lambda one: self[one] == request)

    def put(self, number: int, subscription: Subscription, sharer: int) -> None:
        """Notes what a subscription asks, given whom `find` found."""
        self._given[number] = subscription
        if sharer == NOBODY:
            self._table.put(number, self[number].hash)

    def drop(self, number: int, sharer: int) -> None:
        """Whoever asks the same will find a sharer in its place, if there is one."""
        was_found = self._table.drop(number, self[number].hash)
        self._given[number] = None
        if was_found and sharer != NOBODY and self.find(self[sharer]) == NOBODY:
            self._table.put(sharer, self[sharer].hash)

    def saved(self) -> SavedRequests:
        """With texts that are still used, new ones last."""
        old, new = self._saved, dict[Request, int]()
        places = np.append(old.places, np.zeros(len(self) - old.places.size, np.int32))
        for number, given in self._given.changes():
            places[number] = NOBODY
            if given is not None:
                places[number] = len(old.texts) + new.setdefault(self[number], len(new))
        used = np.unique(places[places != NOBODY])
        texts = pa.concat_arrays([old.texts.arrow(), Texts.plain(one.text for one in new).arrow()])
        places[places != NOBODY] = np.searchsorted(used, places[places != NOBODY])
        return SavedRequests(Texts.of_arrow(texts.take(pa.array(used))), places, self._table)

    def _saved_request(self, number: int) -> Request | None:
        place = self._saved.places.item(number)
        return None if place == NOBODY else Request.of_text(self._saved.texts[place])
