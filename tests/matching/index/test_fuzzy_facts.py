"""Publications with fuzzy values: the compiled index says what the plain matcher says."""

import json
from math import inf, nextafter
from random import Random

import numpy as np
import pytest
from hypothesis import given

from shortlist.intake.files import registry_from_documents
from shortlist.matching.blocks import Block
from shortlist.matching.index import index as index_module
from shortlist.matching.index import segments
from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from tests.matching.index.drawn import by_publication
from tests.strategies import drawn, examples, seeded

NUMBERS = [0, 1, 2, 3, 4, 6, 2.5, -1, 0.1, 0.3, 1e300]
BESIDE = [nextafter(3, inf), nextafter(3, -inf), nextafter(2, inf)]
WORDS = ["happy", "calm", "sad", "glad", ""]
DEGREES = [1, 0.4, 0.1, 0.5, 0, 0.7, 5e-10, 0.1234567895]
SHAPES = ["linear", "smooth", "gauss"]
NORMS = ["min", "product", "lukasiewicz", "average", "max"]
TERMS = ["low", "fair", "high"]


def corners(pick):
    some = sorted(pick(NUMBERS + BESIDE) for _ in range(4))
    some[:2] = pick([some[:2]] * 4 + [[None, None]])
    some[2:] = pick([some[2:]] * 4 + [[None, None]])
    return some


def shapes(pick):
    return pick([{}, {}, {"shape": pick(SHAPES)}, {"left": pick(SHAPES), "right": pick(SHAPES)}])


def graded(pick):
    degrees = {pick(WORDS): pick(DEGREES) for _ in range(pick([1, 2, 3]))}
    return {"values": degrees | {pick(WORDS): 1}}


def vocabulary(pick):
    def numeric():
        return {name: {"trapezoid": corners(pick), **shapes(pick)} for name in TERMS}

    return {
        "x": {"type": "number", "terms": numeric()},
        "y": {"type": "number", "terms": numeric()},
        "several": {"type": "number", "many": True, "terms": numeric()},
        "mood": {"type": "string", "terms": {name: graded(pick) for name in TERMS}},
        "tags": {"type": "string", "many": True, "terms": {name: graded(pick) for name in TERMS}},
    }


def thresholds(pick):
    least = pick([0.1, 0.5, 1])
    kinds = [f"possibility >= {least}", f"necessity >= {least}"]
    return pick(["", "", f" ({pick(kinds)})", f" ({', '.join(kinds)})"])


def predicate(pick):
    path = pick(["x", "x", "y", "several", "mood", "mood", "tags", "other"])
    hedges = pick(["", "", "very ", "somewhat ", "very very "])
    around = f"around({pick(NUMBERS[:5])}, {pick([0, 1, 2])})"
    if path == "other":
        return pick(["other exists", "not (other exists)", "other = 2", "other != 'sad'"])
    if pick([False, False, True]):
        term = f"{path} is {pick(['', 'not '])}{hedges}{pick(TERMS)}{thresholds(pick)}"
        return pick([term, term, f"not ({term})"])
    if path in ("mood", "tags"):
        word = pick(WORDS)
        text = pick(
            [
                f"{path} {pick(['=', '!=', '<', '<=', '>', '>='])} '{word}'",
                f"{path} {pick(['', 'not '])}in ('{word}', '{pick(WORDS)}')",
                f"{path} {pick(['', 'not '])}between '{word}' and '{pick(WORDS)}'",
                f"{path} {pick(['', 'not '])}contains '{pick(['a', 'ad', 'p', ''])}'",
                f"{path} {pick(['starts', 'ends'])} with '{pick(['h', 'y', 'ad'])}'",
            ]
        )
    else:
        number = repr(pick(NUMBERS + BESIDE))
        text = pick(
            [
                f"{path} {pick(['=', '!=', '<', '<=', '>', '>='])} {number}",
                f"{path} {pick(['', 'not '])}in ({number}, {pick(NUMBERS)}, {pick(NUMBERS)})",
                f"{path} {pick(['', 'not '])}between {number} and {pick(NUMBERS + BESIDE)!r}",
                f"{path} is {pick(['', 'not '])}{hedges}{around}",
            ]
        )
    return pick([text, text, f"not ({text})"])


def where(pick, depth=2):
    parts = [
        f"({where(pick, depth - 1)})" if depth and pick([False, False, True]) else predicate(pick)
        for _ in range(pick([1, 2, 2, 3, 4]))
    ]
    return pick([" and ", " and ", " or "]).join(parts)


def subscription(pick, number):
    made = {"id": f"s{number:03}", "where": where(pick)}
    made["norm"] = pick(NORMS)
    if pick([False, False, False, True]):
        parts = [predicate(pick) for _ in range(pick([1, 2, 3]))]
        made["where"] = " and ".join(parts)
        made["norm"] = {"weights": [pick([1, 2, 0.5]) for _ in parts]}
    least = {"possibility": pick([0, 0.1, 0.5]), "necessity": pick([0, 0, 0.2, 1])}
    return made | pick([{}, {"at_least": least}])


def value(pick, path, fuzzy):
    on_words = path in ("mood", "tags")
    if fuzzy:
        if on_words:
            return pick([graded(pick), {"term": pick(TERMS)}])
        low, high = sorted([pick(NUMBERS), pick(NUMBERS + BESIDE)])
        return pick(
            [
                {"term": pick(TERMS)},
                {"trapezoid": corners(pick), **shapes(pick)},
                {"between": pick([[low, high], [low, low], [None, high], [low, None]])},
            ]
        )
    pool = WORDS if on_words else NUMBERS + BESIDE
    if path in ("several", "tags"):
        return pick(
            [pick(pool), [pick(pool) for _ in range(pick([0, 1, 2, 3]))], [pick(pool), "3"]]
        )
    return pick([pick(pool), pick(pool), pick([None, "sad", 3, True])])


