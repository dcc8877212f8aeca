"""A registry: everything that stands before the first publication."""

from dataclasses import dataclass, field

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
