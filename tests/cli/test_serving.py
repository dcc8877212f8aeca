"""The command line of `serve`: what it hands on to the deployment, and what files of ours say."""

import json
import re
import resource
import shlex
import sys
import time
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shortlist.cli.app import app
from shortlist.cli.options import DeploymentOptions
from shortlist.cli.serving import STOP_SECONDS, deployed
from shortlist.service.serving import PATIENCE_SECONDS, raise_file_limit
from tests.cli.programs import shortlist

DEPLOY = Path(__file__).parents[2] / "deploy"
PROGRAM = typer.main.get_command(app)


def parsed(command, *words):
    """What a command line means; raises what the program would say of one that is wrong."""
    return PROGRAM.commands[command].make_context(command, [*words]).params


OPTIONS = st.builds(
    DeploymentOptions,
    state=st.none() | st.just(Path("a folder")),
    basis=st.sampled_from([None, "event", "arrival"]),
    lateness=st.sampled_from([None, "0", "5s"]),
    ahead=st.sampled_from([None, "off"]),
    dedup=st.sampled_from(["24h", "1h"]),
    advertised=st.sampled_from(["optional", "required"]),
    limit=st.none() | st.just(["predicates=9", "nesting=3"]),
    shards=st.none() | st.integers(1, 256),
    plan=st.sampled_from(["auto", "broadcast"]),
    with_data=st.booleans(),
    changes=st.booleans(),
    at_most=st.integers(1, 99_999),
    logs=st.none() | st.just(Path("log.json")),
    master=st.none() | st.just("local[2]"),
    workers=st.none() | st.integers(1, 256),
)


@given(OPTIONS)
def test_options_that_are_handed_on_mean_the_same(given):
    words = ("--log", "sqlite:city.log", *given.arguments())
    for command in ("up", "serve"):
        found = parsed(command, *words)
        options = {each.name: found[each.name] or None for each in fields(given)}
        assert options == {each.name: getattr(given, each.name) or None for each in fields(given)}


def test_options_of_a_deployment_need_one():
    done = shortlist("serve", "--log", "sqlite:city.log", "--changes")
    assert done.exit_code == 2
    assert "--changes: expected --up or REGISTRY with it" in " ".join(done.output.split())
    done = shortlist("serve", "--up", "--tenant", "a=sqlite:city.log", "--logs", "l.json")
    assert "--logs: expected --log with it, found --tenant" in " ".join(done.output.split())


def test_command_lines_in_files_of_ours_can_be_read(monkeypatch):
    monkeypatch.setenv("SHORTLIST_LOG", "sqlite:city.log")
    unit = (DEPLOY / "shortlist.service").read_text()
    (line,) = re.findall(r"^ExecStart=\S+/shortlist (.+)$", unit, re.MULTILINE)
    parsed(*shlex.split(line))

    image = (DEPLOY / "Containerfile").read_text()
    assert 'ENTRYPOINT ["shortlist"]' in image
    (line,) = re.findall(r"^CMD (.+)$", image, re.MULTILINE)
    parsed(*json.loads(line))

    pod = (DEPLOY / "kubernetes.yaml").read_text()
    lines = re.findall(r"args: (\[serve.+\])", pod)
    assert len(lines) == 2
    for line in lines:
        parsed(*yaml.safe_load(line))
    assert parsed(*yaml.safe_load(lines[1]))["state"] == Path("/data/state")
    (line,) = re.findall(r"\|\| shortlist (.+) >", pod)
    parsed(*shlex.split(line))
    with pytest.raises(Exception, match="No such option"):
        parsed("serve", "--upp")


def test_a_deployment_has_the_time_to_stop_before_it_is_killed():
    (seconds,) = re.findall(
        r"^TimeoutStopSec=(\d+)s", (DEPLOY / "shortlist.service").read_text(), re.M
    )
    _, pods = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    grace = pods["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert min(int(seconds), grace) > PATIENCE_SECONDS + STOP_SECONDS


def test_as_many_files_may_be_open_as_are_allowed():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    (limit,) = re.findall(r"^LimitNOFILE=(\d+)", (DEPLOY / "shortlist.service").read_text(), re.M)
    assert int(limit) > 10_000


def child(tmp_path, ending):
    """A program in place of a deployment: when its standard input ends, it does something more."""
    code = f"import sys, time; sys.stdin.read(); {ending}; open({str(tmp_path / 'done')!r}, 'w')"
    return [sys.executable, "-c", code]


def test_a_deployment_is_waited_for(tmp_path, capsys):
    server, done, metrics = SimpleNamespace(should_exit=False), tmp_path / "done", {}
    ending = """print('a word'); print('{"metrics": "http://here"}'); time.sleep(0.5)"""
    with deployed({"zoo": child(tmp_path, ending)}, server, metrics):
        assert not done.exists()
    assert done.exists()
    assert (server.should_exit, metrics) == (True, {"zoo": "http://here"})
    assert capsys.readouterr() == ("a word\n", "")


def test_one_that_does_not_stop_is_waited_for_so_long_and_not_killed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shortlist.cli.serving.STOP_SECONDS", 0.1)
    wait = f"time.sleep(1); open({str(tmp_path / 'later')!r}, 'w')"
    with deployed({None: child(tmp_path, wait)}, SimpleNamespace(), {}):
        pass
    assert not (tmp_path / "later").exists()
    assert "has not stopped: it goes on alone" in capsys.readouterr().err
    deadline = time.monotonic() + 60
    while not (tmp_path / "done").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_end_of_a_deployment_is_noticed_though_nothing_can_be_printed(tmp_path, monkeypatch):
    """A closed standard output once ended the thread that watches, and the service went on."""

    class Closed:
        def write(self, text):
            raise BrokenPipeError

        flush = write

    server, metrics = SimpleNamespace(should_exit=False), {}
    lines = ("a word", '{"metrics": cut off', '{"metrics": "http://here"}')
    command = [sys.executable, "-c", f"print(*{lines!r}, sep=chr(10))"]
    monkeypatch.setattr(sys, "stdout", Closed())
    deadline = time.monotonic() + 60
    with pytest.raises(typer.Exit), deployed({None: command}, server, metrics):  # noqa: PT012
        while not server.should_exit:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert metrics == {None: "http://here"}
