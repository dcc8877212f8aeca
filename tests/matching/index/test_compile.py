"""Subscriptions that several processes compile match as if they had been added one by one."""

import pytest

from shortlist.language.errors import LanguageError
from shortlist.matching.blocks import Block
from shortlist.matching.index import compile as compiling
from shortlist.matching.index.compile import compiled_index
from shortlist.model.subscription import Subscription
from tests.matching.index.drawn import by_publication, plain, readers, subscriptions, vocabulary


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(compiling, "WORTH_IT", 50)
    monkeypatch.setattr(compiling, "FULL", 20)


def segments(index):
    return [held.segment.count for held in index._shelf]


def test_the_same_matches_before_and_after_changes():
    some, reads = subscriptions(5, 200), readers(5, 100)
    heard = []
    index = compiled_index(iter(some), vocabulary(), processes=2, progress=heard.append)
    assert len(segments(index)) > 3
    assert heard == sorted(heard)
    assert heard[-1] == 200

    def check(left):
        scan, block = plain(left), Block.of_readers(reads)
        found = by_publication(index, index.match_block(block), len(reads))
        assert found == [scan.match(read) for read in reads]

    check(some)
    for made in some[::2]:
        index.remove(made.id)
    check(some[1::2])
    for made in some[::4]:
        index.add(made)
    check(some[1::2] + some[::4])


def test_what_is_written_alike_is_stored_once():
    texts = [f"price < {n % 30}" for n in range(300)]
    some = [Subscription(id=str(n), where=text) for n, text in enumerate(texts)]
    index = compiled_index(some, vocabulary(), processes=2)
    assert sum(segments(index)) == 30


def test_an_error_is_that_of_the_language():
    some = [Subscription(id=str(n), where=f"price < {n}") for n in range(60)]
    some[55] = Subscription(id="wrong", where="price <")
    with pytest.raises(LanguageError, match="column 8: expected a value"):
        compiled_index(some, vocabulary(), processes=2)


@pytest.mark.parametrize("processes", [1, 2])
def test_few_are_compiled_here(processes, monkeypatch):
    monkeypatch.setattr(compiling, "ProcessPoolExecutor", None)
    heard = []
    some = subscriptions(1, 45)
    index = compiled_index(some, vocabulary(), processes=processes, progress=heard.append)
    assert heard == [20, 40, 45]
    assert len(index.numbering) == 45
