"""What was made durable is there when the power comes back: content, names, names of folders."""

from pathlib import Path

import pytest

from shortlist.live.files import Files
from shortlist.live.outlets import FolderOutlet
from shortlist.live.registers import FolderRegisters
from shortlist.live.tables import REFUSALS, table_of
from shortlist.log import durable
from tests.faults.failing_io import Died, Machine

REFUSED = table_of([(7, "{}", "expected an id", "unreadable")], REFUSALS)


def write_files(folder):
    files = Files(folder / "state" / "files")
    files.write("state", b"all")
    files.write("state", b"more")
    files.settle()


@pytest.mark.parametrize(
    "write",
    [
        write_files,
        lambda folder: FolderRegisters(folder / "state" / "registers").put("manifest", b"1", 0),
        lambda folder: FolderOutlet(folder / "out").reject(0, REFUSED),
    ],
)
def test_new_files_in_new_folders(tmp_path, monkeypatch, write):
    counting = Machine(tmp_path / "first")
    (tmp_path / "first").mkdir()
    with counting.watched():
        write(tmp_path / "first")
    there = names(tmp_path / "first")
    assert there
    # the power fails at the next operation
    (tmp_path / "second").mkdir()
    failing = Machine(tmp_path / "second", {len(counting.operations): "loses power"})
    with failing.watched():
        write(tmp_path / "second")
        with pytest.raises(Died):
            Path(tmp_path / "second" / "more").mkdir()
    assert names(tmp_path / "second") == there


def test_a_folder_that_somebody_made_who_ended_then(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    monkeypatch.setattr(durable, "KNOWN", set())
    machine = Machine(tmp_path)
    with machine.watched():
        Files(tmp_path / "files").write("state", b"all")
    assert machine.operations[0].name == "sync"


def names(folder):
    """What is in a folder, without what tells it from others."""
    return [(path.name.partition("-")[0], path.is_dir()) for path in sorted(folder.rglob("*"))]
