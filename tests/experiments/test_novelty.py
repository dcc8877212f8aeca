"""The paper on novelty in small: its figures run, and what is printed differs as it should."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from experiments.novelty import streams
from experiments.novelty.as_printed import (
    SHORTLIST,
    AgingAsPrinted,
    AgingOfChances,
    CountedAtTheMostNovel,
    NeverDeliveredAsPrinted,
    RatesOfThePeriod,
    play,
    printed,
)
from experiments.novelty.measuring import DEVIATION, ENTROPY, MEAN, OF_ALL, measured, part
from experiments.novelty.shortlists import Got, deliver, policy
from experiments.novelty.thresholds import thresholds
from shortlist.experiments.papers import Experiments
from shortlist.experiments.picture import canvas
from shortlist.experiments.reproducing import Reproduction, stored
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.model.policy import Novelty
from shortlist.progress import Steps
from shortlist.selection.novelty import NoveltySelector

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FIGURES = [*Experiments(EXPERIMENTS).papers["novelty"].figures]
NEWS = {"figure_4_14", "figure_4_15", "figure_4_16"}
ONE_OF_EACH_FORM = {"figure_4_3", "figure_4_9", "figure_4_12", "figure_4_13", "figure_4_15"}
"""Others differ from them by settings, or have tests of what they compute."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return run_in(tmp_path)


