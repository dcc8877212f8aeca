"""Savepoints that somebody has changed: each is refused, and nothing is left behind."""

import json
import re
import subprocess
import sys
import zipfile
import zlib
from collections import Counter
from random import Random

import pytest

from shortlist.engine import strangers
from shortlist.engine.saved import Saved
from shortlist.intake.files import registry_from_documents
from shortlist.live.files import Files
from shortlist.live.registers import committed, has_deployment
from shortlist.live.rescaling import ask_for_shards, rescale, shards_asked_for
from shortlist.live.savepoint import NotPutOut, UnusableSavepoint, export, restore
from shortlist.log.base import INPUT, LogUnavailable, Moved
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Limits, Settings
from shortlist.model.times import format_time
from tests.live.deployments import Deployment
from tests.live.mutated_savepoints import DIGITS, rebuilt, signed
from tests.live.mutated_tables import write_whole
from tests.live.test_driver_faults import at, beat
from tests.strategies import SECOND

UNREAD = at(9, "unread").encode()


@pytest.fixture(scope="module")
def savepoint(tmp_path_factory):
    """The bytes of one with all kinds of parts."""
    registry = registry_from_documents(
        {"subscriptions": [{"id": "all"}, {"id": "best", "policy": {"kind": "top-k", "k": 1}}]}
    )
    deployment = Deployment(registry, Settings(lateness=0), 2)
    deployment.registers.append(INPUT, [b"{}"] * 4 + [UNREAD])
    subscribe = json.dumps({"time": "1970-01-01T00:00:01Z", "subscribe": {"id": "more"}})
    deployment.run([(1, at(1, "x")), (2, subscribe), (3, at(2, "y")), (4, at(3, "z"))])
    target = tmp_path_factory.mktemp("savepoint") / "savepoint.zip"
    export(deployment.registers, deployment.files, target)
    return target.read_bytes()


def flipped(random, content):
    place, bit = random.randrange(len(content)), 1 << random.randrange(8)
    return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


def truncated(random, content):
    return content[: random.randrange(len(content))]


def lengthened(random, content):
    place = random.randrange(len(content) + 1)
    return content[:place] + random.randbytes(random.randrange(1, 100)) + content[place:]


def without_a_part(random, content):
    return rebuilt(content, lambda members: members.pop(random.choice([*members])))


def with_a_part(random, content):
    name = random.choice(
        ["../evil", "/tmp/evil", "files/../../evil", "files/more-" + "0" * 32, "evil", "files/"]
    )
    return rebuilt(content, lambda members: members.update({name: b"evil"}))


def with_another_name(random, content):
    """In the manifest, too: as the first forged one did it."""

    def change(members):
        known = random.choice([name for name in members if name.startswith("files/")])
        old = known.removeprefix("files/")
        new = random.choice(["../../evil", "/tmp/evil", "evil", f"{old}/../evil", f"{old}\0"])
        members[f"files/{new}"] = members.pop(known)
        members["manifest.json"] = members["manifest.json"].replace(
            json.dumps(old).encode(), json.dumps(new).encode()
        )

    return rebuilt(content, change)


def with_another_manifest(random, content):
    def change(members):
        document = json.loads(members["manifest.json"])
        name, value = random.choice(
            [
                ("format", 2),
                ("format", 99),
                ("shards", []),
                ("position", -1),
                ("base", 10**6),
                ("passed", 10**6),
                ("registry", None),
                ("registry", {"token": "t", "snapshot": ["../../evil", 4]}),
                ("accepted", [{"file": ["items-" + "0" * 32, 5], "last": 0}]),
                ("first_registry", ["/etc/passwd", 5]),
                ("number", "many"),
                ("counts", [1]),
                ("pending", ["../../evil"]),
            ]
        )
        members["manifest.json"] = json.dumps(document | {name: value}).encode()

    return rebuilt(content, change)


def with_a_damaged_part(random, content):
    """Whose digest is right: what is in it is looked at, too."""

    def change(members):
        name = random.choice([*members])
        members[name] = truncated(random, members[name])

    return rebuilt(content, change)


def compressed(random, content):
    return rebuilt(content, lambda members: None, zipfile.ZIP_DEFLATED)


def of_another_version(random, content):
    return signed(content, random.choice([0, 2, 99]))


def of_no_version(random, content):
    return random.choice([b"", b"PK\x05\x06" + bytes(18), content[:-DIGITS], b"{}", UNREAD])


MUTATIONS = [
    flipped,
    flipped,
    flipped,
    truncated,
    lengthened,
    without_a_part,
    with_a_part,
    with_another_name,
    with_another_manifest,
    with_a_damaged_part,
    compressed,
    of_another_version,
    of_no_version,
]


