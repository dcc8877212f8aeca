"""One engine in the middle: what brokers have to deliver together, and what they take."""

from collections.abc import Sequence
from dataclasses import replace

from shortlist.engine.engine import Engine, Result
from shortlist.model.command import Advertise, Define, Item, Open, Retract, Subscribe, Update
from shortlist.model.policy import Novelty
from shortlist.model.problem import ShortlistError
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.wording import shown
from shortlist.overlay.strategies import STRATEGIES, Strategy
from shortlist.overlay.topology import Topology

MANY = 2**31 - 1
"""A k that everybody is within."""


def central(
    registry: Registry,
    items: Sequence[Item],
    strategy: Strategy,
    settings: Settings | None = None,
) -> Result:
    """What an engine makes of an input; it takes what the strategy takes.

    A strategy that keeps to no publisher's k is measured by what comes of it without any k.
    """
    settings = admitting(strategy, settings or Settings())
    if not strategy.has_audience:
        every = tuple(replace(made, k=MANY) for made in registry.advertisements)
        registry = replace(registry, advertisements=every)
        items = [_reaching_all(item) for item in items]
    return Engine(registry, settings).process(items, last=True)


def admitting(strategy: Strategy, settings: Settings) -> Settings:
    """Where subscriptions travel towards advertisements, nobody publishes without one."""
    return replace(settings, advertised="required") if strategy.is_advertised else settings


def _reaching_all(item: Item) -> Item:
    if isinstance(item, Publication):
        return replace(item, audience=None)
    if isinstance(item, Advertise):
        return replace(item, advertisement=replace(item.advertisement, k=MANY))
    return item


class NotRoutable(ShortlistError):
    """An input that a strategy cannot take."""


def check_taken(registry: Registry, items: Sequence[Item], strategy: Strategy) -> None:
    """Raises `NotRoutable` for what brokers do not take, or not by this strategy."""
    for item in items:
        if isinstance(item, Update | Retract | Define):
            kind = type(item).__name__.lower()
            raise NotRoutable(f"brokers take no command {kind}, found one at {item.position}")
        if isinstance(item, Publication) and item.replaces is not None:
            raise NotRoutable(f"brokers take no `replaces`, found one at {item.position}")
    if not strategy.is_advertised and (
        registry.advertisements or any(isinstance(item, Advertise) for item in items)
    ):
        able = ", ".join(name for name, each in STRATEGIES.items() if each.is_advertised)
        raise NotRoutable(
            f"{strategy.name}: expected no advertisements, since it keeps to no publisher's k; "
            f"found some. These can: {able}"
        )


def ever(registry: Registry, items: Sequence[Item]) -> Registry:
    """With all shortlists and subscriptions that items will make."""
    opened = (item.shortlist for item in items if isinstance(item, Open))
    made = (item.subscription for item in items if isinstance(item, Subscribe))
    return replace(
        registry,
        shortlists=(*registry.shortlists, *opened),
        subscriptions=(*registry.subscriptions, *made),
    )


def split_shortlists(
    topology: Topology, registry: Registry, items: Sequence[Item], strategy: Strategy
) -> frozenset[str]:
    """The shortlists with a subscription that the topology places by itself.

    Only those can be split that count novelty, and only where no publisher's k counts shortlists.
    """
    known = ever(registry, items)
    shortlists, held = known.every_shortlist, topology.subscriptions
    placed = {each.shortlist_id: each for each in known.subscriptions if each.id in held}
    if not placed:
        return frozenset()
    if strategy.has_audience:
        raise NotRoutable(
            f"{strategy.name}: expected subscriptions at the brokers of their shortlists, since it "
            f"keeps to a publisher's k; found {shown(next(iter(placed.values())).id)} elsewhere"
        )
    for each in shortlists:
        if each.id in placed and not isinstance(each.policy, Novelty):
            raise NotRoutable(
                f"subscriptions: {placed[each.id].id}: expected one of a shortlist with the policy "
                f"novelty, found {each.policy.kind}"
            )
    names = {each.id for each in shortlists}
    for member in known.subscriptions:
        if member.shortlist is not None and member.shortlist in placed and member.id in names:
            raise NotRoutable(
                f"subscriptions: {member.id}: expected a name that no shortlist has, since "
                f"{shown(member.shortlist)} is split; found a shortlist of that name"
            )
    return frozenset(placed)
