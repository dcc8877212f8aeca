"""Live nouns with some of their fields changed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from shortlist.intake.documents import SHORTLIST, SUBSCRIPTION, Documents, Kind, without_nulls
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

Changes = Mapping[str, Any]
"""Fields as documents have them; null for the default."""


class Updated(NamedTuple):
    """A subscription, a shortlist, or a subscription with the shortlist that it owns."""

    subscription: Subscription | None
    shortlist: Shortlist | None


def updated(live: Subscription | Shortlist, changes: Changes) -> Updated:
    """What changes make of a noun, if there is no problem with them.

    >>> live = Subscription(id="s", where="rent < 900", score=0.5)
    >>> made = updated(live, {"score": None, "policy": {"kind": "top-k", "k": 3}})
    >>> made.subscription.where, made.subscription.score, made.shortlist.policy.k
    ('rent < 900', None, 3)
    """
    kind, document = _merged(live, changes)
    if kind == "shortlist":
        return Updated(None, SHORTLIST.validate_python(without_nulls(document)))
    subscription = SUBSCRIPTION.validate_python(without_nulls(document))
    return Updated(subscription, subscription.own_shortlist())


def update_problems(
    live: Subscription | Shortlist, changes: Changes, vocabulary: Vocabulary, limits: Limits
) -> str | None:
    """What is wrong with a noun once it is changed; None if nothing is."""
    documents = Documents(vocabulary, limits)
    documents.read(*_merged(live, changes))
    return "; ".join(map(str, documents.problems)) or None


def _merged(live: Subscription | Shortlist, changes: Changes) -> tuple[Kind, dict[str, Any]]:
    if isinstance(live, Shortlist):
        return "shortlist", {**SHORTLIST.dump_python(live, mode="json"), **changes}
    return "subscription", {**SUBSCRIPTION.dump_python(live, mode="json"), **changes}
