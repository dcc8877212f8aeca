"""A paper of our own, reproduced: what is kept, what is judged, what is shown."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from rich.console import Console

from shortlist.experiments.papers import Experiments, UnknownExperiment
from shortlist.experiments.reproducing import Reproduction, gallery, stored
from shortlist.experiments.run import Run
from shortlist.jobs.process import InProcess
from shortlist.progress import Steps

MODULE = """
    from pathlib import Path

    def measure(run):
        def delivered():
            with Path(__file__).with_name("computed.txt").open("a") as file:
                file.write("x")
            publications = [
                {"id": f"p{n}", "source": "s", "time": f"2026-01-01T00:00:0{n}Z", "data": {"x": x}}
                for n, x in enumerate(run.draws("x").integers(0, 100, 10).tolist())
            ]
            registry = {"subscriptions": [{"id": "all", "where": "x >= 0", "score": "x"}]}
            return run.rank(registry, publications).report["deliveries"]
        return {
            "delivered": run.point("delivered", delivered),
            "drawn": run.draws("y").random(3).tolist(),
            "size": run.pick(full=1000, quick=10),
        }

    def draw(measures, canvas, figure):
        axes = canvas.subplots()
        axes.plot(measures["drawn"], label=figure.title)
        axes.set_xlabel("draw")
        axes.set_ylabel("number")
"""
EXPECTED = {
    "title": "A paper",
    "figures": {
        "figure_1": {
            "title": "Figure 1",
            "shows": "All is delivered.",
            "claims": [
                {"says": "All ten", "where": "1", "of": "delivered", "is": 10},
                {
                    "says": "Draws rise",
                    "where": "2",
                    "of": "drawn",
                    "order": "rising",
                    "slack": -1,
                    "because": "they are random",
                },
            ],
        }
    },
}


@pytest.fixture
def experiments(tmp_path: Path) -> Experiments:
    paper = tmp_path / f"of_{tmp_path.name}" / "own"
    paper.mkdir(parents=True)
    (paper / "figure_1.py").write_text(dedent(MODULE))
    (paper / "expected.json").write_text(json.dumps(EXPECTED))
    return Experiments(paper.parent)


def reproduction(experiments: Experiments, again: bool = False, **options: Any) -> Reproduction:
    out = experiments.folder.parent / "out"
    asked = Run(InProcess(), Steps(Console(), True), out, **options)
    return Reproduction(experiments, asked, again)


def computed(experiments: Experiments) -> int:
    return len((experiments.folder / "own" / "computed.txt").read_text())


def test_claims_are_judged_by_what_the_system_did(experiments: Experiments) -> None:
    (outcome,) = reproduction(experiments).run()
    assert outcome.measures["delivered"] == 10
    assert [verdict.agrees for _, verdict in outcome.verdicts] == [True, False]


def test_what_was_computed_is_kept_until_it_is_to_be_forgotten(experiments: Experiments) -> None:
    (first,) = reproduction(experiments).run()
    (second,) = reproduction(experiments).run()
    assert computed(experiments) == 1
    assert first.measures == second.measures
    (_,) = reproduction(experiments, again=True).run()
    assert computed(experiments) == 2


def test_a_point_is_kept_where_a_run_was_cut_off(experiments: Experiments) -> None:
    (_,) = reproduction(experiments).run()
    for whole in experiments.folder.parent.rglob("whole.json"):
        whole.unlink()
    (_,) = reproduction(experiments).run()
    assert computed(experiments) == 1


def test_size_and_seed_decide_the_numbers(experiments: Experiments) -> None:
    (one,) = reproduction(experiments).run()
    (other,) = reproduction(experiments, seed=1, quick=True).run()
    assert one.measures["drawn"] != other.measures["drawn"]
    assert (one.measures["size"], other.measures["size"]) == (1000, 10)


def test_results_stand_in_the_gallery(experiments: Experiments) -> None:
    run = reproduction(experiments)
    (outcome,) = run.run()
    run.save(outcome, experiments.results("own"))
    pictures = {file.suffix for file in experiments.results("own").iterdir()}
    assert pictures == {".json", ".png", ".svg"}
    assert stored(experiments)["own", "figure_1"].verdicts == outcome.verdicts
    page = gallery(experiments)
    assert "| [A paper](#a-paper) | 1 | 2 | 1 |" in page
    assert "*Draws rise*: they are random" in page


def test_the_same_drawing_gives_the_same_bytes(experiments: Experiments) -> None:
    run = reproduction(experiments)
    (outcome,) = run.run()
    folder = experiments.results("own")
    contents = []
    for _ in range(2):
        run.save(outcome, folder)
        contents.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("paper", "figure", "said"),
    [
        ("owm", None, "there is no paper 'owm'; .*own"),
        ("own", "figure_2", "there is no figure 'figure_2' of own; .*figure_1"),
    ],
)
def test_unknown_names_are_errors_that_say_what_exists(
    experiments: Experiments, paper: str, figure: str | None, said: str
) -> None:
    with pytest.raises(UnknownExperiment, match=said):
        experiments.chosen(paper, figure)


def test_a_folder_without_experiments_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownExperiment, match=r"expected a folder for each paper"):
        Experiments(tmp_path)


def test_every_mistake_in_what_is_expected_is_named(experiments: Experiments) -> None:
    wrong = {
        "title": "A paper",
        "figures": {"figure_1": {"title": "", "shows": "", "claims": [{}]}},
    }
    (experiments.folder / "own" / "expected.json").write_text(json.dumps(wrong))
    with pytest.raises(UnknownExperiment, match=r"own/expected.json: figures.figure_1.claims.0"):
        Experiments(experiments.folder)
