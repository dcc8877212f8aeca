"""What an operator measures: Prometheus metrics of a deployment."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import get_args

import pyarrow.compute as pc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from shortlist.engine.admitted import Why
from shortlist.live.driver import Report
from shortlist.live.lag import Lag
from shortlist.live.manifest import Manifest
from shortlist.model.counts import OTHER_TYPE, REJECTED, SUPPRESSED, labelled
from shortlist.model.delivery import Cause

BUCKETS = (0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 10, 20, 40, 60)
"""Seconds."""
MOST_REMEMBERED = 100_000
"""Positions whose time of arrival is remembered until they are delivered."""


@contextmanager
def serve_metrics(registry: CollectorRegistry, address: str) -> Iterator[str]:
    """Shows metrics under an address, HOST:PORT; port 0 is any free one. Gives the URL."""
    host, _, port = address.rpartition(":")
    server, thread = start_http_server(int(port), host, registry)
    try:
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Metrics:
    """Counts from the start of the process, as Prometheus expects it.

    >>> registry = CollectorRegistry()
    >>> metrics = Metrics(registry)
    >>> registry.get_sample_value("shortlist_rejected_total", {"reason": "late"})
    0.0
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._appended: dict[int, int] = {}

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"shortlist_{name}", what, labels, registry=registry)

        def gauge(name: str, what: str) -> Gauge:
            return Gauge(f"shortlist_{name}", what, registry=registry)

        def seconds(name: str, what: str, *labels: str) -> Histogram:
            name = f"shortlist_{name}_seconds"
            return Histogram(name, what, labels, buckets=BUCKETS, registry=registry)

        self._published = counter("published", "Publications that were let in.")
        self._commands = counter("commands", "Commands that were carried out.")
        self._rejected = counter("rejected", "Lines that were turned away.", "reason")
        self._dead = counter("dead_on_arrival", "Publications that had expired on arrival.")
        self._matched = counter("matched", "Pairs of a publication and a shortlist that match.")
        self._suppressed = counter(
            "suppressed", "Matches that were not delivered at arrival, by policy.", "reason"
        )
        self._delivered = counter("delivered", "Deliveries.", "cause")
        self._other_type = counter(
            "other_type", "Values of another type than a predicate asks for.", "attribute"
        )
        self._written = counter("written_bytes", "Bytes of state and output that were written.")
        self._lag_entries = gauge("lag_entries", "Entries of the input that are not read yet.")
        self._lag_seconds = gauge("lag_seconds", "How long the first of them has waited.")
        self._state = gauge("state_bytes", "Size of the files that hold the state.")
        self._shards = gauge("shards", "Shards.")
        self._subscriptions = gauge("subscriptions", "Live subscriptions.")
        self._quarantined = gauge("quarantined", "Items in quarantine: the engine fails on them.")
        self._committed = gauge("committed_timestamp_seconds", "When a batch was committed last.")
        self._batch = seconds("batch", "How long a batch took.")
        self._step = seconds("step", "How long each step of a batch took.", "step")
        self._latency = seconds(
            "latency", "From a publication in the log to its deliveries at arrival in the log."
        )
        for why in get_args(Why):
            self._rejected.labels(why)
        for cause in get_args(Cause):
            self._delivered.labels(cause)

    def observe(
        self, report: Report, manifest: Manifest, *, behind: Lag, appended: Mapping[int, int]
    ) -> None:
        """A batch that was committed and put out just now; `appended` tells when the log took the
        positions that it read, in microseconds."""
        self._count(report.counts)
        self._written.inc(report.bytes_written)
        self._lag_entries.set(behind.entries)
        self._lag_seconds.set(behind.seconds)
        self._state.set(manifest.state_bytes)
        self._shards.set(len(manifest.shards))
        self._subscriptions.set(manifest.subscriptions)
        self._quarantined.set(manifest.quarantined)
        self._committed.set(manifest.committed / 1e6)
        self._batch.observe(sum(report.seconds.values()))
        for step, took in report.seconds.items():
            self._step.labels(step).observe(took)
        self._remember(appended)
        for seconds in self._latencies(report):
            self._latency.observe(seconds)

    def _count(self, counts: Mapping[str, int]) -> None:
        self._published.inc(counts.get("published", 0))
        self._commands.inc(counts.get("commands", 0))
        self._dead.inc(counts.get("dead on arrival", 0))
        self._matched.inc(counts.get("matched", 0))
        for cause in get_args(Cause):
            self._delivered.labels(cause).inc(counts.get(cause, 0))
        for why, count in labelled(counts, REJECTED):
            self._rejected.labels(why).inc(count)
        for attribute, count in labelled(counts, OTHER_TYPE):
            self._other_type.labels(attribute).inc(count)
        for why, count in labelled(counts, SUPPRESSED):
            self._suppressed.labels(why).inc(count)

    def _remember(self, appended: Mapping[int, int]) -> None:
        self._appended.update(appended)
        for position in [*islice(self._appended, max(len(self._appended) - MOST_REMEMBERED, 0))]:
            del self._appended[position]

    def _latencies(self, report: Report) -> Iterator[float]:
        """Of the publications that were delivered at arrival, each once."""
        arrivals = report.deliveries.filter(pc.field("cause") == "arrival")
        now = time.time()
        for position in pc.unique(arrivals.column("position")).to_pylist():
            taken = self._appended.pop(position, None)
            if taken is not None:
                yield max(now - taken / 1e6, 0.0)