def check_mutated(savepoint, place, seeds):
    log, files = SqliteLog(place / "city.log"), Files(place / "state" / "files")
    source = place / "savepoint.zip"
    for seed in seeds:
        random = Random(seed)
        mutation = MUTATIONS[seed % len(MUTATIONS)]
        source.write_bytes(mutation(random, savepoint))
        with pytest.raises(UnusableSavepoint) as found:
            restore(source, log, files)
        assert re.match(r".*savepoint\.zip: expected a savepoint, found .+", str(found.value))
        assert not has_deployment(log), (seed, mutation)
        assert log.end(INPUT) == 0, (seed, mutation)
        left = {path.name.partition("-")[0] for path in place.rglob("*")}
        assert left == {"city.log", "savepoint.zip"}, (seed, mutation)
    source.write_bytes(savepoint)
    assert len(restore(source, log, files).shards) == 2


def test_some_that_were_changed(savepoint, tmp_path):
    check_mutated(savepoint, tmp_path, range(len(MUTATIONS) * 8))


@pytest.mark.soak
def test_many_that_were_changed(savepoint, tmp_path):
    check_mutated(savepoint, tmp_path, range(1000, 2000))


@pytest.fixture(scope="module")
def large_savepoint(tmp_path_factory):
    """One whose shortlists hold something of every kind, with items that wait and that are set
    aside."""
    target = tmp_path_factory.mktemp("savepoint") / "savepoint.zip"
    write_whole(target)
    return target


def check_bytes_changed(savepoint, first, last):
    """Read mutated savepoints in processes that may die of them; how many did what."""
    outcomes = Counter()
    while first < last:
        words = [sys.executable, "-m", "tests.live.mutated_savepoints", savepoint, first, last]
        found = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        said = found.stdout.split("\n")
        outcomes.update(line for line in said if line in ("accepted", "refused"))
        first = max(int(line.split()[1]) for line in said if line.startswith("seed ")) + 1
        if found.returncode:
            outcomes["killed" if found.returncode < 0 else "traceback"] += 1
            print(f"seed {first - 1}: status {found.returncode}", found.stderr[-2_000:])
        else:
            outcomes["megabytes"] = int(said[-2].split()[1])
    return outcomes


def test_some_bytes_of_a_part_end_no_process(large_savepoint):
    outcomes = check_bytes_changed(large_savepoint, 0, 200)
    assert outcomes["refused"] + outcomes["accepted"] == 200, outcomes
    assert outcomes["refused"] > 100, outcomes


def test_what_unpacks_to_far_more_is_refused(savepoint, tmp_path, monkeypatch):
    monkeypatch.setattr(strangers, "LEAST_BOUND", 2**20)

    def change(members):
        manifest = members["manifest.json"].decode()
        name, size = json.loads(manifest)["first_registry"]
        spaces = Saved(zlib.compress(b"{}" + b" " * 2**22)).to_bytes()
        members[f"files/{name}"] = spaces
        manifest = manifest.replace(f'["{name}",{size}]', f'["{name}",{len(spaces)}]')
        members["manifest.json"] = manifest.encode()

    source = tmp_path / "savepoint.zip"
    source.write_bytes(rebuilt(savepoint, change))
    with pytest.raises(UnusableSavepoint, match=r"bytes that unpack to more than [\d,]+\)$"):
        restore(source, SqliteLog(tmp_path / "city.log"), Files(tmp_path / "files"))


@pytest.mark.soak
def test_bytes_of_a_part_end_no_process(large_savepoint):
    outcomes = check_bytes_changed(large_savepoint, 1_000, 21_000)
    print(outcomes)
    assert outcomes["refused"] + outcomes["accepted"] == 20_000, outcomes
    assert outcomes["megabytes"] < 1_000, outcomes


def test_an_import_that_was_interrupted_goes_on(savepoint, tmp_path):
    log, files = SqliteLog(tmp_path / "city.log"), Files(tmp_path / "files")
    (tmp_path / "savepoint.zip").write_bytes(savepoint)
    log.append(INPUT, [UNREAD])
    restore(tmp_path / "savepoint.zip", log, files)
    assert [entry.content for entry in log.read(INPUT, 0)] == [UNREAD]


