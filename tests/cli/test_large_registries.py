"""`run` with a registry that it compiles on the way in."""

import pytest

from shortlist.cli import compiling
from tests.cli.programs import answer, flat, json_lines, shortlist

SUBSCRIPTIONS = [
    {"id": "cheap", "where": "rent < 900", "policy": {"kind": "window", "k": 1, "window": "1h"}},
    {"id": "near", "shortlist": "cheap", "where": "rnt > 1"},
]
FLATS = [flat("f1", 850, "2026-03-01T12:00:00Z"), flat("f2", 700, "2026-03-01T12:10:00Z")]


@pytest.fixture
def files(tmp_path):
    registry, flats = tmp_path / "registry", tmp_path / "flats.jsonl"
    registry.mkdir()
    (registry / "subscriptions.jsonl").write_text(json_lines(*SUBSCRIPTIONS))
    flats.write_text(json_lines(*FLATS) + "broken\n")
    return registry, flats


@pytest.fixture
def every_registry_is_large(monkeypatch):
    monkeypatch.setattr(compiling, "LARGE", 0)


@pytest.mark.parametrize("more", [(), ("--stream",), ("--shards", 2)])
def test_it_leads_to_the_same(files, tmp_path, monkeypatch, more):
    found = []
    for least in (compiling.LARGE, 0):
        monkeypatch.setattr(compiling, "LARGE", least)
        out = tmp_path / f"{least}.jsonl"
        said = answer("run", *files, "--out", out, "--on", "process", *more)
        rejects = (tmp_path / f"{out.name}.rejects.jsonl").read_bytes()
        found.append((out.read_bytes(), rejects, said["deliveries"], said["matched"]))
    assert found[0] == found[1]
    assert found[0][2:] == (2, 2)


def test_it_is_not_left_behind(files, tmp_path, every_registry_is_large):
    before = {*tmp_path.rglob("*")}
    answer("run", *files, "--out", tmp_path / "out.jsonl", "--on", "process")
    made = {path.name for path in {*tmp_path.rglob("*")} - before}
    assert made == {"out.jsonl", "out.jsonl.rejects.jsonl"}


def test_attributes_that_nobody_has_are_named(files, tmp_path, every_registry_is_large):
    said = answer("run", *files, "--out", tmp_path / "out.jsonl", "--on", "process")
    assert said["warnings"] == ["rnt: none of 2 publications has it; did you mean rent?"]


def test_what_is_wrong_is_said_as_of_a_small_one(files, tmp_path, monkeypatch):
    (files[0] / "subscriptions.jsonl").write_text(json_lines({"id": "s", "where": "rent <"}, {}))
    said = []
    for least in (compiling.LARGE, 0):
        monkeypatch.setattr(compiling, "LARGE", least)
        done = shortlist("run", *files, "--out", tmp_path / "out.jsonl", "--on", "process")
        said.append((done.exit_code, done.stderr))
    assert said[0] == said[1]
    assert said[0][0] == 2
    assert "subscription 's': where: column 7" in said[0][1]
