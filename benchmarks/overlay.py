"""Brokers: how many subscriptions each rule forwards, and what routing takes, in messages and time.

The network is that of the rank-cover paper: 10 core brokers in a chain, 5 edge brokers each. Its
subscriptions are intervals, 30 to 60 % of the range of one attribute.
Run: python benchmarks/overlay.py [--subscriptions 10000 50000] [--publications 10000] [--quick]
With --spark also who covers whom of a million intervals, and of fewer boxes of two attributes, by
tasks on one core and on two; with --links what two sites exchange over NATS.
Prints one JSON line per figure.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from math import log
from multiprocessing import get_context
from pathlib import Path
from random import Random
from threading import Thread
from time import sleep

import common.checkout  # noqa: F401
from common.report import Report
from common.timing import timed

from experiments.rank_cover.network import interval_network
from experiments.top_k_w.message_model import Setting
from shortlist.covering.condition_graph import strict_order
from shortlist.intake.files import registry_from_documents
from shortlist.intake.written import publication_document
from shortlist.live.driver import begin
from shortlist.live.places import announce, files_in
from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.durations import Span
from shortlist.model.policy import Window
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.subscription import Subscription
from shortlist.overlay.broker import Network
from shortlist.overlay.central import central
from shortlist.overlay.cover_shares import cover_shares, drawn_intervals
from shortlist.overlay.placement import CRITERIA, placed
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy
from shortlist.sites.identity import identity
from shortlist.sites.running import Running
from shortlist.sites.running import Wanted as Joined
from shortlist.spark.covering import covering_on
from shortlist.spark.session import local_session

K = 10
SECOND = 1_000_000

report = Report().add


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, nargs="+", default=[10_000, 50_000])
    arguments.add_argument("--publications", type=int, default=10_000)
    arguments.add_argument("--strategies", nargs="+", default=["ancestor-cover-k", "rank-cover-k"])
    arguments.add_argument("--quick", action="store_true", help="a hundredth of everything")
    arguments.add_argument("--spark", action="store_true", help="also covering on Spark")
    arguments.add_argument("--links", action="store_true", help="also two sites")
    asked = arguments.parse_args()
    share = 100 if asked.quick else 1
    sizes = [count // share for count in asked.subscriptions]
    report_shares(sizes)
    report_counts_beside_formulas(100 // min(share, 10))
    report_placement(2000 // share)
    for strategy in asked.strategies:
        report_network(strategy, sizes, asked.publications // share)
    if asked.spark:
        report_spark(1_000_000 // share, attributes=1)
        report_spark(100_000 // share, attributes=2)
    if asked.links:
        report_links(20_000 // share)


def report_shares(sizes: list[int]) -> None:
    """The rank-cover paper's Figure 5, and how long depth and ancestors take."""
    cover_shares(drawn_intervals(10), [1])  # kernels are loaded
    spent = {}
    for count in sizes:
        ranges = drawn_intervals(count)
        ks = [1, K, count // 1000, count // 100, count // 10]
        shares, spent[count] = timed(partial(cover_shares, ranges, ks))
        report("ancestors and three depths", seconds=spent[count], subscriptions=count)
        for share in shares:
            report("forwarded shares", subscriptions=count, **asdict(share))
    first, *_, last = sizes if len(sizes) > 1 else sizes * 2
    if last > first:
        power = log(spent[last] / spent[first]) / log(last / first)
        report("growth: time goes as this power of the subscriptions", power=power)


def report_network(strategy: str, sizes: list[int], publications: int) -> None:
    """The paper's 60 brokers, with one publisher at an edge who reaches the ten widest."""
    news = uniform(publications)
    for count in sizes:
        routed = partial(simulate, *paper_network(count), news, STRATEGIES[strategy])
        result, seconds = timed(routed)
        facts = result.document() | {"subscriptions": count, "publications": publications}
        report("60 brokers, the publisher's 10 best", seconds=seconds, **facts)


def report_counts_beside_formulas(publications: int) -> None:
    """Windows in a tree of 31 brokers; what a formula takes from elsewhere is measured here."""
    tree = hierarchy(5, 2)
    names = [f"s{n}" for n in range(24)]
    chance = Random(1)
    subscribers = {name: chance.choice(tree.brokers) for name in names}
    network = Topology(tree.brokers, tree.links, {"p": "b1"}, subscribers)
    news = uniform(publications)
    best = Window(k=3, window=Span(60 * SECOND))
    registries = {
        "plain": [interval(name, chance, width=0.1) for name in names],
        "window": [
            replace(
                interval(name, chance, width=0.9),
                score=f"-distance(x: {n / len(names)})",
                policy=best,
            )
            for n, name in enumerate(names)
        ],
    }
    by_cells = Network(cell=0.01)
    for kind, subscriptions in registries.items():
        registry = Registry(subscriptions=tuple(subscriptions))
        routed = partial(simulate, network, registry, news, network=by_cells)
        flooded = routed(STRATEGIES["subscription-flooding"])
        expected = central(registry, news, STRATEGIES["covering"]).deliveries
        formulas = Setting(
            publications=publications,
            subscriptions=len(names),
            brokers=len(tree.brokers),
            matches=len(expected),
            updates=flooded.traffic.of("update") / (len(tree.brokers) - 1),
            degree=2,
        ).messages()
        for name, formula in formulas.items():
            result, seconds = timed(partial(routed, STRATEGIES[name]))
            facts = result.document(expected) | {"subscribed": kind, "formula": formula.total}
            report("messages, simulated and by formula", seconds=seconds, **facts)


def report_placement(publications: int) -> None:
    """The saving of subscribers that choose their brokers, beside chance."""
    tree = hierarchy(4, 3)
    chance = Random(2)
    genres = [f"g{n}" for n in range(12)]
    subscriptions = tuple(
        Subscription(
            id=f"s{n}", where=f"genre = '{chance.choice(genres)}' and x < {chance.random():.2f}"
        )
        for n in range(300)
    )
    registry = Registry(subscriptions=subscriptions)
    news = [
        replace(each, data={**each.data, "genre": chance.choice(genres)})
        for each in uniform(publications)
    ]
    totals = {}
    for criterion in CRITERIA:
        homes = placed(registry, tree.edges, criterion, probes=9)
        network = Topology(tree.brokers, tree.links, {"p": "b1"}, homes)
        totals[criterion] = simulate(network, registry, news, STRATEGIES["covering"]).traffic.total
        saved = 1 - totals[criterion] / totals["random"]
        report("placement", criterion=criterion, messages=totals[criterion], saved=saved)


def report_spark(count: int, attributes: int) -> None:
    """How long it takes to find who covers whom, in one process and on Spark."""
    ranges = drawn_intervals(count, attributes=attributes)
    strict_order(drawn_intervals(10, attributes=attributes))  # kernels are loaded
    order, seconds = timed(partial(strict_order, ranges))
    facts = {"subscriptions": count, "attributes": attributes}
    report("who covers whom, in one process", seconds=seconds, **facts)
    for cores in (1, 2):
        # a session has its cores for as long as its process lives
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            spent, ancestors = pool.submit(covered_on_spark, cores, count, attributes).result()
        assert ancestors == int(order.ancestors.sum())
        report("who covers whom, on Spark", seconds=spent, cores=cores, **facts)


def covered_on_spark(cores: int, count: int, attributes: int) -> tuple[float, int]:
    """Seconds with all workers ready, and how many cover anyone."""
    find = covering_on(local_session(cores=cores))
    ranges = drawn_intervals(count, attributes=attributes)
    strict_order(drawn_intervals(1_000, attributes=attributes), find)
    order, seconds = timed(partial(strict_order, ranges, find))
    return seconds, int(order.ancestors.sum())


def report_links(publications: int) -> None:
    """Two sites, one of which wants half of what the other publishes."""
    from scripts.nats_server import NatsServer  # beside the library

    wants = {"oslo": [], "bergen": [{"id": "half", "where": "x < 0.5"}]}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        server = stack.enter_context(NatsServer(folder / "nats"))
        logs, sites = {}, {}
        for site, other in (("oslo", "bergen"), ("bergen", "oslo")):
            log = logs[site] = stack.enter_context(closing(SqliteLog(folder / f"{site}.log")))
            known = registry_from_documents({"subscriptions": wants[site]})
            begin(log, files_in(folder / site), known, 1)
            announce(log, folder / site)
            wanted = Running(
                Joined(
                    name=site,
                    log=f"sqlite:{folder / f'{site}.log'}",
                    neighbours={other: f"{server.url}/norway"},
                    keep=3600 * SECOND,
                ),
                Silent(),
            )
            sites[site] = wanted
        threads = [Thread(target=site.run) for site in sites.values()]
        for thread in threads:
            thread.start()
        news = [json.dumps(publication_document(each)).encode() for each in uniform(publications)]
        wait_for(lambda: all(identity(log) is not None for log in logs.values()))
        logs["oslo"].append(INPUT, news)
        expected = sum(each.data["x"] < 0.5 for each in uniform(publications))
        _, seconds = timed(lambda: wait_for(lambda: logs["bergen"].end(INPUT) == expected))
        for site in sites.values():
            site.stop()
        for thread in threads:
            thread.join()
        report("two sites", seconds=seconds, publications=publications, crossed=expected)


class Silent:
    """Hears what happens to a site, and says nothing."""

    def started(self, site: object) -> None: ...

    def changed(self, links: object) -> None: ...

    def failed(self, error: BaseException, pause: float) -> None: ...


def wait_for(is_so: Callable[[], bool]) -> None:
    while not is_so():
        sleep(0.01)


def paper_network(count: int) -> tuple[Topology, Registry]:
    return interval_network(drawn_intervals(count), K)


def interval(name: str, chance: Random, width: float) -> Subscription:
    low = chance.uniform(0, 1 - width)
    return Subscription(id=name, where=f"x between {low:.4f} and {low + width:.4f}")


def uniform(count: int) -> list[Publication]:
    chance = Random(3)
    return [
        Publication(
            id=f"n{n}", source="p", time=n * SECOND, position=n, data={"x": chance.random()}
        )
        for n in range(count)
    ]


if __name__ == "__main__":
    main()