def run_in(folder: Path, seed: int = 0, data_folder: Path | None = None) -> Run:
    return Run(InProcess(), Steps(Console(), True), folder, True, seed, data_folder)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams of two periods."""
    monkeypatch.setattr(Run, "pick", lambda self, full, quick: 2 * streams.PERIOD)


@pytest.fixture
def some_news(tmp_path: Path) -> Path:
    """Two periods of tweets, of four desks."""
    folder = tmp_path / "data"
    folder.mkdir()
    random = np.random.default_rng(0)
    count = 2 * streams.PERIOD
    times = np.datetime64("2014-10-18T00:00:00") + np.arange(count) * np.timedelta64(60, "s")
    tweets = pa.table(
        {
            "source": random.choice(["a", "b", "c", "d"], count, p=[0.5, 0.25, 0.15, 0.1]),
            "tweet_id": np.arange(count),
            "created_at": np.char.add(times.astype(str), "Z"),
            "text": np.full(count, "news"),
        }
    )
    with pa.CompressedOutputStream(str(folder / "health_news_tweets.csv.gz"), "gzip") as file:
        pa.csv.write_csv(tweets, file)
    return folder


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "name",
    [
        name if name in ONE_OF_EACH_FORM else pytest.param(name, marks=pytest.mark.soak)
        for name in FIGURES
    ],
)
def test_every_claim_of_a_figure_can_be_judged_and_drawn(
    name: str, tmp_path: Path, some_news: Path
) -> None:
    experiments = Experiments(EXPERIMENTS)
    entry, figure = experiments.entry("novelty", name), experiments.figure("novelty", name)
    measures = entry.measure(run_in(tmp_path, data_folder=some_news))
    assert figure.claims
    for claim in figure.claims:
        claim.judge(measures)
    with canvas(tmp_path / "picture.svg") as picture:
        entry.draw(measures, picture, figure)
    assert (tmp_path / "picture.svg").exists()


@pytest.mark.usefixtures("small")
def test_another_seed_gives_other_numbers(tmp_path: Path) -> None:
    entry = Experiments(EXPERIMENTS).entry("novelty", "figure_4_5")
    one, other = (entry.measure(run_in(tmp_path / str(seed), seed)) for seed in (0, 1))
    for name in ("threshold", "sampling", "random"):
        assert one[f"mean distance in all, {name}"] != other[f"mean distance in all, {name}"]


def test_a_figure_without_its_data_is_skipped(tmp_path: Path) -> None:
    experiments = Experiments(EXPERIMENTS)
    asked = Run(InProcess(), Steps(Console(), True), tmp_path, quick=True)
    run = Reproduction(experiments, asked)
    for name in sorted(NEWS):
        (outcome,) = run.run("novelty", name)
        assert outcome.skipped is not None


# ---- what is printed ----


@pytest.mark.parametrize("algorithm", ["threshold", "sampling"])
@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_selector_that_is_played_delivers_what_a_job_does(
    run: Run, algorithm: str, mode: str
) -> None:
    stream = streams.zipf_stream(run, "zipf", 600)
    settings = policy(algorithm=algorithm, mode=mode, measure="interval", period=100, seed=3)
    expected = deliver(run, stream, {SHORTLIST: settings})[SHORTLIST]
    found = play(NoveltySelector(Novelty(**settings), SHORTLIST), stream)
    assert found.places.tolist() == expected.places.tolist()


def test_without_aging_aging_as_printed_changes_nothing(run: Run) -> None:
    stream = streams.zipf_stream(run, "zipf", 3000)
    for kind, algorithm in ((AgingAsPrinted, "threshold"), (AgingOfChances, "sampling")):
        for aging, same in ((1.0, True), (0.1, False)):
            settings = policy(algorithm=algorithm, aging=aging, period=100)
            plain = printed(NoveltySelector, stream, settings)
            found = printed(kind, stream, settings)
            assert (found.places.tolist() == plain.places.tolist()) == same


def test_what_was_never_delivered_is_as_printed_the_least_novel() -> None:
    """Kind 2 comes first in the second period, where an interval of 2 is asked for."""
    stream = np.array([0, 1, 0, 0, 2, 0, 1, 1])
    settings = policy(measure="interval", rate=0.5, period=4)
    assert printed(NoveltySelector, stream, settings).places.tolist() == [0, 1, 4, 5]
    assert printed(NeverDeliveredAsPrinted, stream, settings).places.tolist() == [0, 1, 5, 6]


def test_rates_of_the_period_forget_earlier_ones() -> None:
    """Kind 0, which was delivered twice before, is as novel as any when a period begins."""
    stream = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    settings = policy(rate=0.5, period=4)
    assert printed(NoveltySelector, stream, settings).places.tolist() == [0, 1, 5]
    assert printed(RatesOfThePeriod, stream, settings).places.tolist() == [0, 1, 4, 5]


def test_counted_at_the_most_novel_a_delivery_leaves_the_others_novel() -> None:
    """Kind 0 matches subscriptions 0 and 1, kind 1 only the second."""
    stream, matching = np.array([0, 1, 1]), [[0, 1], [1]]
    settings = policy(rate=0.5, period=2)
    assert printed(NoveltySelector, stream, settings, matching).places.tolist() == [0]
    assert printed(CountedAtTheMostNovel, stream, settings, matching).places.tolist() == [0, 2]


def test_thresholds_are_those_of_periods() -> None:
    stream = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    found = thresholds(policy(rate=0.5, period=4, measure="interval"), stream)
    assert found == [3.0, 3.0]


# ---- measures ----


def test_measures_tell_equal_shares_from_unequal_ones() -> None:
    even = Got(np.arange(8), np.array([0, 1, 1, 0, 0, 1, 1, 0]))
    uneven = Got(np.arange(8), np.array([0, 1, 1, 1, 0, 1, 1, 1]))
    assert measured(even, 16, 2)[ENTROPY] == 1.0
    assert measured(even, 16, 2)["delivered"] == 0.5
    assert measured(uneven, 16, 2)[MEAN] == pytest.approx(2.6)
    assert measured(uneven, 16, 2)[DEVIATION] == pytest.approx(1.4)
    assert measured(even, 16, 2)[OF_ALL] > measured(even, 16, 2)[DEVIATION]
    assert part(even, 2, 4).kinds.tolist() == [1, 0]


def test_full_runs_gave_the_known_answers() -> None:
    """SEMANTICS: 100,000 publications, ten disjoint subscriptions, Zipf 1.25, rate 0.2."""
    outcomes = stored(Experiments(EXPERIMENTS))
    known = {
        ("figure_4_1", "entropy in all, lazy rate"): (3.3219, 0.0001),
        ("figure_4_1", "delivered in all, lazy rate"): (0.2, 0.001),
        ("figure_4_1", "entropy in all, lazy interval"): (3.28, 0.01),
        ("figure_4_1", "delivered in all, lazy interval"): (0.176, 0.003),
        ("figure_4_11", "entropy in all, γ = 0.1"): (3.32, 0.01),
        ("figure_4_4", "entropy in all, lazy rate"): (3.32, 0.01),
        ("figure_4_4", "delivered in all, lazy rate"): (0.195, 0.003),
        ("figure_4_1", "entropy in all, everything"): (2.63, 0.01),
    }
    for (figure, name), (value, leeway) in known.items():
        measures = outcomes["novelty", figure].measures
        assert measures[name] == pytest.approx(value, abs=leeway), name
