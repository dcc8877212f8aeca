"""What commands that need little do without: time goes into modules that nobody uses."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from shortlist.cli.app import app
from tests.cli.programs import Deployment, flat, json_lines

HEAVY = {"numba", "numpy", "pandas", "prometheus_client", "pyarrow", "pyspark"}
NOUNS = {"shortlist.intake.documents", "shortlist.language.parser", "shortlist.model.command"}

COMMAND = """
import sys
from shortlist.cli import main
sys.argv = {arguments}
try:
    main()
except SystemExit as end:
    assert not end.code
"""


def loaded(program, which=HEAVY):
    """Those of some modules that a program has imported when it ends."""
    code = f"{program}\nimport sys\nprint(sorted({which} & sys.modules.keys()), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1]


def after(*arguments, which=HEAVY):
    return loaded(COMMAND.format(arguments=["shortlist", *map(str, arguments)]), which)


@pytest.fixture
def url(tmp_path):
    Deployment(tmp_path, {"subscriptions": [{"id": "cheap", "where": "rent < 900"}]})
    return f"sqlite:{tmp_path}/city.log"


def test_the_package_imports_what_is_asked_for():
    assert loaded("import shortlist") == "[]"
    assert loaded("from shortlist import Settings, Registry, ShortlistError") == "[]"


def test_help_imports_nothing_heavy():
    assert after("--help", which=HEAVY | {"pydantic"}) == "[]"
    assert after("up", "--help") == "[]"


def test_help_of_the_program_is_that_of_all_commands():
    shown = CliRunner().invoke(app, ["--help"], prog_name="shortlist", env={"COLUMNS": "90"})
    told = subprocess.run(
        [sys.executable, "-c", COMMAND.format(arguments=["shortlist", "--help"])],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "90"},
    )
    assert told.stdout == shown.stdout


def test_publishing_imports_nothing_heavy(url, tmp_path):
    (tmp_path / "flats.jsonl").write_text(json_lines(flat("f1", 800)))
    lines = tmp_path / "flats.jsonl"
    assert after("publish", "--log", url, lines, which=HEAVY | NOUNS) == "[]"


def test_looking_imports_nothing_heavy(url):
    assert after("status", "--log", url, which=HEAVY | NOUNS) == "[]"
    assert after("watch", "--log", url, "--after", 0, "--until-idle", 0) == "[]"


def test_commands_are_checked_without_an_engine(url, tmp_path):
    (tmp_path / "more.jsonl").write_text('{"id": "more", "where": "rooms > 2"}\n')
    told = after("subscribe", "--log", url, tmp_path / "more.jsonl")
    assert told == "['numpy', 'pyarrow']"  # which the registry of a deployment is read with


def test_a_registry_is_checked_without_spark(tmp_path):
    (tmp_path / "registry.json").write_text('{"subscriptions": [{"id": "all"}]}')
    assert "pyspark" not in after("check", tmp_path / "registry.json")


def test_a_small_job_in_a_process_imports_neither_spark_nor_pandas(tmp_path):
    (tmp_path / "registry.json").write_text('{"subscriptions": [{"id": "all", "score": "rent"}]}')
    (tmp_path / "flats.jsonl").write_text(json_lines(flat("f1", 800)))
    job = ("run", tmp_path / "registry.json", tmp_path / "flats.jsonl", "--on", "process")
    assert after(*job, "--out", tmp_path / "out.jsonl") == "['numba', 'numpy', 'pyarrow']"
    assert "f1" in (tmp_path / "out.jsonl").read_text()


def test_a_small_job_imports_only_what_it_uses(tmp_path):
    (tmp_path / "registry.json").write_text('{"subscriptions": [{"id": "all", "score": "rent"}]}')
    (tmp_path / "flats.jsonl").write_text(json_lines(flat("f1", 800)))
    job = ("run", tmp_path / "registry.json", tmp_path / "flats.jsonl", "--on", "process")
    unused = {"multiprocessing", "numba.cpython.unicode", "pyarrow.parquet", "ssl"}
    after(*job, "--out", tmp_path / "out.jsonl")  # compiles what is not kept yet
    assert after(*job, "--out", tmp_path / "out.jsonl", which=unused) == "[]"
