"""Metrics: every count of a batch arrives, and what was matched is delivered or suppressed."""

import re
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from shortlist.intake.files import registry_from_documents
from shortlist.live import metrics as module
from shortlist.live.metrics import Lag, Metrics
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, numbered
from tests.strategies import registry, seeded, timeline

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture
def collected():
    return CollectorRegistry()


@pytest.fixture
def metrics(collected):
    return Metrics(collected)


def value(collected, name, **labels):
    return collected.get_sample_value(f"shortlist_{name}", labels)


def total(collected, name):
    samples = (one for metric in collected.collect() for one in metric.samples)
    return sum(one.value for one in samples if one.name == f"shortlist_{name}_total")


def observe(metrics, deployment, report, appended=()):
    metrics.observe(
        report,
        deployment.driver.manifest,
        behind=Lag(3, 1.5),
        appended=dict(appended),
    )


def test_nothing_is_dropped_without_a_counter(collected, metrics):
    """Over generated timelines, sums equal what the batches led to."""
    sums = Counter()
    rejected = delivered = 0
    for seed in range(20):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        deployment = Deployment(made, Settings(lateness=pick([0, "1s"])), shards=2)
        lines = numbered(timeline(pick, 40))
        for batch in (lines[:20], lines[20:]):
            report = deployment.run(batch)
            observe(metrics, deployment, report)
            sums += report.counts
            rejected += report.refusals.num_rows
            delivered += report.deliveries.num_rows
    assert sums["matched"] > sums["arrival"] > 0
    assert total(collected, "published") == sums["published"]
    assert total(collected, "commands") == sums["commands"]
    assert total(collected, "rejected") == rejected > 0
    assert total(collected, "delivered") == delivered
    assert value(collected, "delivered_total", cause="promotion") == sums["promotion"] > 0
    assert value(collected, "rejected_total", reason="late") == sums["rejected: late"]
    arrivals = value(collected, "delivered_total", cause="arrival")
    unreached = value(collected, "suppressed_total", reason="audience")
    assert total(collected, "matched") == arrivals + total(collected, "suppressed") - unreached
    assert total(collected, "dead_on_arrival") == sums["dead on arrival"]
    other = sum(count for name, count in sums.items() if name.startswith("other type: "))
    assert total(collected, "other_type") == other
    assert value(collected, "batch_seconds_count") == 40
    assert value(collected, "step_seconds_count", step="admission") == 40


def test_what_policies_suppress_is_told_apart(collected, metrics):
    best = {"id": "best", "score": "fit", "policy": {"kind": "top-k", "k": 1}}
    made = registry_from_documents({"subscriptions": [best, {"id": "all"}]})
    deployment = Deployment(made, Settings(lateness=0), shards=2)
    lines = [
        line(f"p{fit}", n).replace("}", f', "data": {{"fit": {fit}}}}}')
        for n, fit in enumerate((5, 3, 7))
    ]
    observe(metrics, deployment, deployment.run(numbered(lines)))
    observe(metrics, deployment, deployment.run([], last=True))
    assert value(collected, "suppressed_total", reason="top-k") == 1
    assert value(collected, "suppressed_total", reason="everything") is None


def line(name, second):
    return f'{{"id": "{name}", "source": "s", "time": "1970-01-01T00:00:0{second}Z"}}'


@pytest.fixture
def everything():
    made = registry_from_documents({"subscriptions": [{"id": "one"}, {"id": "two"}]})
    return Deployment(made, Settings(lateness=0), shards=2)


def test_latency_is_taken_once_for_each_publication_when_it_is_delivered(
    collected, metrics, everything
):
    """Also for what waits for a later batch; with two deliveries each."""
    now = time.time_ns() // 1000
    report = everything.run([(1, line("a", 1)), (2, line("b", 2))])
    assert report.deliveries.num_rows == 2
    observe(metrics, everything, report, {1: now - 3_500_000, 2: now - 700_000})
    assert value(collected, "latency_seconds_count") == 1
    assert value(collected, "latency_seconds_bucket", le="3.0") == 0
    assert value(collected, "latency_seconds_bucket", le="10.0") == 1
    observe(metrics, everything, everything.run([(3, line("c", 3))]), {3: now})
    assert value(collected, "latency_seconds_count") == 2
    assert value(collected, "latency_seconds_bucket", le="3.0") == 1


def test_only_so_many_positions_are_remembered(collected, metrics, everything, monkeypatch):
    monkeypatch.setattr(module, "MOST_REMEMBERED", 2)
    observe(metrics, everything, everything.run([]), dict.fromkeys(range(5), 0))
    assert [*metrics._appended] == [3, 4]


def test_gauges_say_what_is_now(collected, metrics, everything):
    observe(metrics, everything, everything.run([]))
    manifest = everything.driver.manifest
    assert value(collected, "lag_entries") == 3
    assert value(collected, "lag_seconds") == 1.5
    assert value(collected, "state_bytes") == manifest.state_bytes > 0
    assert value(collected, "shards") == 2
    assert value(collected, "subscriptions") == manifest.subscriptions > 0
    assert value(collected, "committed_timestamp_seconds") == manifest.committed / 1e6


def test_they_are_served_on_this_machine(collected, metrics):
    with module.serve_metrics(collected, "127.0.0.1:0") as url:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", url)
        with urllib.request.urlopen(url, timeout=10) as answer:
            text = answer.read().decode()
    assert 'shortlist_rejected_total{reason="late"} 0.0' in text
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=1)


def test_the_page_lists_every_metric_and_no_other(collected, metrics):
    suffix = {"counter": "_total"}
    known = {
        (metric.name + suffix.get(metric.type, ""), metric.type) for metric in collected.collect()
    }
    rows = re.findall(
        r"^\| `(shortlist_\w+)` \| (\w+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {*rows} == known
