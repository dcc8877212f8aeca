"""One engine in the middle: what brokers have to deliver together."""

from collections.abc import Sequence
from dataclasses import replace

from shortlist.engine.engine import Engine, Result
from shortlist.model.command import Advertise, Item
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.overlay.strategies import Strategy

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
