"""What an operator measures of links: Prometheus metrics of a site."""

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from shortlist.sites.link import COUNTED

MEASURED = {
    "waiting": "Entries of the own log that were not considered for a link yet.",
    "told": "Subscriptions that a neighbour was told of.",
    "held": "Subscriptions that these stand for.",
    "behind": "Subscriptions that are known behind a link.",
    "up": "Whether the last exchange ended well.",
    "set_aside": "Whether a link was set aside, for what its neighbour wrote.",
}


class LinkMetrics(Collector):
    """Shows what was last said of links.

    >>> from prometheus_client import CollectorRegistry
    >>> registry, metrics = CollectorRegistry(), LinkMetrics()
    >>> registry.register(metrics)
    >>> known = dict.fromkeys([*COUNTED, *MEASURED], 0) | {"error": None, "aside": None, "sent": 7}
    >>> metrics.show({"bergen": known})
    >>> registry.get_sample_value("shortlist_link_sent_total", {"neighbour": "bergen"})
    7
    """

    def __init__(self) -> None:
        self._links: Mapping[str, Any] = {}

    def show(self, links: Mapping[str, Any]) -> None:
        """By neighbour, how its link is doing now."""
        self._links = links

    def collect(self) -> Iterable[Metric]:
        links = {
            neighbour: link | {"up": link["error"] is None, "set_aside": link["aside"] is not None}
            for neighbour, link in self._links.items()
        }
        for family, names in ((CounterMetricFamily, COUNTED), (GaugeMetricFamily, MEASURED)):
            for name, what in names.items():
                metric = family(f"shortlist_link_{name}", what, labels=["neighbour"])
                for neighbour, link in links.items():
                    metric.add_metric([neighbour], link[name])
                yield metric
