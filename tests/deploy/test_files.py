"""The files in deploy/ name what exists: options, routes, files, volumes, the version."""

import re
import shlex
import shutil
import subprocess
from importlib.metadata import version

import pytest
import typer.main
import yaml

from shortlist.cli.app import app
from shortlist.log.sqlite import SqliteLog
from shortlist.service.app import create_app
from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
UNIT = (DEPLOY / "shortlist.service").read_text(encoding="utf-8")
SERVICE, SET = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
POD = SET["spec"]["template"]["spec"]


def checked(command, *arguments):
    """Whether the program has a command with these arguments."""
    found = typer.main.get_command(app).commands[command]
    with found.make_context(command, [*arguments]) as context:
        return context.params


def instruction(name):
    return re.findall(rf"^{name} (.*(?:\\\n.*)*)", CONTAINER, re.MULTILINE)


def test_the_container_copies_what_is_there_and_runs_what_can_be_run(monkeypatch):
    for copied in instruction("COPY"):
        assert all((ROOT / file).exists() for file in copied.split()[:-1])
    variables = dict(each.split("=", 1) for each in instruction("ENV")[0].split())
    monkeypatch.setenv("SHORTLIST_LOG", variables["SHORTLIST_LOG"])
    assert yaml.safe_load(instruction("ENTRYPOINT")[0]) == ["shortlist"]
    given = checked(*yaml.safe_load(instruction("CMD")[0]))
    assert (given["up"], given["host"]) == (True, "0.0.0.0")
    (volume,) = instruction("VOLUME")
    assert variables["SHORTLIST_LOG"].startswith(f"sqlite:{volume}/")
    assert instruction("EXPOSE") == [str(given["port"])]
    assert int(instruction("USER")[0]) == POD["securityContext"]["runAsUser"] > 0


def test_the_pod_is_what_the_service_selects_and_mounts_what_it_has():
    labels = SET["spec"]["template"]["metadata"]["labels"]
    assert SERVICE["spec"]["selector"] == SET["spec"]["selector"]["matchLabels"] == labels
    assert SET["spec"]["serviceName"] == SERVICE["metadata"]["name"]
    claims = {claim["metadata"]["name"] for claim in SET["spec"]["volumeClaimTemplates"]}
    volumes = claims | {volume["name"] for volume in POD["volumes"]}
    for container in (*POD["initContainers"], *POD["containers"]):
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert container["image"] == f"shortlist:{version('shortlist')}"
        assert container["securityContext"]["readOnlyRootFilesystem"]


def test_the_pod_runs_and_asks_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SHORTLIST_LOG", "sqlite:a.log")
    (container,) = POD["containers"]
    given = checked(*container["args"])
    (port,) = container["ports"]
    assert given["port"] == port["containerPort"]
    assert SERVICE["spec"]["ports"][0]["targetPort"] == port["name"]
    paths = create_app(SqliteLog(tmp_path / "a.log")).openapi()["paths"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in paths
        assert container[probe]["httpGet"]["port"] == port["name"]
    (first,) = POD["initContainers"]
    said = re.search(r"shortlist (allow .*?) >", first["args"][0])
    assert checked(*shlex.split(said[1]))["role"] == "operator"


def test_the_unit_runs_what_can_be_run(monkeypatch):
    monkeypatch.setenv("SHORTLIST_LOG", "sqlite:a.log")
    program, *arguments = shlex.split(re.search(r"^ExecStart=(.*)", UNIT, re.MULTILINE)[1])
    assert program.endswith("/.venv/bin/shortlist")
    assert checked(*arguments)["host"] == "127.0.0.1"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_unit_is_one(tmp_path):
    unit = tmp_path / "shortlist.service"
    # the program is not installed on the machine that tests
    unit.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={shutil.which('true')}", UNIT))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
