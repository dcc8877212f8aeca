"""What an operator measures of the service, and through it of the deployment."""

import time
from collections.abc import Iterable

import httpx
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.client.deployment import Deployment, read_up_to
from shortlist.live.lag import lag
from shortlist.log.base import LogUnavailable

# How long the deployment beside may take to tell its metrics; Prometheus waits for 10 s.
DEPLOYMENT_SECONDS = 2.0


def metrics_at(url: str) -> bytes:
    """Return the metrics that another process of this machine shows, in the same form as ours;
    empty where it does not answer: ours must not be lost with it."""
    try:
        answer = httpx.get(url, timeout=DEPLOYMENT_SECONDS, trust_env=False)
    except httpx.HTTPError:
        return b""
    return answer.content if answer.status_code == httpx.codes.OK else b""


class _Lag(Collector):
    """How far the deployment is behind, at the moment of asking."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        try:
            manifest = self._deployment.manifest
            if manifest is None:
                return
            behind = lag(self._deployment.log, read_up_to(manifest), time.time())
        except LogUnavailable:
            return
        yield GaugeMetricFamily(
            "shortlist_service_lag_entries", "Entries that are not read yet.", behind.entries
        )
        yield GaugeMetricFamily(
            "shortlist_service_lag_seconds", "How long the first has waited.", behind.seconds
        )


class Measures:
    """Counts from the start of the process, as Prometheus expects it."""

    def __init__(self, deployment: Deployment) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_Lag(deployment))
        self.requests = Counter(
            "shortlist_service_requests",
            "Requests, by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "shortlist_service_request_seconds",
            "How long it took until an answer began.",
            ("method", "route"),
            registry=self.registry,
        )
        self.acknowledged = Counter(
            "shortlist_service_acknowledged",
            "Publications that are durable.",
            registry=self.registry,
        )
        self.streams = Gauge(
            "shortlist_service_streams", "Streams that are open.", registry=self.registry
        )
        self.told = Counter(
            "shortlist_service_told", "Events sent on streams.", registry=self.registry
        )


class Measured:
    """Counts the requests that pass."""

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app = app
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "other")
                method = scope["method"] if route != "other" else "any"
                measures = self._measures
                measures.requests.labels(method, route, message["status"]).inc()
                measures.seconds.labels(method, route).observe(time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, counted)
