"""What is live in a deployment, and what a registry makes of it."""

import json

import pytest
import yaml

from tests.cli.programs import ARRIVAL, Deployment, flat, json_lines, shortlist

REGISTRY = {
    "vocabulary": {"rent": {"terms": {"cheap": {"trapezoid": [None, None, 1200, 1500]}}}},
    "shortlists": [{"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 2}}],
    "subscriptions": [
        {"id": "all", "shortlist": "flats"},
        {"id": "dear", "where": "rent > 3000", "subscriber": "anna"},
    ],
    "advertisements": [{"id": "offers", "source": "ads", "k": 3}],
}


@pytest.fixture
def deployment(tmp_path):
    return Deployment(tmp_path, REGISTRY)


def written(tmp_path, registry):
    file = tmp_path / "wanted.json"
    file.write_text(json.dumps(registry))
    return file


def listed(*arguments, log):
    done = shortlist("list", *arguments, "--json", log=log)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_shortlists_are_listed_with_their_policies_and_deliveries(deployment):
    deployment.publish(flat("f1", 900), flat("f2", 4000))
    deployment.beat("2026-03-01T13:00:00Z")
    deployment.step()
    time = "2026-03-01T12:00:00.000Z"
    assert listed("--deliveries", log=deployment.url) == [
        {
            "id": "dear", "owner": "anna", "about": "everything",
            "subscriptions": 1, "delivered": 1, "last": time,
        },
        {
            "id": "flats", "owner": "you", "about": "top-k",
            "subscriptions": 1, "delivered": 2, "last": time,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--subscriber", "anna"], ["dear"]),
        (["--policy", "top-k"], ["flats"]),
        (["subscriptions"], ["all", "dear"]),
        (["subscriptions", "--policy", "top-k"], ["all"]),
        (["advertisements"], ["offers"]),
        (["--subscriber", "nobody"], []),
    ],
)
def test_lists_can_be_narrowed(deployment, arguments, names):
    assert [each["id"] for each in listed(*arguments, log=deployment.url)] == names


def test_a_list_is_a_table_for_people(deployment):
    done = shortlist("list", log=deployment.url)
    assert "flats" in done.stdout
    assert "top-k" in done.stdout
    assert yaml.safe_load(shortlist("list", "vocabulary", log=deployment.url).stdout) == {
        "rent": REGISTRY["vocabulary"]["rent"]
    }


def test_a_definition_is_printed_as_it_would_be_written(deployment):
    found = yaml.safe_load(shortlist("get", "flats", log=deployment.url).stdout)
    assert found == {
        "shortlists": REGISTRY["shortlists"],
        "subscriptions": REGISTRY["subscriptions"][:1],
    }
    done = shortlist("get", "flat", log=deployment.url)
    assert done.exit_code == 2
    assert "nothing live is called 'flat'" in done.stderr
    assert "'flats'" in done.stderr


def test_what_is_printed_differs_in_nothing(deployment, tmp_path):
    whole = tmp_path / "whole.yaml"
    whole.write_text(shortlist("get", log=deployment.url).stdout)
    done = shortlist("diff", whole, "--prune", log=deployment.url)
    assert (done.exit_code, done.stdout) == (0, "nothing differs; 4 as wanted\n")


def wanted():
    """One of each kind of change."""
    return {
        "vocabulary": REGISTRY["vocabulary"],
        "shortlists": [{"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 3}}],
        "subscriptions": [
            {"id": "all", "shortlist": "flats"},
            {"id": "cheap", "where": "rent is cheap"},
        ],
    }


def test_a_difference_says_what_would_change(deployment, tmp_path):
    done = shortlist("diff", written(tmp_path, wanted()), "--prune", log=deployment.url)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "- subscription 'dear'",
        "- advertisement 'offers'",
        "~ shortlist 'flats': policy; shortlist 'flats' starts over: k grows from 2 to 3",
        "+ subscription 'cheap'",
        "1 made, 1 changed, 2 ended; 1 as wanted",
    ]
    done = shortlist("diff", written(tmp_path, wanted()), log=deployment.url)
    assert "2 live that the registry does not have: --prune ends them" in done.stdout


def test_what_is_applied_is_so(deployment, tmp_path):
    file = written(tmp_path, wanted())
    with deployment.running():
        done = shortlist("apply", file, "--prune", "--yes", log=deployment.url)
    assert done.exit_code == 0, done.output
    assert "4 carried out, 0 rejected" in done.stdout
    assert shortlist("diff", file, "--prune", log=deployment.url).exit_code == 0


def test_terms_are_applied_with_those_who_ask_for_them(deployment, tmp_path):
    terms = {"low": {"trapezoid": [None, None, 600, 900]}}
    low = [{"id": "low", "where": "rent is low"}]
    file = written(tmp_path, {"vocabulary": {"rent": {"terms": terms}}, "subscriptions": low})
    with deployment.running():
        done = shortlist("apply", file, "--prune", "--yes", log=deployment.url)
        assert done.exit_code == 0, done.output
        sent = shortlist(
            "define", "rent", "low", '{"trapezoid": [0, 1, 2, 3]}', "--wait", log=deployment.url
        )
    words = yaml.safe_load(shortlist("list", "vocabulary", log=deployment.url).stdout)
    assert words == {"rent": {"terms": {"low": {"trapezoid": [0.0, 1.0, 2.0, 3.0]}}}}
    assert "+ term 'rent is low'" in done.stdout
    assert "- term 'rent is cheap'" in done.stdout
    assert "1 subscription changes its meaning, from the next publication on" in sent.stdout
    assert shortlist("diff", file, "--prune", log=deployment.url).stdout.splitlines() == [
        "~ term 'rent is low': 1 subscription changes its meaning, from the next publication on",
        "1 changed; 1 as wanted",
    ]


@pytest.mark.parametrize(
    ("meaning", "said"),
    [
        ("{", "define 'rent' 'low': not JSON: column 2"),
        ("7", "define 'rent' 'low': attribute 'rent': terms.low: expected"),
        ('{"values": {}}', "define 'rent' 'low': attribute 'rent': terms.low: some value must"),
    ],
)
def test_a_meaning_that_cannot_be_is_not_sent(deployment, meaning, said):
    before = deployment.log.end("input")
    done = shortlist("define", "rent", "low", meaning, log=deployment.url)
    assert (done.exit_code, done.stderr.startswith(said)) == (2, True), done.stderr
    assert deployment.log.end("input") == before


def test_nothing_is_applied_unasked(deployment, tmp_path):
    done = shortlist("apply", written(tmp_path, wanted()), log=deployment.url)
    assert done.exit_code == 2
    assert "expected --yes where nobody can be asked" in done.stderr
    assert shortlist("diff", written(tmp_path, wanted()), log=deployment.url).exit_code == 1


def test_nothing_is_sent_where_nothing_differs(deployment, tmp_path):
    before = deployment.log.end("input")
    done = shortlist("apply", written(tmp_path, REGISTRY), log=deployment.url)
    assert (done.exit_code, done.stdout) == (0, "nothing differs; 4 as wanted\n")
    assert deployment.log.end("input") == before


@pytest.mark.parametrize("size", [20, pytest.param(100_000, marks=pytest.mark.soak)])
def test_windows_of_others_stay(tmp_path, size):
    """What is applied leads to what the single command leads to."""
    window = {"kind": "window", "k": 1, "window": "1h"}
    some = [{"id": f"s{n}", "score": "rent", "policy": window} for n in range(size)]
    changed = {"id": "s3", "score": "-rent", "policy": window}
    outcomes = []
    for way in ("apply", "update"):
        place = tmp_path / way
        place.mkdir()
        deployment = Deployment(place, {"subscriptions": some}, settings=ARRIVAL)
        with deployment.running():
            flats = json_lines(*(flat(f"f{n}", rent) for n, rent in enumerate([5, 9, 7])))
            assert shortlist("publish", "--wait", log=deployment.url, text=flats).exit_code == 0
            if way == "apply":
                file = written(place, {"subscriptions": [*some[:3], changed, *some[4:]]})
                done = shortlist("apply", file, "--yes", log=deployment.url)
            else:
                line = json_lines({"subscription": "s3", "score": "-rent"})
                done = shortlist("update", "--wait", log=deployment.url, text=line)
            assert "1 carried out" in done.stdout, done.output
            later = json_lines(flat("g0", 6), flat("g1", 10))
            assert shortlist("publish", "--wait", log=deployment.url, text=later).exit_code == 0
        outcomes.append(
            [
                (delivery["shortlist"], delivery["publication"], delivery["rank"])
                for delivery in map(json.loads, contents(deployment.log))
            ]
        )
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) > 2 * size


def contents(log):
    return [entry.content for entry in log.read("deliveries", 0)]
