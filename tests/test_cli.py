"""The program as a user meets it: here in this process, and a few times in one of its own."""

import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest

from shortlist import Engine, Settings, read_registry
from shortlist.engine.replay import read_items
from tests.cli.programs import shortlist

CASE = Path(__file__).parent / "cases" / "windows"
GOOD = {"id": "p1", "source": "s", "time": "2026-03-01T00:00:00Z", "data": {"x": 1}}


def in_its_own_process(*arguments):
    command = [sys.executable, "-m", "shortlist", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return SimpleNamespace(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture
def registry(tmp_path):
    path = tmp_path / "registry.yaml"
    path.write_text("subscriptions:\n- {id: all, score: x / 10}\n")
    return path


@pytest.fixture
def publications(tmp_path):
    path = tmp_path / "publications.jsonl"
    path.write_text(json.dumps(GOOD) + "\nbroken\n" + json.dumps(GOOD) + "\n")
    return path


@pytest.mark.parametrize("option", ["--out", "--rejects", "--explain"])
def test_output_is_on_this_machine(tmp_path, monkeypatch, registry, publications, option):
    """A URL is refused before anything runs: it would be a folder that is named `s3a:`."""
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.iterdir()}
    places = {"--out": "out.jsonl"} | {option: "s3a://bucket/out.jsonl"}
    done = shortlist("run", registry, publications, *chain(*places.items()), "--on", "process")
    assert done.exit_code == 2
    assert done.stderr.startswith("s3a:/bucket/out.jsonl: expected a path that this machine mounts")
    assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=pytest.mark.spark)])
def test_run_writes_deliveries_and_rejects(tmp_path, registry, publications, on, request):
    if on == "spark":
        request.getfixturevalue("spark")
    program = shortlist if on == "spark" else in_its_own_process
    out, why = tmp_path / "out.jsonl", tmp_path / "why.jsonl"
    done = program(
        "run", registry, publications, "--out", out, "--with-data", "--strict", "--json",
        "--explain", why, "--shards", 2, "--on", on,
    )  # fmt: skip
    assert done.exit_code == 1, done.stderr
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert (report["publications"], report["deliveries"], report["rejects"]) == (1, 1, 2)
    (delivery,) = [json.loads(line) for line in out.open()]
    assert (delivery["publication"], delivery["score"], delivery["data"]) == ("p1", 0.1, {"x": 1})
    assert delivery["time"] == "2026-03-01T00:00:00.000Z"
    rejected = Path(f"{out}.rejects.jsonl").read_text().splitlines()
    rejects = [json.loads(line) for line in rejected]
    assert [reject["position"] for reject in rejects] == [
        "publications.jsonl:2",
        "publications.jsonl:3",
    ]
    assert [reject["line"] for reject in rejects] == ["broken", json.dumps(GOOD)]
    assert rejects[1]["reason"] == "duplicate"
    assert json.loads(why.read_text())["reason"] == "delivered at arrival"


def test_parquet_out_and_in_again(tmp_path, registry):
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = tmp_path / "in.parquet"
    pq.write_table(
        pa.table({"id": ["a"], "source": ["s"], "time": ["2026-03-01T00:00:00Z"], "x": [4]}), source
    )
    out = tmp_path / "out.parquet"
    done = shortlist("run", registry, source, "--out", out, "--on", "process")
    assert done.exit_code == 0, done.stderr
    table = pq.read_table(out)
    assert table.column("publication").to_pylist() == ["a"]
    assert table.column("score").to_pylist() == [0.4]
    assert "position" not in table.column_names


