"""A deployment that runs in this process, shown to whoever looks: a person, metrics, logs."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from shortlist.cli import options
from shortlist.cli.app import cause_of, notes, say
from shortlist.client.deployment import read_up_to
from shortlist.live.driver import Driver, Report
from shortlist.live.lag import lag
from shortlist.live.logs import tell, tell_batch
from shortlist.log.base import Log

if TYPE_CHECKING:
    from shortlist.live.metrics import Metrics

REJECTS_EVERY = 10.0
"""Seconds between two lines about what was turned away."""


def shown_metrics(address: str, stack: ExitStack, *, for_starter: bool) -> "Metrics | None":
    """Metrics, which can be looked at for as long as the stack is open. People learn where; or, as
    a line of JSON on standard output, the program that started this one."""
    if address == options.OFF:
        return None
    from prometheus_client import CollectorRegistry

    from shortlist.live.metrics import Metrics, serve_metrics

    registry = CollectorRegistry()
    metrics = Metrics(registry)
    url = stack.enter_context(serve_metrics(registry, address))
    if for_starter:
        print(json.dumps({"metrics": url}), flush=True)
    else:
        say([f"metrics: {url}"])
    return metrics


class RejectLine:
    """Now and then a line that says what was turned away since the last one, and why."""

    def __init__(self) -> None:
        self._since: Counter[str] = Counter()
        self._last = ""
        self._told: float | None = None

    def after(self, report: Report, now: float) -> str | None:
        """The line, if there is something to tell, and nothing was told for a while."""
        whys = report.refusals.column("why").to_pylist()
        if whys:
            self._since.update(whys)
            self._last = report.refusals.column("reason").to_pylist()[-1]
        is_soon = self._told is not None and now - self._told < REJECTS_EVERY
        if not self._since or is_soon:
            return None
        counted = ", ".join(f"{count:,} {why}" for why, count in self._since.items())
        look = "quarantine" if "quarantined" in self._since else "watch --rejects"
        self._told, self._since = now, Counter()
        return f"rejected: {counted}; the last: {self._last} (shortlist {look})"


class Screen:
    """Shows a person, metrics and logs what happens."""

    def __init__(self, metrics: "Metrics | None") -> None:
        self._metrics = metrics
        self._status = notes.status("")
        self._rejects = RejectLine()
        self._is_compiling = False

    def compiling(self, left: Sequence[str]) -> None:
        tell("compiling", left=left)
        if not left:
            notes.print("kernels are compiled")
        elif not self._is_compiling:
            notes.print(
                f"compiling kernels ({', '.join(left)}): up to a minute for each, once after an"
                " installation, an upgrade or a move to another CPU",
                soft_wrap=True,
            )
        else:
            notes.print(f"compiling kernels: left {', '.join(left)}", soft_wrap=True)
        self._is_compiling = True

    def started(self, driver: Driver, log: Log) -> None:
        manifest = driver.manifest
        tell("started", id=manifest.id, number=manifest.number, position=manifest.position)
        notes.print(
            f"up: {driver.subscriptions:,} subscriptions in {len(manifest.shards)} shards, "
            f"after {manifest.number:,} batches and {manifest.deliveries.end:,} deliveries; "
            f"plan {driver.choice.plan}: {driver.choice.why}"
        )
        if driver.changed_zones is not None:
            notes.print(driver.changed_zones)
        self._status.start()
        self._status.update("waiting for the first batch")

    def ran(self, report: Report, driver: Driver, log: Log, appended: dict[int, int]) -> None:
        manifest = driver.manifest
        behind = lag(log, read_up_to(manifest), time.time())
        if self._metrics is not None:
            self._metrics.observe(report, manifest, behind=behind, appended=appended)
        tell_batch(report, manifest)
        line = self._rejects.after(report, time.monotonic())
        if line is not None:
            notes.print(line, markup=False, soft_wrap=True)
        self._status.update(
            f"batch {manifest.number:,} in {sum(report.seconds.values()):.2f} s · "
            f"{manifest.counts.get('published', 0):,} published · "
            f"{manifest.deliveries.end:,} delivered · {manifest.rejects.end:,} rejected · "
            f"{manifest.quarantined:,} in quarantine · {behind.entries:,} behind · "
            f"{manifest.state_bytes / 1e6:,.1f} MB"
        )

    def failed(self, error: BaseException, pause: float) -> None:
        cause = cause_of(error)
        tell("failed", error=f"{type(error).__name__}: {cause}", pause=pause)
        notes.print(f"failed: {cause}; trying again in {pause:g} s", markup=False)

    def stopped(self) -> None:
        self._status.stop()
