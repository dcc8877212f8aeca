"""What `up` refuses before it starts anything, and what it says."""

from time import sleep
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.cli.first_registry import compared
from shortlist.cli.screen import RejectLine
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import begin
from shortlist.live.locking import only_driver
from shortlist.live.places import announce, files_in
from shortlist.live.tables import REFUSALS, table_of
from shortlist.log.opening import open_log
from shortlist.model.settings import Limits

BAD = [
    (["--log", "redis://x", "--state", "s"], "expected sqlite:PATH or nats://HOST:PORT/NAME"),
    (["--log", "nats://127.0.0.1:1/x"], "expected --state FOLDER"),
    (["--log", "sqlite:a.log", "--plan", "best"], "'best' is not one of 'replicate'"),
    (["--log", "sqlite:a.log", "--heartbeat", "soon"], "--heartbeat: 'soon' is not a duration"),
    (["--log", "sqlite:a.log", "--metrics", "here"], "--metrics: expected HOST:PORT or off"),
    (["--log", "sqlite:a.log", "none.yaml"], "none.yaml"),
    (["--log", "sqlite:a.log", "--workers", "2"], "--workers: expected --on process with it"),
    (
        ["--log", "sqlite:a.log", "--on", "process", "--master", "local"],
        "--master: expected --on spark with it",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_arguments_are_named(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(
        "shortlist.spark.session.any_session", lambda master: pytest.fail("started")
    )
    done = CliRunner().invoke(app, ["up", *arguments])
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.parametrize("on", ["spark", "process"])
def test_a_second_one_is_refused_before_it_starts_anything(tmp_path, monkeypatch, on):
    monkeypatch.chdir(tmp_path)
    for start in ("_first_registry", "begin_ground"):
        monkeypatch.setattr(f"shortlist.cli.running.{start}", lambda *_: pytest.fail("started"))
    with only_driver(tmp_path / "state"):
        words = ["up", "--log", "sqlite:a.log", "--state", "state", "--metrics", "off", "--on", on]
        done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "expected no running deployment, found one" in done.stderr


def report(*reasons):
    found = [(number, "{}", reason, why) for number, (reason, why) in enumerate(reasons)]
    return SimpleNamespace(refusals=table_of(found, REFUSALS))


def test_a_line_says_what_was_turned_away_but_not_with_every_batch():
    line = RejectLine()
    assert line.after(report(), now=0) is None
    late = ("late by 2 s", "late")
    assert line.after(report(late, late, ("duplicate", "duplicate")), now=1) == (
        "rejected: 2 late, 1 duplicate; the last: duplicate (shortlist watch --rejects)"
    )
    assert line.after(report(late), now=5) is None
    assert line.after(report(), now=12) == (
        "rejected: 1 late; the last: late by 2 s (shortlist watch --rejects)"
    )
    assert line.after(report(), now=30) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("subscriptions: [{id: s, score: 1}]", "which has all of it"),
        ("subscriptions: [{id: s, score: 0.5}, {id: t}]", "2 differ: `shortlist diff"),
        ("subscriptions: [{id: s, scor: 1}]", "scor"),
        ("vocabulary: {x: {type: time}}", "vocabulary"),
    ],
)
def test_who_comes_again_hears_what_a_registry_would_change(tmp_path, capsys, text, words):
    log, registry = f"sqlite:{tmp_path / 'a.log'}", tmp_path / "registry.yaml"
    first = registry_from_documents({"subscriptions": [{"id": "s", "score": 1}]})
    opened = open_log(log)
    begin(opened, files_in(tmp_path / "state"), first, 1)
    announce(opened, tmp_path / "state")
    opened.close()
    registry.write_text(text)
    said = ""
    with compared(registry, log, Limits()):
        while "\n" not in said:
            said += capsys.readouterr().err
            sleep(0.01)
    assert said.startswith(f"{registry}: left aside, since the deployment has a registry already")
    assert words in said