def test_a_broken_registry_lists_every_problem_and_exits_with_2(tmp_path, publications):
    registry = tmp_path / "broken.json"
    registry.write_text(
        json.dumps(
            {
                "subscriptions": [
                    {"id": "s1", "where": "rent <"},
                    {"id": "s2", "shortlist": "nowhere"},
                    {"id": "s3", "score": "relevance(title)"},
                ]
            }
        )
    )
    done = in_its_own_process("run", registry, publications, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    assert any(
        line.startswith("broken.json: subscription 's1': where: column 7: ") for line in lines
    )
    assert any("'s2'" in line and "'nowhere'" in line for line in lines)
    assert any("'s3': score: column" in line for line in lines)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.yaml", "nowhere.jsonl", "--out", "out.jsonl"], "nowhere.yaml"),
        (["run", "--out", "out.jsonl"], "neither"),
        (["run", "r", "p", "--timeline", "t", "--out", "o"], "both"),
        (["run", "r", "p", "--out", "o", "--lateness", "soon"], "duration"),
        (["run", "r", "p", "--out", "o", "--advertised", "maybe"], "required"),
        (["run", "r", "p", "--out", "o", "--limit", "size=3"], "NAME=NUMBER"),
        (["run", "r", "p", "--out", "o", "--limit", "degree_bits=5"], "8, 4, 3 or 2"),
        (["check", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_cannot_run_says_why_and_exits_with_2(arguments, words):
    done = shortlist(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_publications_are_an_error(tmp_path, registry):
    done = shortlist("run", registry, tmp_path / "none.jsonl", "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 2
    assert "none.jsonl" in done.stderr


def test_check_prints_a_summary():
    done = shortlist("check", CASE / "registry.json", "--json")
    assert json.loads(done.stdout)["policy window"] == 7


def test_explain_answers_one_question():
    question = ("--publication", "p7", "--shortlist", "L5")
    done = shortlist("explain", CASE / "registry.json", CASE / "publications.jsonl", *question)
    assert done.exit_code == 0, done.stderr
    assert "p7" in done.stdout
    assert "promoted" in done.stdout


def test_explain_says_when_there_is_no_such_publication():
    question = ("--publication", "nothing", "--shortlist", "L5")
    done = shortlist("explain", CASE / "registry.json", CASE / "publications.jsonl", *question)
    assert done.exit_code == 2
    assert "there is no publication 'nothing'" in done.stderr


def test_explain_reads_tables_too(tmp_path, registry):
    import datetime as dt

    import pyarrow as pa
    import pyarrow.parquet as pq

    moment = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    columns = {"id": ["a"], "source": ["s"], "time": [moment], "x": [4], "data": ['{"y": 1}']}
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table(columns), source)
    question = ("--publication", "a", "--shortlist", "all", "--json")
    done = shortlist("explain", registry, source, *question)
    assert json.loads(done.stdout)["score"] == 0.4, done.stderr
    source.write_bytes(b"PAR1 no")
    done = shortlist("explain", registry, source, *question)
    assert done.exit_code == 2
    assert done.stderr.startswith("in.parquet: ")


def test_explain_tells_why_a_publication_could_not_be_read(tmp_path, registry):
    source = tmp_path / "publications.jsonl"
    source.write_text(json.dumps(GOOD) + "\n" + json.dumps({**GOOD, "id": "p2", "time": "soon"}))
    done = shortlist("explain", registry, source, "--publication", "p2", "--shortlist", "all")
    assert done.exit_code == 2
    assert done.stderr.startswith("publications.jsonl:2: time: 'soon' is not an RFC 3339 time")


def test_explain_takes_commands_only_from_a_timeline(tmp_path, registry):
    close = {"time": "2026-02-01T00:00:00Z", "close": "all"}
    source = tmp_path / "mixed.jsonl"
    source.write_text(json.dumps(close) + "\n" + json.dumps(GOOD))
    question = ("--publication", "p1", "--shortlist", "all", "--json")
    delivered = [
        json.loads(shortlist("explain", *where, *question).stdout)["delivered"]
        for where in ((registry, source), (registry, "--timeline", source))
    ]
    assert delivered == [True, False]


def test_outputs_may_not_overwrite_each_other(tmp_path, registry, publications):
    out = tmp_path / "out.jsonl"
    for flags in (("--rejects", out), ("--explain", out)):
        done = shortlist("run", registry, publications, "--out", out, *flags)
        assert done.exit_code == 2
        assert "out.jsonl: is for the deliveries, and cannot be" in done.stderr
    done = shortlist("run", registry, publications, "--out", publications)
    assert done.exit_code == 2
    assert "publications.jsonl: is the input, and cannot be deliveries" in done.stderr


def test_a_folder_in_the_input_is_not_passed_over(tmp_path, registry, publications):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    publications.rename(tmp_path / "in" / "a.jsonl")
    done = shortlist("run", registry, tmp_path / "in", "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 2
    assert "expected files in this folder, found the folder sub" in done.stderr


def test_a_table_that_is_none_is_an_error(tmp_path, registry):
    source = tmp_path / "in.parquet"
    source.write_bytes(b"PAR1 no")
    done = shortlist("run", registry, source, "--out", tmp_path / "out.jsonl", "--on", "process")
    assert done.exit_code == 2
    assert done.stderr.startswith("in.parquet: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.spark
def test_what_spark_cannot_do_is_no_traceback(tmp_path, registry, publications):
    out = tmp_path / "out.jsonl"
    asked = ("run", registry, publications, "--out", out, "--master", "nowhere")
    done = in_its_own_process(*asked)
    assert done.exit_code == 2
    assert "Spark could not do it: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.fixture
def uneven(tmp_path):
    """A feed whose rarest topic cannot have half of it, and 200 publications for it."""
    registry, publications = tmp_path / "feed.yaml", tmp_path / "news.jsonl"
    registry.write_text(
        "shortlists:\n"
        "- {id: feed, subscriber: you, policy: {kind: novelty, rate: 0.5, period: 10}}\n"
        "subscriptions:\n"
        "- {id: sport, shortlist: feed, where: \"topic = 'sport'\"}\n"
        "- {id: opera, shortlist: feed, where: \"topic = 'opera'\"}\n"
    )
    news = [
        GOOD | {"id": f"p{n}", "data": {"topic": "sport" if n % 40 else "opera"}}
        for n in range(200)
    ]
    publications.write_text("".join(json.dumps(one) + "\n" for one in news))
    return registry, publications


WARNING = (
    "shortlist 'feed': rate 0.5 is too high for equal shares of its 2 subscriptions: "
    "expected at most 0.05, since 'opera' has 5 of 200 matches"
)


def test_check_warns_of_budgets_that_leave_no_equal_shares(uneven):
    done = shortlist("check", *uneven)
    assert (done.exit_code, done.stderr) == (0, f"warning: {WARNING}\n")
    assert json.loads(shortlist("check", *uneven, "--json").stdout)["warnings"] == [WARNING]
    assert "warnings" not in json.loads(shortlist("check", uneven[0], "--json").stdout)


def test_status_says_what_a_saved_state_holds(tmp_path, uneven):
    registry = read_registry(uneven[0])
    items, _ = read_items(registry, uneven[1].read_bytes().splitlines(), Settings(lateness=0))
    engine = Engine(registry, Settings(lateness=0))
    state = tmp_path / "state"
    engine.process(items, last=True)
    state.write_bytes(engine.snapshot())
    done = shortlist("status", state)
    assert (done.exit_code, done.stderr) == (0, f"warning: {WARNING}\n")
    assert "novelty" in done.stdout
    found = json.loads(shortlist("status", state, "--json").stdout)
    assert found["counts"]["matched"] == 200
    assert found["state"]["novelty"]["policies"] == 1
    assert found["bytes saved"] == state.stat().st_size
    torn = tmp_path / "torn"
    torn.write_bytes(state.read_bytes()[:-50])
    refused = shortlist("status", torn)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("expected a whole state, found a damaged one")


def test_check_names_what_it_could_not_take(registry, publications):
    done = shortlist("check", registry, publications)
    assert done.exit_code == 0
    broken, repeated = done.stderr.splitlines()
    assert broken.startswith("warning: publications.jsonl:2: not JSON")
    assert repeated == "warning: publications.jsonl:3: duplicate"


def test_check_of_very_bad_input_stays_short(tmp_path, registry):
    path = tmp_path / "bad.jsonl"
    path.write_text("broken\n" * 30)
    warnings = json.loads(shortlist("check", registry, path, "--json").stdout)["warnings"]
    assert len(warnings) == 11
    assert warnings[-1] == "30 rejects in all"
