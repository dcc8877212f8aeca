"""Which subscriptions have a term in their query."""

import numpy as np

from shortlist.matching.arrays import Longs, with_length
from shortlist.matching.index.storage import Parts
from shortlist.scoring.kernels.cosines import Posted
from shortlist.scoring.numbers import Spans


class Postings:
    """For each term, known by a small number, the subscriptions that have it in their query.

    >>> postings = Postings()
    >>> postings.expect(1)
    >>> for subscription in (5, 3, 8):
    ...     postings.add(0, subscription, 1.0)
    >>> postings.remove(0, 5)
    >>> postings.arrays.subscriptions[postings.arrays.starts[0]:][:postings.arrays.counts[0]]
    array([8, 3], dtype=int32)
    """

    def __init__(self) -> None:
        self.arrays = Posted(
            np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1)
        )
        self._rooms = np.zeros(1, np.int32)
        self._spans = Spans()

    def expect(self, terms: int) -> None:
        """Numbers of terms are under this one, whether any subscription is listed there or not."""
        if terms <= self._rooms.size:
            return
        self._rooms = with_length(self._rooms, terms)
        self.arrays = self.arrays._replace(
            starts=with_length(self.arrays.starts, terms),
            counts=with_length(self.arrays.counts, terms),
        )

    def add(self, term: int, subscription: int, weight: float) -> None:
        if self.arrays.counts[term] == self._rooms[term]:
            self._move(term)
        starts, counts, subscriptions, weights = self.arrays
        place = starts[term] + counts[term]
        subscriptions[place], weights[place] = subscription, weight
        counts[term] += 1

    def remove(self, term: int, subscription: int) -> None:
        """The last one takes its place."""
        starts, counts, subscriptions, weights = self.arrays
        start, last = starts[term], starts[term] + counts[term] - 1
        place = start + np.argmax(subscriptions[start : last + 1] == subscription)
        subscriptions[place], weights[place] = subscriptions[last], weights[last]
        counts[term] -= 1
        if not counts[term]:
            self._spans.give_back(int(start), int(self._rooms[term]))
            self._rooms[term] = 0

    def renumber(self, places: Longs) -> None:
        """Gives subscriptions other numbers."""
        self.arrays.subscriptions[:] = places[self.arrays.subscriptions]

    def saved(self) -> Parts:
        spans = self._spans.saved()
        return {"arrays": self.arrays._asdict(), "rooms": self._rooms, "spans": spans}

    def load(self, saved: Parts) -> None:
        self.arrays, self._rooms = Posted(**saved["arrays"]), saved["rooms"]
        self._spans.load(saved["spans"])

    def _move(self, term: int) -> None:
        """To a place with twice the room, so that moving costs little in the long run."""
        start, count = int(self.arrays.starts[term]), int(self.arrays.counts[term])
        room = max(1, 2 * count)
        place = self._spans.take(room)
        self.arrays = self.arrays._replace(
            subscriptions=with_length(self.arrays.subscriptions, self._spans.end),
            weights=with_length(self.arrays.weights, self._spans.end),
        )
        for array in (self.arrays.subscriptions, self.arrays.weights):
            array[place : place + count] = array[start : start + count]
        self.arrays.starts[term] = place
        if count:
            self._spans.give_back(start, count)
        self._rooms[term] = room
