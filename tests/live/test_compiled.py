"""Deployments whose registries are compiled once, and opened by whoever starts."""

import logging
import os
from pathlib import Path
from threading import Barrier, Thread

import pytest

from shortlist.engine import saving
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents
from shortlist.live import compiled, manifest
from shortlist.live.audiences import PARTS
from shortlist.live.compiled import CompiledRegistries
from shortlist.live.files import COMPILED
from shortlist.live.shard import SHARDS
from shortlist.matching.index import storage
from shortlist.matching.index.storage import FILE
from shortlist.model.settings import Limits, Settings
from tests.live.deployments import Deployment, check_seeds


@pytest.fixture(autouse=True)
def every_registry_is_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "LEAST_BYTES", 0)
    monkeypatch.setattr(os, "fsync", lambda file: None)


class Forgetful(Deployment):
    """Its workers are killed before every batch."""

    def run(self, numbered, last=False):
        SHARDS._kept.clear()
        PARTS._kept.clear()
        return super().run(numbered, last)


@pytest.mark.parametrize("part", range(4))
def test_the_same_deliveries_whoever_was_killed(part):
    check_seeds(range(3 * part, 3 * (part + 1)), Forgetful)


def test_the_same_where_registries_are_packed_again(monkeypatch):
    """A shard writes what it has, and nobody compiles that."""
    monkeypatch.setattr(saving, "FEW_CHANGES", 0)
    monkeypatch.setattr(saving, "FEW_OF", 10**9)
    monkeypatch.setattr(manifest, "MOST_BATCHES", 1)
    kept, keep = [], CompiledRegistries.keep

    def noted(known, shard, content):
        keep(known, shard, content)
        again = known.shard(content, shard.matching.limits, never, finds=shard.matching.finds)
        assert again.matching.roster.registry() == shard.matching.roster.registry()
        kept.append(content)

    monkeypatch.setattr(CompiledRegistries, "keep", noted)
    check_seeds(range(6), Forgetful)
    assert kept


def test_what_is_packed_again_takes_the_place_of_what_was_before(tmp_path):
    known, shard = CompiledRegistries(tmp_path), Shard(registry_from_documents(FLATS), Limits())
    known.keep(shard, b"at first")
    known.keep(shard, b"later")
    known.drop(shard, b"at first")
    assert known.shard(b"later", Limits(), never).matching.number("s") == 0
    assert len([*(tmp_path / "compiled").iterdir()]) == 1


def test_a_second_driver_compiles_nothing(monkeypatch):
    first = Deployment(registry_from_documents(FLATS), Settings(lateness=0), 1)
    first.driver.keep_registry()
    monkeypatch.setattr(compiled, "joining", lambda *_: never())
    first.start()
    assert first.driver.subscriptions == 1


CONTENT = b"what a state says of its registry"
FLATS = {"subscriptions": [{"id": "s", "where": "rent < 900"}]}


def never():
    raise AssertionError("compiled once more")


def opened(folder, make=never):
    return CompiledRegistries(folder).shard(CONTENT, Limits(), make)


def entry(folder):
    (found,) = (folder / COMPILED).iterdir()
    return found


def test_what_was_compiled_is_opened(tmp_path):
    assert opened(tmp_path, lambda: FLATS).matching.number("s") == 0
    assert opened(tmp_path).matching.roster.subscriptions["s"].where == "rent < 900"


def test_limits_and_content_and_kind_decide(tmp_path):
    opened(tmp_path, lambda: FLATS)
    known = CompiledRegistries(tmp_path)
    for ask in (
        lambda: known.shard(CONTENT, Limits(degree_bits=3), never),
        lambda: known.shard(b"another", Limits(), never),
        lambda: known.shard(CONTENT, Limits(), never, finds=False),
        lambda: known.admission(CONTENT, Settings(), never),
    ):
        with pytest.raises(AssertionError, match="compiled once more"):
            ask()


def damaged(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (damaged, "is damaged"),
        (lambda file: file.write_bytes(b""), "its end is missing"),
        (lambda file: file.write_bytes(file.read_bytes()[:-9]), "its end is missing"),
    ],
)
def test_a_damaged_one_is_compiled_anew(tmp_path, caplog, spoil, said):
    opened(tmp_path, lambda: FLATS)
    spoil(entry(tmp_path) / FILE)
    with caplog.at_level(logging.WARNING, "shortlist.compiled"):
        assert opened(tmp_path, lambda: FLATS).matching.number("s") == 0
    assert said in caplog.text
    assert "compiled anew" in caplog.text
    assert opened(tmp_path).matching.number("s") == 0


def test_a_foreign_one_is_compiled_anew(tmp_path, caplog):
    opened(tmp_path, lambda: FLATS)
    found = entry(tmp_path)
    others = {"subscriptions": [{"id": "another"}]}
    CompiledRegistries(tmp_path / "other").shard(b"another", Limits(), lambda: others)
    (found / FILE).write_bytes((entry(tmp_path / "other") / FILE).read_bytes())
    assert opened(tmp_path, lambda: FLATS).matching.number("s") == 0
    assert "is of another registry" in caplog.text


def test_one_of_another_version_is_compiled_anew(tmp_path, caplog, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(storage, "VERSION", "5.0")
        opened(tmp_path, lambda: FLATS)
    assert opened(tmp_path, lambda: FLATS).matching.number("s") == 0
    assert f"is of version 5.0, not {storage.VERSION}: another release" in caplog.text
    assert "it is compiled anew" in caplog.text
    assert opened(tmp_path).matching.number("s") == 0


def test_two_at_once_do_no_harm(tmp_path):
    together, found = Barrier(2), []

    def make():
        together.wait()
        return FLATS

    some = [Thread(target=lambda: found.append(opened(tmp_path, make))) for _ in range(2)]
    for each in some:
        each.start()
    for each in some:
        each.join()
    assert [shard.matching.number("s") for shard in found] == [0, 0]
    assert opened(tmp_path).matching.number("s") == 0


def test_a_full_disk_is_no_reason_to_fail(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiled, "save_parts", full)
    assert opened(tmp_path, lambda: FLATS).matching.number("s") == 0
    assert "No space left on device" in caplog.text


def test_what_nobody_opens_is_removed(tmp_path):
    opened(tmp_path, lambda: FLATS)
    old = entry(tmp_path)
    os.utime(old, (0, 0))
    CompiledRegistries(tmp_path).shard(b"another", Limits(), lambda: FLATS)
    assert not old.exists()
    assert Path(entry(tmp_path) / FILE).exists()


def test_small_registries_are_not_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "LEAST_BYTES", 1_000)
    opened(tmp_path, lambda: FLATS)
    assert [*tmp_path.iterdir()] == []