def test_of_two_imports_one_is_refused(savepoint, tmp_path, monkeypatch):
    """Whatever the first one has come to, nothing stands in the input twice."""
    log, files = SqliteLog(tmp_path / "city.log"), Files(tmp_path / "state")
    (tmp_path / "savepoint.zip").write_bytes(savepoint)
    append, imported = log.append, []

    def after_another(*words, **more):
        monkeypatch.setattr(log, "append", append)
        restore(tmp_path / "savepoint.zip", log, Files(tmp_path / "other"))
        imported.append(True)
        return append(*words, **more)

    monkeypatch.setattr(log, "append", after_another)
    with pytest.raises(Moved):
        restore(tmp_path / "savepoint.zip", log, files)
    assert imported == [True]
    assert [entry.content for entry in log.read(INPUT, 0)] == [UNREAD]
    assert [*files.folder.iterdir()] == []


def test_an_import_that_is_not_told_that_it_is_done_keeps_its_files(
    savepoint, tmp_path, monkeypatch
):
    log, files = SqliteLog(tmp_path / "city.log"), Files(tmp_path / "files")
    (tmp_path / "savepoint.zip").write_bytes(savepoint)
    put = log.put

    def unacknowledged(*words):
        put(*words)
        raise LogUnavailable("no answer")

    monkeypatch.setattr(log, "put", unacknowledged)
    with pytest.raises(LogUnavailable, match="no answer"):
        restore(tmp_path / "savepoint.zip", log, files)
    assert {*committed(log)[1].state_files} == {path.name for path in files.folder.iterdir()}


def test_what_is_left_of_a_micro_batch_is_not_lost(tmp_path):
    deployment, target = Deployment(registry_from_documents({}), Settings(lateness=0), 1), "s.zip"
    first, second = (deployment.read([(number, at(number, "x"))]) for number in (1, 2))
    left = deployment.files.write("piece", b"what the second item stands in")
    deployment.driver.run_batch(first, checkpoint="c", batch=0, pending=[left])
    with pytest.raises(NotPutOut, match="of which 1 pieces are left"):
        export(deployment.registers, deployment.files, tmp_path / target)
    assert [*tmp_path.iterdir()] == []
    deployment.driver.run_batch(second, checkpoint="c", batch=0, pending=[])
    export(deployment.registers, deployment.files, tmp_path / target)
    assert (tmp_path / target).exists()


def test_a_savepoint_that_lacks_pieces_of_a_micro_batch_is_refused(savepoint, tmp_path):
    def change(members):
        document = json.loads(members["manifest.json"]) | {"pending": ["piece-" + "0" * 32]}
        members["manifest.json"] = json.dumps(document).encode()

    source = tmp_path / "savepoint.zip"
    source.write_bytes(rebuilt(savepoint, change))
    with pytest.raises(UnusableSavepoint, match="that lacks 1 pieces of a micro-batch"):
        restore(source, SqliteLog(tmp_path / "city.log"), Files(tmp_path / "files"))


def test_a_number_of_shards_that_is_asked_for_meanwhile_is_not_forgotten(monkeypatch):
    deployment = Deployment(registry_from_documents({}), Settings(lateness=0), 1)
    deployment.run([(1, at(1, "x")), (2, beat(2))])
    log = deployment.registers
    ask_for_shards(log, 2)
    put = log.put

    def after_another(*words):
        monkeypatch.setattr(log, "put", put)
        ask_for_shards(log, 3)
        return put(*words)

    monkeypatch.setattr(log, "put", after_another)
    assert len(rescale(log, deployment.files, 2, Limits()).shards) == 2
    assert shards_asked_for(log) == 3
    assert len(rescale(log, deployment.files, 3, Limits()).shards) == 3
    assert shards_asked_for(log) is None


def test_terms_that_were_defined_move_with_what_uses_them():
    document = {"vocabulary": {"rent": {"type": "number"}, "city": {"type": "string"}}}
    deployment = Deployment(registry_from_documents(document), Settings(lateness=0), 1)
    commands = [
        {"define": {"attribute": "rent", "terms": {"low": {"trapezoid": [None, None, 1, 2]}}}},
        {"define": {"attribute": "city", "terms": {"north": {"values": {"Oslo": 1}}}}},
        {"subscribe": {"id": "s", "where": "rent is low and city is north"}},
        {"update": {"subscription": "s", "where": "rent is low"}},
        {"define": {"attribute": "city", "terms": {"north": None}}},
    ]
    lines = [
        json.dumps({"time": format_time(number * SECOND)} | command)
        for number, command in enumerate(commands, start=1)
    ]
    deployment.registers.append(INPUT, [line.encode() for line in lines])
    deployment.run([*enumerate(lines, start=1), (6, beat(10))])
    deployment.move()
    assert deployment.driver.subscriptions == 1
