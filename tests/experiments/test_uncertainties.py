"""The paper on uncertainties: its workload, and its algorithm beside the system's own matchers."""

import numpy as np
import pytest
from rich.console import Console

from experiments.uncertainties import figure_5, figure_12, figure_13, figure_14, table_2
from experiments.uncertainties.figure_5 import printed_necessity
from experiments.uncertainties.matching import index_of
from experiments.uncertainties.two_stage import TwoStage
from experiments.uncertainties.workload import Workload
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.matching.scan import Scan
from shortlist.model.registry import Registry
from shortlist.model.subscription import AtLeast
from shortlist.progress import Steps

CUTS = ("pessi", "middle", "optim")


def run(tmp_path, seed=0):
    return Run(InProcess(), Steps(Console(), quiet=True), tmp_path / str(seed), True, seed)


@pytest.fixture(scope="module")
def workload():
    return Workload(np.random.default_rng(7), 600, 12)


@pytest.mark.parametrize(
    "options", [{}, {"association": "matrix"}, {"sorts": True}, {"in_bits": True}], ids=str
)
def test_two_stages_find_what_the_plain_matcher_finds(workload, options):
    scan, matcher = Scan(workload.vocabulary), TwoStage(workload.vocabulary, **options)
    for subscription in workload.subscriptions_as():
        scan.add(subscription)
        matcher.add(subscription)
    found = 0
    for read in workload.readers_as():
        expected, given = scan.match(read), matcher.match(read)
        found += len(expected)
        if "in_bits" in options:
            assert [each.subscription for each in given] == [each.subscription for each in expected]
            for one, other in zip(given, expected, strict=True):
                assert one.possibility <= other.possibility <= one.possibility + 1 / 16
        else:
            assert given == expected
    assert found > 20


@pytest.mark.parametrize("kind", ["appro", "optim"])
def test_the_index_counts_what_a_job_delivers(tmp_path, workload, kind):
    subscriptions = [*workload.subscriptions_as(kind)]
    registry = Registry(vocabulary=workload.vocabulary, subscriptions=subscriptions)
    documents = [
        {"id": each.id, "source": each.source, "time": "2026-01-01T00:00:00Z", "data": each.data}
        for each in workload.publications_as()
    ]
    index = index_of(subscriptions, workload.vocabulary)
    count = index.match_block(workload.block_as()).count
    assert run(tmp_path).rank(registry, documents).report["matched"] == count > 0


def test_as_printed_nothing_is_necessary():
    assert printed_necessity([0, 1, 9, 10], [3, 4, 5, 6]) == 0


def test_few_bits_miss_nothing_and_fewer_return_more(tmp_path, workload):
    found = figure_13.compared(run(tmp_path), workload, [200, 600], "possibility")
    assert found["missed"] == 0
    assert [found[f"bytes of {bits} bits"] for bits in (8, 4, 2)] == pytest.approx([2, 1, 0.5], 0.1)
    assert 1 >= found["8 bits, possibility"][1] >= found["2 bits, possibility"][1] > 0


def test_types_of_subscriptions_are_cuts_of_the_fuzzy_one(workload):
    fuzzy = table_2.counts(workload, "appro", "appro")
    wide, half, core = (table_2.counts(workload, *table_2.ROWS[row]) for row in CUTS)
    assert [wide[0], half[1], core[2]] == fuzzy
    assert wide[0] > half[0] > core[0]


def test_whoever_expects_what_all_get_is_served_right(tmp_path, workload, monkeypatch):
    monkeypatch.setattr(figure_14, "USED", ("min",))
    found = figure_14.compared(run(tmp_path), workload, AtLeast(possibility=0.5))
    assert found.keys() == {"min", "weighted"}
    assert all(0.3 < measure < 1 for measure in found.values())
    everything = figure_14.compared(run(tmp_path), workload, AtLeast())
    assert set(everything.values()) == {1.0}


def test_costs_are_told_for_every_size(workload):
    costs = figure_12.costs_of(figure_12.LIST, workload, [100, 600])
    assert 0 < costs["loading"][0] < costs["loading"][1]
    assert (len(costs["matching"]), costs["matching one by one"]) == (2, [])
    assert costs["bytes"] == {"lists": 600 * 2 * 4, "degrees": pytest.approx(600 * 16, rel=0.3)}


def test_another_seed_gives_other_numbers(tmp_path):
    one, other = (figure_5.measure(run(tmp_path, seed)) for seed in (0, 1))
    assert one["necessity above 0"] != other["necessity above 0"]
