"""Which subscription a delivery is counted at."""

from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

from shortlist.covering.covers import exactly_covers
from shortlist.language.parser import parse_any_where
from shortlist.model.settings import UNLIMITED
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary


class Bucket(NamedTuple):
    """A subscription; `other` where it covers others, of which none that it covers matched."""

    subscription: str
    other: bool


class Buckets:
    """The subscriptions of one shortlist, each a bucket of its own.

    >>> films = Buckets([
    ...     Subscription(id="films"),
    ...     Subscription(id="dramas", where="genre = 'drama'"),
    ...     Subscription(id="recent", where="year > 2020")], Vocabulary())
    >>> films.of(["dramas", "films"])
    Bucket(subscription='dramas', other=False)
    >>> films.of(["films"])
    Bucket(subscription='films', other=True)
    >>> films.of(["dramas", "films", "recent"], named="recent").subscription
    'recent'
    >>> films.counts([films.of(["films"]), films.of(["dramas", "films"]), films.of(["films"])])
    [1, 2, 0]
    """

    def __init__(self, subscriptions: Iterable[Subscription], vocabulary: Vocabulary) -> None:
        wheres = {
            subscription.id: parse_any_where(subscription.where, vocabulary, UNLIMITED)
            for subscription in subscriptions
        }
        self._subscriptions = sorted(wheres)

        @cache
        def strictly_covers(general: str, special: str) -> bool:
            a, b = wheres[general], wheres[special]
            return exactly_covers(a, b, vocabulary) and not exactly_covers(b, a, vocabulary)

        self._strictly_covers = strictly_covers

    def of(self, matching: Collection[str], named: str | None = None) -> Bucket:
        """The bucket of a delivery that matched these subscriptions.

        Where several are most specific it is the one that the delivery names, else the smallest.
        """
        specific = [name for name in matching if not self._covers_any(name, matching)]
        subscription = named if named is not None and named in specific else min(specific)
        return self.bucket(subscription)

    def bucket(self, subscription: str) -> Bucket:
        return Bucket(subscription, self._covers_any(subscription, self._subscriptions))

    def counts(self, delivered: Iterable[Bucket]) -> list[int]:
        """Deliveries per bucket, in order of subscription id, zeros included."""
        counted = dict.fromkeys(map(self.bucket, self._subscriptions), 0)
        for bucket in delivered:
            counted[bucket] += 1
        return list(counted.values())

    def _covers_any(self, general: str, others: Iterable[str]) -> bool:
        return any(self._strictly_covers(general, other) for other in others if other != general)
