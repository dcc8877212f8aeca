"""The commands `overlay simulate` and `overlay cover`."""

import json

import pytest
from typer.testing import CliRunner

from shortlist.cli.app import app as main

TOPOLOGY = {"shape": {"star": {"edges": 3}}, "publishers": {"ads": "b1"}}
REGISTRY = {
    "subscriptions": [
        {"id": "flats", "where": "rent < 1200"},
        {"id": "cheap", "where": "rent < 700"},
    ]
}
LINES = [
    {"id": "a", "source": "ads", "time": "2026-03-01T08:00:00Z", "data": {"rent": 650}},
    {"time": "2026-03-01T08:01:00Z", "unsubscribe": "cheap"},
    {"id": "b", "source": "ads", "time": "2026-03-01T08:02:00Z", "data": {"rent": 600}},
    {"id": "c"},
]


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("net.json", "registry.json", "lines.jsonl")]
    paths[0].write_text(json.dumps(TOPOLOGY))
    paths[1].write_text(json.dumps(REGISTRY))
    paths[2].write_text("\n".join(map(json.dumps, LINES)))
    return [*map(str, paths)]


def said(*words: str):
    return CliRunner().invoke(main, ["overlay", *words])


def test_simulate_counts_messages(files):
    done = said("simulate", *files, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[0])
    assert (found["strategy"], found["deliveries"], found["recall"]) == ("covering", 3, 1.0)
    assert "1 rejected: source: is missing" in done.stderr


def test_compare_takes_the_strategies_that_fit(files, tmp_path):
    image = tmp_path / "net.svg"
    done = said("simulate", *files, "--json", "--compare", "--draw", str(image), "--place", "both")
    names = [json.loads(line)["strategy"] for line in done.stdout.splitlines()]
    assert names[:2] == ["publication-flooding", "subscription-flooding"]
    assert len(names) == 6
    assert image.read_text().startswith("<svg")


def test_people_get_a_table(files):
    done = said("simulate", *files, "--strategy", "rendezvous", "--grid", "rent=500,1000")
    assert done.exit_code == 0, done.output
    assert "rendezvous" in done.stdout
    assert "subscribe by hop: 1:" in done.stdout


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--strategy", "telepathy"], "--strategy: expected one of publication-flooding"),
        (["--place", "nearby"], "--place: expected one of random"),
        (["--grid", "rent"], "--grid: expected ATTRIBUTE=NUMBER,NUMBER"),
    ],
)
def test_flags_that_are_none(files, flags, problem):
    done = said("simulate", *files, *flags)
    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.replace("│", " ").split())


def test_cover_of_drawn_intervals():
    done = said("cover", "--subscriptions", "2000", "--k", "1", "--k", "10", "--json")
    one, ten = map(json.loads, done.stdout.splitlines())
    assert one["regular_cover"] == one["ancestor_cover"] == one["rank_cover"]
    assert ten["ancestor_cover"] < ten["rank_cover"] < ten["rank_cover_first_arrived"] < 1


def test_cover_of_ranges_of_two_attributes():
    done = [said("cover", "--subscriptions", "500", "--attributes", n, "--json") for n in "12"]
    one, two = (json.loads(each.stdout.splitlines()[0])["regular_cover"] for each in done)
    assert one < two
    done = said("cover", "--subscriptions", "5", "--master", "local")
    assert (done.exit_code, "expected --on spark with it" in done.stderr) == (2, True)


def test_cover_of_a_registry(files, tmp_path):
    done = said("cover", files[1], "--k", "1")
    assert done.exit_code == 0, done.output
    assert "50.00%" in done.stdout
    (tmp_path / "words.json").write_text(
        json.dumps({"subscriptions": [{"id": "s", "where": "genre = 'drama'"}]})
    )
    done = said("cover", str(tmp_path / "words.json"))
    assert done.exit_code == 2
    assert "subscription 's': where: expected ranges of numbers" in done.stderr
    assert said("cover").exit_code == 2
