"""A registry: everything that stands before the first publication."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shortlist.model.advertisement import Advertisement
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Vocabulary, shortlists, subscriptions and advertisements, already checked.

    >>> Registry().subscriptions
    ()
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    shortlists: tuple[Shortlist, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    advertisements: tuple[Advertisement, ...] = ()

    @property
    def every_shortlist(self) -> list[Shortlist]:
        """Those that subscriptions own, too."""
        own = (subscription.own_shortlist() for subscription in self.subscriptions)
        return [*self.shortlists, *(each for each in own if each is not None)]


class Live(NamedTuple):
    """The nouns of a registry that commands change, by id."""

    shortlists: MutableMapping[str, Shortlist]
    """Those that subscriptions own, too."""
    subscriptions: MutableMapping[str, Subscription]
    members: MutableMapping[str, dict[str, None]]
    """The subscriptions of shortlists, in order of arrival; whoever changes some puts them back."""

    @classmethod
    def nobody(cls) -> "Live":
        return cls({}, {}, {})
