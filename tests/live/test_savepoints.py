"""Savepoints that somebody has changed: each is refused, and nothing is left behind."""

import io
import json
import re
import zipfile
from hashlib import sha256
from random import Random

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.files import Files
from shortlist.live.registers import committed, has_deployment
from shortlist.live.rescaling import ask_for_shards, rescale, shards_asked_for
from shortlist.live.savepoint import UnusableSavepoint, export, restore
from shortlist.log.base import INPUT, LogUnavailable, Moved
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Limits, Settings
from tests.live.deployments import Deployment
from tests.live.test_driver_faults import at, beat

DIGITS = 64
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


def signed(content, version=1):
    """An archive, with the ending that makes a savepoint of it."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = f"shortlist savepoint {version} {'0' * DIGITS}".encode()
    whole = buffer.getvalue()[:-DIGITS]
    return whole + sha256(whole).hexdigest().encode()


def rebuilt(content, change, compression=zipfile.ZIP_STORED):
    """The same archive with other members, signed anew, as somebody would who forges one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return signed(buffer.getvalue())


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
