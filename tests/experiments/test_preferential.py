"""The workload of preferential publish/subscribe, and Algorithm 1 beside the system."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from experiments.preferential import figures_5_and_6, placement
from experiments.preferential.as_printed import algorithm_1, misjudged
from experiments.preferential.workload import (
    DATA,
    GENRES,
    Movies,
    Subscriber,
    by_shortlist,
    registry,
)
from shortlist.experiments.papers import Experiments
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.progress import Steps

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    draws = np.random.default_rng(1)
    with gzip.open(tmp_path / f"{DATA}.csv.gz", "wt") as file:
        file.write(",".join(["title", "year", "length", "rating", "mpaa", *GENRES]) + "\n")
        for number in range(300):
            flags = (draws.random(len(GENRES)) < 0.3).astype(int)
            rating = draws.integers(10, 100) / 10
            year, length = draws.integers(1950, 2005), draws.integers(60, 180)
            mpaa = draws.choice(["", "R", "PG"])
            row = [f"m{number}", year, length, rating, mpaa, *flags]
            file.write(",".join(map(str, row)) + "\n")
    return _run(tmp_path)


def _run(folder: Path, seed: int = 0) -> Run:
    return Run(InProcess(), Steps(Console(), True), folder / "kept", True, seed, folder)


@pytest.mark.parametrize("k", [1, 3])
def test_the_system_follows_definition_6_and_algorithm_1_does_not(run: Run, k: int) -> None:
    movies = Movies.of(run)
    draws = run.draws("users")
    users = {f"u{n}": movies.interests(draws, "zipf") for n in range(20)}
    ends = [place + 20 for place in range(300)]
    publications = movies.publications(range(300), expiry=20)
    matched = by_shortlist(
        run.rank(registry(Subscriber(*each) for each in users.items()), publications)
    )
    policy = {"kind": "top-k", "k": k}
    best = [Subscriber(name, users[name], policy) for name in matched]
    here = by_shortlist(run.rank(registry(best), publications))
    wrong = {"here": 0, "as printed": 0, "by the text": 0}
    for name, events in matched.items():
        decided = {
            "here": [event.place for event in here[name]],
            "as printed": algorithm_1(events, ends, k),
            "by the text": algorithm_1(events, ends, k, equal_enters=True),
        }
        for decider, places in decided.items():
            found = misjudged(events, ends, k, places)
            wrong[decider] += sum(found)
            assert decider != "by the text" or found.withheld == 0
    assert wrong["here"] == 0 < wrong["as printed"]
    assert (wrong["by the text"] > 0) == (k > 1)  # with one expiry a list of one forgets nothing


def test_subscriptions_follow_the_seed(run: Run, tmp_path: Path) -> None:
    movies = Movies.of(run)
    drawn = [movies.interests(_run(tmp_path, seed).draws("a"), "zipf") for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_frequent_values_are_asked_for_more_often_by_zipf(run: Run) -> None:
    movies = Movies.of(run)
    most = movies.values["genre"][0]

    def asking(distribution: Any) -> int:
        return sum(
            f"genre = '{most}'" in movies.interest(run.draws(number), distribution).where
            for number in range(400)
        )

    assert asking("zipf") > 1.5 * asking("uniform")


def test_john_gets_what_the_paper_says(run: Run) -> None:
    measures = figures_5_and_6.measure(run)
    for claim in Experiments(EXPERIMENTS).figure("preferential", "figures_5_and_6").claims:
        assert claim.judge(measures).agrees


def test_placement_counts_what_probing_takes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "LEVELS", {"3 servers": 2})
    monkeypatch.setattr(Run, "pick", lambda self, full, quick: min(quick, 50))
    totals = placement._totals(run, Movies.of(run), "uniform", "3 servers", 0)
    assert totals[placement.BY_CHANCE] > 0
    assert all(totals[name] >= 8 * 3 * placement.MESSAGES_OF_A_PROBE for name in placement.PROBES)
