"""The compiled index in blocks says what the plain matcher says of each publication."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from shortlist.matching.blocks import Block
from shortlist.matching.index import index as index_module
from shortlist.matching.index import masks, segments
from shortlist.matching.index.index import Index
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from tests.matching.index.drawn import (
    by_publication,
    compiled,
    matched,
    plain,
    readers,
    subscriptions,
    vocabulary,
)


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 511, 512, 513, 1100])
def test_blocks_of_any_size(size):
    some, reads = subscriptions(size, 120), readers(size, size)
    scan = plain(some)
    assert matched(compiled(some), reads) == [scan.match(read) for read in reads]


@pytest.mark.parametrize("seed", range(20))
def test_many_registries(seed):
    some, reads = subscriptions(seed, 5 + 4 * seed), readers(1000 + seed, 70)
    scan = plain(some)
    assert matched(compiled(some), reads) == [scan.match(read) for read in reads]


def test_few_pairs_are_judged_one_by_one_with_the_same_answers():
    some, reads = subscriptions(7, 30), readers(7, 8)
    index = Index(vocabulary(), few=10**9)
    for made in some:
        index.add(made)
    assert matched(index, reads) == matched(compiled(some), reads)


@pytest.mark.parametrize("seed", range(15))
def test_the_same_answers_at_every_moment(seed, monkeypatch):
    """Segments are small here, so that they fill, are merged and fall apart all the time."""
    monkeypatch.setattr(segments, "FULL", 16)
    monkeypatch.setattr(index_module, "FULL", 16)
    random, reads = Random(seed), readers(seed, 20)
    pool = {made.id: made for made in subscriptions(seed, 150)}
    live, index = {}, compiled([])
    for _ in range(25):
        for _ in range(random.choice([0, 1, 3, 40])):
            name = random.choice(sorted(pool))
            how = random.choice(["removed", "given up", "replaced"])
            if name not in live:
                index.add(pool[name])
                live[name] = pool[name]
            elif how == "replaced":
                new = replace(pool[random.choice(sorted(pool))], id=name)
                index.replace(live[name], new)
                live[name] = new
            elif how == "removed":
                index.remove(name)
                del live[name]
            else:
                index.give_up(live.pop(name))
        scan = plain(list(live.values()))
        some = random.sample(reads, random.randint(1, 20))
        assert matched(index, some) == [scan.match(read) for read in some]


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("seed", range(10))
def test_some_subscriptions_are_matched_apart_from_all_others(seed, few):
    """Some of them are on the shelf, others wait, and equal ones share a condition."""
    random, reads, some = Random(seed), readers(seed, 30), subscriptions(seed, 60)
    index = Index(vocabulary(), few=few)
    for made in some[:40]:
        index.add(made)
    matched(index, reads)
    late = [*some[40:], *(replace(made, id=f"too {made.id}") for made in some[35:45])]
    for made in late:
        index.add(made)
    for count in (0, 1, 20):
        chosen = random.sample([*some, *late[20:]], count)
        numbers = [index.numbering.number(made.id) for made in chosen]
        found = index.match_some(Block.of_readers(reads), numbers)
        scan = plain([made for made in chosen if made.where is not None])
        assert by_publication(index, found, 30) == [scan.match(read) for read in reads]


def test_an_id_used_again_means_the_new_subscription():
    reads = readers(3, 20)
    index = compiled([Subscription(id="s", where="price < 3")])
    matched(index, reads)
    index.remove("s")
    index.add(Subscription(id="s", where="size > 1"))
    scan = plain([Subscription(id="s", where="size > 1")])
    assert matched(index, reads) == [scan.match(read) for read in reads]


def test_equal_conditions_are_stored_once():
    texts = ["price < 3 and size = 1", "price  <3 AND size=1.0", "not price >= 3 and size in (1)"]
    index = compiled([Subscription(id=str(n), where=text) for n, text in enumerate(texts)])
    reads = readers(5, 10)
    matched(index, reads)
    index.add(Subscription(id="late", where=texts[0]))
    matched(index, reads)
    assert [held.segment.count for held in index._shelf] == [1]
    index.remove("0")
    index.remove("1")
    index.add(Subscription(id="later", where=texts[1]))
    assert [held.segment.count for held in index._shelf] == [1]
    scan = plain([Subscription(id=n, where=texts[0]) for n in ("2", "late", "later")])
    assert matched(index, reads) == [scan.match(read) for read in reads]


def test_sharers_of_a_crisp_condition_keep_their_own_thresholds():
    """Where something fuzzy is published, a crisp condition has degrees, too."""
    from shortlist.model.subscription import AtLeast

    some = [
        Subscription(id="any", where="price < 3"),
        Subscription(id="sure", where="price < 3", at_least=AtLeast(necessity=1.0)),
    ]
    reads = readers(11, 200)
    scan = plain(some)
    expected = [scan.match(read) for read in reads]
    assert {len(found) for found in expected} == {0, 1, 2}
    assert matched(compiled(some), reads) == expected


@pytest.mark.soak  # which are compiled otherwise
def test_rows_beyond_sixteen_bits(monkeypatch):
    monkeypatch.setattr(masks, "SMALL", 0)
    some, reads = subscriptions(1, 60), readers(1, 100)
    scan = plain(some)
    assert matched(compiled(some), reads) == [scan.match(read) for read in reads]


@pytest.mark.parametrize("bits", [0, 1, 5, 9, "8"])
def test_other_numbers_of_bits_are_refused(bits):
    with pytest.raises(ValueError, match="expected 8, 4, 3 or 2, found"):
        Index(vocabulary(), Limits(degree_bits=bits))


@pytest.mark.parametrize("bits", [8, 4, 3, 2])
def test_degrees_in_a_few_bits_are_those_of_the_plain_matcher(bits):
    some, reads, coarse = subscriptions(bits, 150), readers(bits, 100), Limits(degree_bits=bits)
    scan = plain(some, coarse)
    assert matched(compiled(some, coarse), reads) == [scan.match(read) for read in reads]


def test_few_pairs_in_a_few_bits():
    some, reads, coarse = subscriptions(7, 30), readers(7, 8), Limits(degree_bits=3)
    index = Index(vocabulary(), coarse, few=10**9)
    for made in some:
        index.add(made)
    assert matched(index, reads) == matched(compiled(some, coarse), reads)


@pytest.mark.parametrize("bits", [8, 4, 3, 2])
def test_degrees_in_a_few_bits_miss_nothing(bits):
    some, reads = subscriptions(2, 150), readers(2, 150)
    exact, coarse = compiled(some), compiled(some, Limits(degree_bits=bits))
    block = Block.of_readers(reads)
    everything, found = matched(exact, reads), coarse.match_block(block)
    rows = by_publication(coarse, found, len(reads))
    extra = 0
    for sure, rough in zip(everything, rows, strict=True):
        known = {name: degrees for name, *degrees in rough}
        extra += len(rough) - len(sure)
        for name, high, low in sure:
            for degree, stored in zip((high, low), known[name], strict=True):
                assert abs(stored - degree) <= 1 / 2**bits
    assert extra >= 0
    assert np.all(found.possibility > 0)
