"""The worked cases: scores and degrees to 1e-6, everything else exactly, in order."""

import json
from pathlib import Path

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import read_registry

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())
CLOSE = ("score", "possibility", "necessity")


def documents(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def exact(document):
    return {name: value for name, value in document.items() if name not in CLOSE}


def test_there_are_cases():
    assert len(FOLDERS) >= 7


@pytest.mark.parametrize("folder", FOLDERS)
def test_case(folder):
    inputs = [CASES / folder / name for name in ("timeline.jsonl", "publications.jsonl")]
    lines = next(file for file in inputs if file.exists()).read_bytes().splitlines()
    result = replay(read_registry(CASES / folder / "registry.json"), lines)
    found = [delivery.document() for delivery in result.deliveries]
    expected = documents(CASES / folder / "expected.jsonl")
    assert list(map(exact, found)) == list(map(exact, expected))
    for name in CLOSE:
        assert [one[name] for one in found] == pytest.approx(
            [one[name] for one in expected], abs=1e-6
        )
    assert result.rejects == []
