"""A saved index, opened, is the index that was saved; a damaged one is refused."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from shortlist.intake.files import registry_from_documents
from shortlist.matching.index import storage
from shortlist.matching.index.index import Index
from shortlist.matching.index.storage import UnusableIndex
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from tests.contracts.test_matchers import filled, matches
from tests.contracts.test_matchers import readers as read_lines
from tests.matching.index.drawn import (
    compiled,
    matched,
    plain,
    readers,
    subscriptions,
    vocabulary,
)
from tests.strategies import publication_lines, registries


@pytest.fixture(scope="module", autouse=True)
def _quick_disk():
    """Nothing here is about the power going off."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: None)
        yield


def reopened(index):
    with TemporaryDirectory() as folder:
        index.save(folder)
        return Index.open(folder, few=0)


@pytest.fixture
def folder(tmp_path):
    """One with a saved index."""
    compiled(subscriptions(1, 60)).save(tmp_path / "index")
    return tmp_path / "index"


@given(document=registries(), lines=publication_lines())
def test_an_opened_index_says_what_the_saved_one_said(document, lines):
    registry = registry_from_documents(document)
    some = read_lines(registry, lines)
    index = filled(Index, registry, registry.subscriptions)
    opened = reopened(index)
    assert opened.terms == index.terms
    assert matches(opened, some) == matches(index, some)


@pytest.mark.parametrize("seed", range(20))
def test_it_changes_as_any_other(seed):
    random, reads = Random(seed), readers(seed, 15)
    pool = {made.id: made for made in subscriptions(seed, 80)}
    live = {name: made for name, made in pool.items() if random.random() < 0.5}
    index = compiled(live.values())
    for _ in range(8):
        index = reopened(index) if random.random() < 0.5 else index
        for name in random.sample(sorted(pool), random.choice([0, 2, 30])):
            if name in live:
                index.remove(name)
                del live[name]
            else:
                index.add(pool[name])
                live[name] = pool[name]
        scan = plain(list(live.values()))
        assert matched(index, reads) == [scan.match(read) for read in reads]
        assert len(index.numbering) == len(live)
        names = index.numbering.names.column()
        assert all(names[index.numbering.number(name)].as_py() == name for name in live)


def test_equal_conditions_are_shared_with_those_that_were_saved():
    index = reopened(compiled([Subscription(id="a", where="price < 3")]))
    index.add(Subscription(id="b", where="price < 3"))
    index.remove("a")
    index.add(Subscription(id="c", where="price < 3"))
    reads = readers(3, 20)
    scan = plain([Subscription(id=name, where="price < 3") for name in "bc"])
    assert matched(index, reads) == [scan.match(read) for read in reads]
    assert [held.segment.count for held in index._shelf] == [1]


def test_texts_of_those_who_left_are_not_saved_again():
    index = reopened(compiled(subscriptions(2, 30)))
    for made in subscriptions(2, 30):
        index.remove(made.id)
    index.add(Subscription(id="last", where="price < 3"))
    saved = reopened(index).requests.saved()
    assert list(saved.texts) == ['["price < 3", "min", 0.0, 0.0]']


def test_an_index_of_nothing():
    index = reopened(Index(vocabulary()))
    assert matched(index, readers(1, 3)) == [[], [], []]
    index.add(Subscription(id="s"))
    assert matched(reopened(index), readers(1, 1)) == [[("s", 1.0, 1.0)]]


def test_it_knows_its_terms():
    index = Index(vocabulary(), Limits(predicates=2, degree_bits=4))
    opened = reopened(index)
    assert opened.terms == index.terms


def test_names_are_those_on_disk(folder):
    index = Index.open(folder)
    names = index.numbering.names.column()
    data = names.buffers()[2]
    saved = index.numbering.saved().names.data
    assert data.address == saved.ctypes.data
    assert sorted(names.to_pylist()) == [made.id for made in subscriptions(1, 60)]


def test_opening_makes_nothing_for_each_subscription(tmp_path):
    def blocks(count):
        where = "price between {} and {}.5 or title = '{}' or title < 'b{}' or title contains 'c{}'"
        some = [Subscription(id=f"s{n}", where=where.format(*[n] * 5)) for n in range(count)]
        some += [Subscription(id=f"all {n}") for n in range(count)]
        compiled(some).save(tmp_path / str(count))
        before = sys.getallocatedblocks()
        index = Index.open(tmp_path / str(count))
        assert len(index.numbering) == 2 * count
        return sys.getallocatedblocks() - before

    blocks(10)
    assert blocks(3000) < blocks(300) + 300


