"""Policies beside each other: what is measured, on inputs small enough to count by hand."""

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.experiments.comparing import Comparison, compared, read_policies
from shortlist.experiments.ranking import Ranking, Rejected
from shortlist.intake.files import registry_from_documents
from shortlist.jobs.process import InProcess
from shortlist.progress import Steps

FILMS = [("drama", 8), ("drama", 6), ("comedy", 9), ("drama", 7), ("western", 2), ("comedy", 4)]
GENRES = {
    "shortlists": [{"id": "anna", "subscriber": "anna"}],
    "subscriptions": [
        {"id": "dramas", "shortlist": "anna", "where": "genre = 'drama'", "score": "rating"},
        {"id": "comedies", "shortlist": "anna", "where": "genre = 'comedy'", "score": "rating"},
    ],
}


def film(number, genre, rating, **fields):
    time = f"2026-01-01T00:00:0{number}Z"
    data = {"genre": genre, "rating": rating}
    return {"id": f"f{number}", "source": "cinema", "time": time, "data": data, **fields}


@pytest.fixture
def films(tmp_path: Path) -> Path:
    file = tmp_path / "films.jsonl"
    lines = (json.dumps(film(number, *each)) for number, each in enumerate(FILMS))
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def measured(registry, source, policies, quality=None):
    ranking = Ranking(InProcess(), Steps(Console(), quiet=True))
    comparison = Comparison(registry_from_documents(registry), source, ranking, quality)
    return {each.policy: each for each in comparison.run(compared(read_policies(policies)))}


def test_what_each_policy_did(films):
    found = measured(GENRES, films, {"two": {"kind": "top-k", "k": 2}}, "rating / 10")
    everything, two = found["everything"], found["two"]
    assert (everything.matched, everything.delivered, everything.saved) == (5, 5, 0.0)
    assert everything.entropy == pytest.approx(0.970951)  # three dramas, two comedies
    assert everything.fairness == pytest.approx(25 / 26)
    assert everything.distance == pytest.approx(5 / 3)  # 1 and 2 of dramas, 2 of comedies
    assert everything.score == pytest.approx(6.8)
    assert everything.quality == pytest.approx(0.68)
    assert (two.delivered, two.saved) == (3, pytest.approx(0.4))  # 8, 6 and 9
    assert two.score == pytest.approx(23 / 3)


def test_the_registry_as_it_is_written_stands_beside(films):
    one = [{**GENRES["shortlists"][0], "policy": {"kind": "top-k", "k": 1}}]
    assert measured({**GENRES, "shortlists": one}, films, {})["as written"].delivered == 2


def test_thresholds_change_where_the_kth_best_does(films):
    best = {"best": {"kind": "window", "k": 1, "window": None}}
    assert measured(GENRES, films, best)["best"].threshold_changes == 2  # 8, then 9


def test_a_delivery_is_counted_at_its_most_specific_subscription(films):
    every = {"id": "all", "shortlist": "anna", "score": "rating + 1"}
    nested = {**GENRES, "subscriptions": [*GENRES["subscriptions"], every]}
    found = measured(nested, films, {})["everything"]
    assert found.delivered == 6
    assert found.entropy == pytest.approx(1.459148)  # dramas 3, comedies 2, other 1


def test_where_nothing_can_be_said_there_is_no_measure(films):
    alone = {"subscriptions": [{"id": "none", "where": "rating > 100"}]}
    found = measured(alone, films, {}, "rating")["everything"]
    assert (found.delivered, found.entropy, found.score, found.quality) == (0, None, None, None)


def test_an_input_with_rejects_is_not_compared(films):
    with films.open("a") as file:
        file.write("{}\n")
    with pytest.raises(Rejected, match=r"found 1 rejects, the first at films.jsonl:7: "):
        measured(GENRES, films, {})


def test_the_command_prints_and_draws(films, tmp_path):
    (tmp_path / "registry.json").write_text(json.dumps(GENRES))
    (tmp_path / "policies.yaml").write_text("two: {kind: top-k, k: 2}\n")
    given = ["experiment", str(tmp_path / "registry.json"), str(films), "--json"]
    options = ["--policies", str(tmp_path / "policies.yaml"), "--draw", str(tmp_path / "all.svg")]
    answer = CliRunner().invoke(app, [*given, *options, "--policy", 'one={"kind":"top-k","k":1}'])
    assert answer.exit_code == 0, answer.output
    names = [json.loads(line)["policy"] for line in answer.stdout.splitlines()]
    assert names == ["everything", "as written", "two", "one"]
    assert (tmp_path / "all.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--policy", "one"], "expected NAME=POLICY"),
        (["--policy", 'one={"kind": "top-k"}'], "policy.k"),
        (["--policies", "missing.yaml"], "missing.yaml"),
        (["--draw", "all.pdf"], "expected a name that ends in .png or .svg"),
        (["--quality", "rating +"], "expected"),
    ],
)
def test_mistakes_are_named(films, tmp_path, options, said):
    (tmp_path / "registry.json").write_text(json.dumps(GENRES))
    given = ["experiment", str(tmp_path / "registry.json"), str(films)]
    answer = CliRunner().invoke(app, [*given, *options])
    assert answer.exit_code == 2
    assert said in " ".join(answer.output.split())
