"""Combination in bulk gives the candidates of the plain one, whoever comes and goes between."""

from dataclasses import replace

import pytest
from hypothesis import given

from shortlist import registry_from_documents
from shortlist.matching.base import Match
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from shortlist.model.policy import Chain, Everything, Novelty, TopK
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring import combined
from shortlist.scoring.blocks import BulkScores
from shortlist.scoring.combined import UNSET, BlockCombining
from shortlist.scoring.match_sets import ALONE
from shortlist.scoring.numbers import Numbers
from tests.scoring.live_scoring import LiveScoring
from tests.strategies import COMBINES, SCORES, VOCABULARY, data, drawn, seeded, subscription

DECLARED = registry_from_documents({"vocabulary": VOCABULARY}).vocabulary
VALUES = Values(DECLARED)
NOVEL = [Novelty(rate=0.5, period=10), Chain((TopK(k=2), Novelty(rate=0.5, period=10)))]
POLICIES = [Everything(), TopK(k=2), Chain((TopK(k=2), TopK(k=1))), *NOVEL]
WEIGHTS = [1.0, 0.5, 3.0, 0.1, 1e300]
NAMES = ["a", "B", "Ć", "aa", "z"]
"""Of members; the order of ids is another one."""
PREFERS = [(), (), (("a", "B"),), (("z", "a"), ("a", "Ć")), (("aa", "a"), ("aa", "z"), ("a", "B"))]


def parsed_pool(count):
    """Subscriptions of every kind; those who draw from here give them their id and shortlist."""
    pick = seeded(0)
    documents = [subscription(pick, f"s{number}", "L") for number in range(count)]
    for document in documents[::7]:
        document["score"] = pick(["1e308 * price", "-1e308 * price", "price / 3", *SCORES])
    documents[:20] = [
        {"id": f"s{number}", "shortlist": "L", "where": f"price < {number // 4}"}
        for number in range(20)
    ]
    home = {"id": "L", "subscriber": "u"}
    registry = registry_from_documents(
        {
            "vocabulary": VOCABULARY,
            "shortlists": [home],
            "subscriptions": documents,
        }
    )
    return registry.subscriptions


POOL = parsed_pool(300)


class Both:
    """Combination in bulk beside the plain one, with the same shortlists and subscriptions."""

    def __init__(self):
        self.scoring = LiveScoring(DECLARED)
        self.index = Index(DECLARED)
        self.shortlists = Numbers()
        self.scores = BulkScores(DECLARED, Limits())
        self.bulk = BlockCombining(
            self.scoring,
            self.shortlists,
            self.index.numbering.number,
            self.index.numbering.names,
            self.scores.wants_nearest,
        )

    def open(self, shortlist):
        self.scoring.opened(shortlist)

    def close(self, name):
        for member in sorted(self.scoring.members[name]):
            self.remove(member)
        self.scoring.closed(name)
        self.shortlists.release(name)

    def add(self, one):
        self.scoring.added(one)
        self.index.add(one)
        number = self.index.numbering.number(one.id)
        self.scores.add(number, one)
        self.bulk.add(number, one)

    def remove(self, name):
        number, one = self.index.numbering.number(name), self.scoring.subscriptions[name]
        self.scoring.removed(name)
        self.index.remove(name)
        self.scores.remove(number)
        self.bulk.remove(number, one)

    def combined(self, block):
        matches = self.index.match_block(block, unconditional=False)
        return self.bulk.grouped(block.size, self.scores.scored(block, matches))

    def check(self, publications):
        readers = [VALUES.of(publication) for publication in publications]
        block = Block.of_readers(readers)
        found = self.combined(block)
        expected = self.plain_rows(publications, readers, self.index.match_block(block))
        assert repr(self.bulk_rows(*found)) == repr(expected)

    def bulk_rows(self, found, sets):
        rows = []
        for place, shortlist, named, score, high, low, matched in zip(
            *(column.tolist() for column in found), strict=True
        ):
            told = None
            if matched != ALONE:
                which = slice(sets.offsets[matched], sets.offsets[matched + 1])
                names = [self.index.numbering.names[n] for n in sets.subscriptions[which].tolist()]
                degrees = sets.possibilities[which].tolist(), sets.necessities[which].tolist()
                told = list(zip(names, *degrees, strict=True))
            refresh = self.bulk.refreshes.item(named)
            name = self.index.numbering.names[named]
            rows.append((shortlist, place, score, name, high, low, refresh, told))
        return rows

    def plain_rows(self, publications, readers, matches):
        by_place = [[] for _ in publications]
        columns = matches.publications, matches.subscriptions, matches.possibility
        for place, number, high, low in zip(*columns, matches.necessity, strict=True):
            name = self.index.numbering.names[number]
            by_place[place].append(Match(name, high.item(), low.item()))
        rows = []
        for place, publication in enumerate(publications):
            some = sorted(by_place[place])
            for one in self.scoring.candidates(publication, readers[place], some):
                named, told = one.named, None
                policy = self.scoring.shortlists[one.shortlist].policy
                if len(one.matches) > 1 and policy in NOVEL:
                    told = [match[:1] + match[2:4] for match in one.matches]
                rows.append(
                    (
                        self.shortlists.find(one.shortlist),
                        place,
                        one.score,
                        named.subscription,
                        named.possibility,
                        named.necessity,
                        UNSET if one.named.refresh is None else one.named.refresh,
                        told,
                    )
                )
        return sorted(rows, key=lambda row: row[:2])


