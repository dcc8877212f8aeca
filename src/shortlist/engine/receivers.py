"""Who receives: shortlists and whose they are, by number, as deliveries want them."""

import numpy as np

from shortlist.engine.delivering import Receiving
from shortlist.engine.delivery_ids import shortlist_texts
from shortlist.engine.kernels.sha256 import Texts as Hashed
from shortlist.matching.blocks import Ints
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.texts import Texts


class Receivers:
    """Shortlists that somebody names, and their subscribers.

    >>> receivers = Receivers(NameColumn(Texts.plain(["flats", "jobs"])), None)
    >>> receivers.put(0, "Ada"), receivers.put(1, "Bo")
    (None, None)
    >>> receivers.of(np.array([1, 1])).subscribers.to_pylist()
    ['Ada', 'Bo']
    """

    def __init__(self, names: NameColumn, subscribers: Texts | None) -> None:
        self._names = names
        self._subscribers = NameColumn(subscribers)
        self._hashed: Hashed | None = None
        """All ids of shortlists, ready for those of deliveries."""

    def put(self, number: int, subscriber: str) -> None:
        """A shortlist is somebody's from now on."""
        self._subscribers.put(number, subscriber)
        self._hashed = None

    def of(self, numbers: Ints) -> Receiving:
        """Those of deliveries, by number: all there are, or only these if they are few."""
        if self._names.is_cheap(numbers.size):
            if self._hashed is None:
                self._hashed = shortlist_texts(self._names.column().fill_null(""))
            columns = self._names.column(), self._subscribers.column()
            return Receiving(*columns, self._hashed, numbers)
        who, places = np.unique(numbers, return_inverse=True)
        ids = self._names.taken(who)
        return Receiving(ids, self._subscribers.taken(who), shortlist_texts(ids), places)
