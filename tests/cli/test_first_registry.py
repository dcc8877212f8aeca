"""A registry that another process reads."""

import os
from threading import Thread

import pytest

from shortlist.cli import first_registry
from shortlist.cli.compiling import LARGE
from shortlist.cli.first_registry import begin_to_read
from shortlist.intake.files import read_registry
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.model.problem import InvalidRegistry
from shortlist.model.settings import Limits

GOOD = "subscriptions: [{id: cheap, where: rent < 900}]"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "registry.yaml"
    file.write_text(GOOD)
    return file


def test_it_is_what_one_process_reads(file):
    assert begin_to_read(file, Limits())() == read_registry(file, Limits())


def test_what_is_wrong_is_told(file):
    file.write_text("subscriptions: [{id: cheap, where: rent <}, {}]")
    with pytest.raises(InvalidRegistry) as expected:
        read_registry(file, Limits())
    with pytest.raises(InvalidRegistry) as found:
        begin_to_read(file, Limits())()
    assert found.value.problems == expected.value.problems
    assert str(found.value) == str(expected.value)


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidRegistry, match="missing"):
        begin_to_read(tmp_path / "missing", Limits())()


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(InvalidRegistry, match="too long"):
        begin_to_read(tmp_path / ("x" * 300), Limits())()


def test_a_pipe(tmp_path):
    pipe = tmp_path / "registry.yaml"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(GOOD,))
    writer.start()
    (subscription,) = begin_to_read(pipe, Limits())().subscriptions
    writer.join()
    assert subscription.id == "cheap"


@pytest.mark.parametrize("ends", ["before", "in the middle of"])
def test_a_reader_that_ends_is_replaced_by_this_process(file, monkeypatch, ends):
    monkeypatch.setattr(first_registry, "_read", end if ends == "before" else end_within)
    assert begin_to_read(file, Limits())() == read_registry(file, Limits())


def end(*_):
    os._exit(1)


def end_within(asking, *_):
    os.write(asking.fileno(), (100).to_bytes(4))  # so many bytes follow
    os._exit(1)


def test_a_large_one_is_compiled(tmp_path):
    file, into = tmp_path / "registry.json", (tmp_path / "first", 2)
    file.write_text('{"subscriptions": [{"id": "s1", "where": "rent < 900"}]}' + " " * LARGE)
    found = begin_to_read(file, Limits(), into)()
    assert isinstance(found, CompiledRegistry)
    assert (found.registry(), found.shards) == (read_registry(file), 2)
    file.write_text('{"subscriptions": [{"id": "s1", "where": "rent <"}]}' + " " * LARGE)
    with pytest.raises(InvalidRegistry, match="subscription 's1': where: column 7"):
        begin_to_read(file, Limits(), into)()
