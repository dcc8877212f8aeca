"""The network of the rank-cover paper: brokers in a chain, and intervals that edges ask for."""

import numpy as np

from shortlist.covering.condition_graph import Boxes
from shortlist.model.advertisement import Advertisement
from shortlist.model.registry import Registry
from shortlist.model.subscription import Subscription
from shortlist.overlay.topology import Topology, chain


def interval_network(ranges: Boxes, k: int) -> tuple[Topology, Registry]:
    """The rank-cover paper's network: intervals of one attribute `x` spread over the edges of a
    chain of brokers, and a publisher `p` at the first edge that wants the k widest.

    >>> from shortlist.overlay.cover_shares import drawn_intervals
    >>> network, registry = interval_network(drawn_intervals(100), k=10)
    >>> len(network.brokers), registry.advertisements[0].k
    (60, 10)
    """
    plain = chain()
    ends = np.hstack([ranges.lows, ranges.highs]).tolist()
    subscriptions = tuple(
        Subscription(id=f"s{n}", where=f"x between {low!r} and {high!r}")
        for n, (low, high) in enumerate(ends)
    )
    edges = plain.edges
    homes = {each.id: edges[n % len(edges)] for n, each in enumerate(subscriptions)}
    network = Topology(plain.brokers, plain.links, {"p": edges[0]}, homes)
    widest = Advertisement(id="widest", source="p", k=k, score="subscription.volume")
    return network, Registry(subscriptions=subscriptions, advertisements=(widest,))
