"""Registries that mention many attributes: the work of a batch grows with them, and no faster."""

import json
import sys

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import line_reader
from shortlist.intake.files import registry_from_documents
from shortlist.model.items import Items
from shortlist.model.settings import Settings

SETTINGS = Settings(time="arrival")


def wide_registry(attributes):
    score = "min(" + ", ".join(f"a{number}" for number in range(attributes)) + ")"
    wide = {"id": "wide", "where": "rent > 100", "score": score}
    return registry_from_documents({"subscriptions": [wide, {"id": "plain", "where": "rent > 5"}]})


def batches(attributes):
    """A function that runs one more batch of a deployment whose registry is wide."""
    registry = wide_registry(attributes)
    engine = Engine(registry, SETTINGS)

    def run(position, lines):
        content = [
            json.dumps(
                {"id": f"{position}-{number}", "source": "s", "data": {"rent": 200}}
            ).encode()
            for number in range(lines)
        ]
        positions = range(position, position + lines)
        times = [10**15 + at * 10**6 for at in positions]
        items = line_reader(engine, registry, SETTINGS).lines(positions, content, times)
        return engine.run(items).deliveries

    run(1, 2)  # what is compiled once does not count
    return run


def calls(work):
    """How often Python functions are called, and generators resumed, while `work` runs."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("lines", [1, 80])
def test_a_batch_takes_steps_in_proportion_to_the_attributes_mentioned(lines):
    few, many = batches(150), batches(600)
    little = calls(lambda: few(1_000, lines))
    assert calls(lambda: many(1_000, lines)) < 4.5 * little


def test_columns_are_not_listed_for_each_attribute(monkeypatch):
    listed = []
    paths = Items.paths.func
    monkeypatch.setattr(
        Items, "paths", property(lambda items: listed.append(items) or paths(items))
    )
    run = batches(200)
    listed.clear()
    assert [delivery.shortlist for delivery in run(1_000, 1)] == ["plain"]
    assert len(listed) < 20