def publication(pick, fuzzy):
    """With so many fuzzy values among ten."""
    paths = ["x", "y", "several", "mood", "tags", "other"]
    chosen = {path: value(pick, path, pick(range(10)) < fuzzy) for path in paths}
    return {path: one for path, one in chosen.items() if pick([True] * 6 + [False])}


def case(pick, subscriptions=12, publications=12):
    known = vocabulary(pick)
    documents = [subscription(pick, number) for number in range(subscriptions)]
    fuzzy = pick([1, 3, 10])
    return known, documents, [publication(pick, fuzzy) for _ in range(publications)]


def asked(known, documents, data):
    registry = registry_from_documents({"vocabulary": known, "subscriptions": documents})
    values = Values(registry.vocabulary)
    reads = [
        values.of(Publication(id=str(n), source="s", time=n, position=n, data=one))
        for n, one in enumerate(data)
    ]
    return registry, reads


def filled(matcher, subscriptions):
    for one in subscriptions:
        matcher.add(one)
    return matcher


def in_block(index, reads):
    return by_publication(index, index.match_block(Block.of_readers(reads)), len(reads))


def assert_same(known, documents, data):
    registry, reads = asked(known, documents, data)
    scan = filled(Scan(registry.vocabulary), registry.subscriptions)
    index = filled(Index(registry.vocabulary, few=0), registry.subscriptions)
    texts = {one["id"]: json.dumps(one) for one in documents}
    for read, found in zip(reads, in_block(index, reads), strict=True):
        expected = scan.match(read)
        different = {one[0] for one in set(found) ^ {tuple(one) for one in expected}}
        assert found == expected, (read.publication.data, [texts[name] for name in different])


@examples(50)
@given(drawn(case)())
def test_drawn_vocabularies_conditions_and_values(drawn_case):
    assert_same(*drawn_case)


@pytest.mark.parametrize("seed", range(6))
def test_larger_registries(seed):
    assert_same(*case(seeded(seed), subscriptions=150, publications=80))


@pytest.mark.parametrize("seed", range(4))
def test_subscriptions_come_and_go(seed, monkeypatch):
    """Segments are small here, so that they fill, are merged and fall apart all the time."""
    monkeypatch.setattr(segments, "FULL", 16)
    monkeypatch.setattr(index_module, "FULL", 16)
    registry, reads = asked(*case(seeded(seed), subscriptions=120, publications=20))
    random, pool = Random(seed), {one.id: one for one in registry.subscriptions}
    index, live = Index(registry.vocabulary, few=0), {}
    for _ in range(15):
        for _ in range(random.choice([1, 3, 40])):
            name = random.choice(sorted(pool))
            if live.pop(name, None):
                index.remove(name)
            else:
                index.add(pool[name])
                live[name] = pool[name]
        scan = filled(Scan(registry.vocabulary), live.values())
        some = random.sample(reads, random.randint(1, 20))
        assert in_block(index, some) == [scan.match(read) for read in some]


def test_an_index_that_was_saved(tmp_path):
    registry, reads = asked(*case(seeded(3), subscriptions=100, publications=40))
    index = filled(Index(registry.vocabulary, few=0), registry.subscriptions)
    index.save(tmp_path)
    assert in_block(Index.open(tmp_path, few=0), reads) == in_block(index, reads)


def test_a_number_and_the_next_one_are_told_apart():
    """Between 3 and the next double lie numbers that a fuzzy value may have."""
    after = nextafter(3, inf)
    texts = ["x > 3", f"x >= {after!r}", "x <= 3", f"x < {after!r}", "not x > 3"]
    many = [text.replace("x ", "several ") for text in texts]
    documents = [{"id": f"s{n}", "where": text} for n, text in enumerate(texts + many)]
    steep = {"trapezoid": [1, 2, 3, after]}
    known = {"several": {"many": True}}
    assert_same(known, documents, [{"x": steep, "several": steep}] * 3)
    registry, reads = asked(known, documents, [{"x": steep}])
    scan = filled(Scan(registry.vocabulary), registry.subscriptions)
    assert [match.subscription for match in scan.match(reads[0])] == ["s0", "s2", "s3", "s4"]


def test_a_number_without_an_end_beside_several():
    texts = ["several < 2", "not several < 2", "several > 2", "not several > 2", "x > 2"]
    documents = [{"id": f"s{n}", "where": text} for n, text in enumerate(texts)]
    low, high = {"trapezoid": [None, None, 0, 0]}, {"trapezoid": [4, 4, None, None]}
    about = {"between": [0, 1]}
    data = [{"x": about, "several": value} for value in (low, high, [1, 3], 2)]
    assert_same({"several": {"many": True}}, documents, data)


def test_more_words_than_a_mask_has_bits():
    words = {f"w{n}": n / 3000 for n in range(3000)} | {"last": 1}
    documents = [
        {"id": f"s{n}", "where": text}
        for n, text in enumerate(["mood = 'w2900'", "mood != 'w7'", "mood contains '99'"])
    ]
    data = [{"mood": {"values": words}}, {"mood": "w7"}, {"mood": {"values": {"w2900": 1}}}]
    assert_same({}, documents, data)


def test_values_come_back_as_they_were_published():
    _, reads = asked(*case(seeded(5), publications=50))
    block = Block.of_readers(reads)
    for path in ("x", "mood", "tags", "several"):
        column = block.column((path,))
        backwards = column.taken(np.arange(len(reads))[::-1])
        for place, read in enumerate(reads):
            assert column.value(place) == read((path,))
            assert backwards.value(len(reads) - 1 - place) == read((path,))