def files_of(folder):
    return sorted(file.name for file in folder.iterdir())


def truncated(file):
    file.write_bytes(file.read_bytes()[:-1])


def emptied(file):
    file.write_bytes(b"")


def lengthened(file):
    file.write_bytes(file.read_bytes() + b"\0")


def flipped(at):
    def flip(file):
        content = bytearray(file.read_bytes())
        content[int(at * (len(content) - 1))] ^= 1
        file.write_bytes(content)

    return flip


DAMAGES = {
    "truncated": truncated,
    "emptied": emptied,
    "lengthened": lengthened,
    "removed": Path.unlink,
    **{f"flipped at {at}": flipped(at) for at in (0, 0.01, 0.3, 0.5, 0.8, 1)},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_folder_is_refused(folder, damage):
    damage(folder / "index.arrays")
    with pytest.raises(UnusableIndex, match=r"damaged|missing") as refused:
        Index.open(folder)
    assert str(folder) in str(refused.value)


def test_without_verifying_the_document_and_the_end_are_looked_at(folder):
    file = folder / "index.arrays"
    whole = file.read_bytes()
    for damage in (truncated, lengthened, emptied, flipped(1), flipped(1 - 100 / len(whole))):
        damage(file)
        with pytest.raises(UnusableIndex, match="damaged"):
            Index.open(folder, verify=False)
        file.write_bytes(whole)
    assert len(Index.open(folder, verify=False).numbering) == 60


def test_another_version_is_refused(folder, monkeypatch):
    saved, known = storage.VERSION, f"{storage.FORMAT}.{storage.MEANING + 1}"
    monkeypatch.setattr(storage, "VERSION", known)
    said = f"is of version {saved}, not {known}: another release"
    with pytest.raises(UnusableIndex, match=said):
        Index.open(folder)


def test_another_layout_is_refused(folder, monkeypatch):
    monkeypatch.setattr(storage, "layout", lambda: 0)
    with pytest.raises(UnusableIndex, match="is of another layout: another release"):
        Index.open(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"photograph" * 100])
def test_a_file_of_something_else_is_refused(folder, content):
    (folder / "index.arrays").write_bytes(content)
    with pytest.raises(UnusableIndex, match="is damaged, or not that of an index"):
        Index.open(folder)


def test_what_is_no_folder_of_an_index_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("{}")
    for name in ("empty", "file", "nowhere"):
        with pytest.raises(
            UnusableIndex, match=r"holds no index: index\.arrays is missing; save one"
        ):
            Index.open(tmp_path / name)


def test_an_index_takes_the_place_of_another(folder):
    old, reads = Index.open(folder, few=0), readers(4, 20)
    before = matched(old, reads)
    compiled(subscriptions(4, 30)).save(folder)
    assert files_of(folder) == ["index.arrays"]
    scan = plain(subscriptions(4, 30))
    assert matched(Index.open(folder, few=0), reads) == [scan.match(read) for read in reads]
    assert matched(old, reads) == before
    old.add(Subscription(id="new", where="price < 3"))
    old.save(folder)
    assert len(Index.open(folder).numbering) == 61


def test_a_save_that_fails_changes_nothing(folder, monkeypatch):
    def fail(file, *rest):
        file.write_bytes(b"some")
        raise OSError("disk full")

    monkeypatch.setattr(storage, "_write", fail)
    with pytest.raises(OSError, match="disk full"):
        compiled(subscriptions(2, 10)).save(folder)
    assert files_of(folder) == ["index.arrays"]
    assert len(Index.open(folder).numbering) == 60


def changed_elsewhere(folder, removed):
    index = Index.open(folder, few=0)
    for name in removed:
        index.remove(name)
    return matched(index, readers(1, 20))


def test_processes_share_a_folder_and_keep_their_changes(folder):
    some, reads = subscriptions(1, 60), readers(1, 20)
    contents = {file: file.read_bytes() for file in folder.iterdir()}
    index = Index.open(folder, few=0)
    gone = [[made.id for made in some[start::3]] for start in range(2)]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = list(pool.map(changed_elsewhere, [folder] * 2, gone))
    for names, answer in zip(gone, found, strict=True):
        scan = plain([made for made in some if made.id not in names])
        assert answer == [scan.match(read) for read in reads]
    assert matched(index, reads) == [plain(some).match(read) for read in reads]
    assert {file: file.read_bytes() for file in folder.iterdir()} == contents