def drawn_shortlist(pick, name):
    prefers = tuple((f"{name}.{better}", f"{name}.{worse}") for better, worse in pick(PREFERS))
    return Shortlist(
        id=name,
        subscriber="u",
        policy=pick(POLICIES),
        combine=pick(COMBINES),
        prefers=prefers if pick([False, True]) else (),
    )


def change(both, pick):
    """A shortlist opens or closes, or a subscription comes or goes."""
    home = pick(["S", "T", "U", "V"])
    if home not in both.scoring.shortlists:
        both.open(drawn_shortlist(pick, home))
    name = f"{home}.{pick(NAMES)}"
    if pick([False] * 15 + [True]):
        both.close(home)
    elif name in both.scoring.members[home]:
        both.remove(name)
    else:
        weight = pick(WEIGHTS)
        both.add(replace(pick(POOL), id=name, shortlist=home, weight=weight))


def publications_of(pick, most):
    return [
        Publication(id=f"p{place}", source="s", time=0, position=0, data=data(pick) or {})
        for place in range(pick(range(most)))
    ]


def play(pick, blocks):
    both = Both()
    for _ in range(pick(range(12))):
        change(both, pick)
    for _ in range(blocks):
        both.check(publications_of(pick, 7))
        for _ in range(pick([0, 0, 1, 2, 5])):
            change(both, pick)


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_equals_the_plain_combination(start):
    for seed in range(start, start + 50):
        play(seeded(seed), blocks=20)


@pytest.mark.soak
def test_equals_the_plain_combination_for_long():
    for seed in range(1_000, 20_000):
        play(seeded(seed), blocks=20)


@given(timeline=drawn(lambda pick: play(pick, blocks=3))())
def test_equals_the_plain_combination_on_any_case(timeline):
    """Drawing it plays it."""


def with_members(count, **settings):
    both = Both()
    both.open(Shortlist(id="S", subscriber="u", **settings))
    for number in range(count):
        both.add(Subscription(id=f"S.{number}", shortlist="S", where=f"price > {number}"))
    return both


def priced(*prices):
    return [
        Publication(id=str(price), source="s", time=0, position=0, data={"price": price})
        for price in prices
    ]


@pytest.mark.parametrize("combine", COMBINES)
def test_a_large_shortlist_beside_many_small_ones(combine):
    both = with_members(70, combine=combine, policy=NOVEL[0])
    for number in range(300):
        own = Subscription(id=f"own {number}", where=f"price < {number}")
        both.open(own.own_shortlist())
        both.add(own)
    both.check(priced(*range(0, 300, 7)))


def test_more_sets_of_matches_than_are_remembered(monkeypatch):
    monkeypatch.setattr(combined, "REMEMBERED", 3)
    both = with_members(20, combine="most_specific")
    for start in range(2):
        both.check(priced(*range(start, 20, 3)))


def test_a_number_of_a_shortlist_is_used_again():
    both = with_members(3, combine="min")
    both.check(priced(5))
    both.close("S")
    both.open(Shortlist(id="T", subscriber="u", combine="most_specific"))
    for name, limit in (("x", 1), ("y", 2)):
        both.add(Subscription(id=name, shortlist="T", where=f"price > {limit}", score="price"))
    both.check(priced(5, 1.5))
    assert both.shortlists.names.column().to_pylist() == ["T"]


def test_a_sum_that_is_not_finite_is_no_candidate():
    both = Both()
    both.open(Shortlist(id="S", subscriber="u", combine="sum"))
    for name in "ab":
        both.add(Subscription(id=name, shortlist="S", score="1e308 * price"))
    block = Block.of_readers([VALUES.of(publication) for publication in priced(1, 0.5)])
    found, _ = both.combined(block)
    assert found.publications.tolist() == [1]
    assert found.scores.tolist() == [1e308]
