"""The routing strategies by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from shortlist.covering.conjunctions import cases
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Between, Comparison
from shortlist.model.paths import CONTEXT, Path
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED
from shortlist.overlay.broker import Broker, Options, Place
from shortlist.overlay.covering_broker import Audience, Covering, MakeRule
from shortlist.overlay.flooding import PublicationFlooding, SubscriptionFlooding
from shortlist.overlay.frontier import Everyone, RankUncovered, Uncovered
from shortlist.overlay.gossip import Gossip
from shortlist.overlay.rendezvous import GridAxis, Rendezvous

CELLS = 16
"""Cells of the attribute space, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How publications find those who want them."""

    name: str
    make: Callable[[Place, Registry, Options], Broker]
    is_advertised: bool = False
    """Whether publishers have to advertise, and subscriptions travel only towards them."""
    has_audience: bool = False
    """Whether a publisher's k is kept to."""
    has_proxies: bool = True
    """Whether brokers know subscriptions of others, and so their thresholds."""
    takes_all_links: bool = False
    """Whether it uses links that a tree does not need."""


def _audience(name: str, rule: MakeRule) -> Strategy:
    make = partial(Audience, make_rule=rule)
    return Strategy(name, make, is_advertised=True, has_audience=True)


def _gossip(name: str, *, is_informed: bool) -> Strategy:
    make = partial(Gossip, is_informed=is_informed)
    return Strategy(name, make, has_proxies=is_informed, takes_all_links=True)


_EVERY = (
    Strategy("publication-flooding", PublicationFlooding, has_proxies=False),
    Strategy("subscription-flooding", SubscriptionFlooding),
    Strategy("covering", Covering),
    Strategy("rendezvous", Rendezvous),
    _gossip("basic-gossip", is_informed=False),
    _gossip("informed-gossip", is_informed=True),
    Strategy(
        "regular-cover",
        partial(Covering, make_rule=partial(Uncovered, is_advertised=True)),
        is_advertised=True,
    ),
    _audience("regular-k", Everyone),
    _audience("rank-cover-k", partial(RankUncovered, by_depth=True)),
    _audience("ancestor-cover-k", partial(RankUncovered, by_depth=False)),
)
STRATEGIES: Mapping[str, Strategy] = {strategy.name: strategy for strategy in _EVERY}


def likely_axes(registry: Registry, cells: int = CELLS) -> tuple[GridAxis, ...]:
    """The number that most conditions ask for, cut where about as many of its ranges end.

    >>> from shortlist.intake.files import registry_from_documents
    >>> some = [{"id": f"s{n}", "where": f"rent between {n} and {n + 10}"} for n in range(40)]
    >>> [axis] = likely_axes(registry_from_documents({"subscriptions": some}), cells=4)
    >>> axis.path, len(axis.cuts)
    (('rent',), 3)
    """
    ends: dict[Path, list[float]] = {}
    for subscription in registry.subscriptions:
        where = parse_any_where(subscription.where, registry.vocabulary, UNLIMITED)
        for member in (member for members in cases(where) for member in members):
            for path, end in _ends(member):
                ends.setdefault(path, []).append(end)
    if not ends:
        return ()
    path = max(sorted(ends), key=lambda path: len(ends[path]))
    cuts = np.quantile(ends[path], np.linspace(0, 1, cells + 1)[1:-1])
    return (GridAxis(path, tuple(np.unique(cuts).tolist())),)


def _ends(member: object) -> list[tuple[Path, float]]:
    match member:
        case Comparison(path, _, float(value)) if path not in CONTEXT:
            return [(path, value)]
        case Between(path, float(low), float(high)) if path not in CONTEXT:
            return [(path, low), (path, high)]
    return []
