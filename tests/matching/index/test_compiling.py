"""Conditions that are compiled together match as each of them does alone."""

from collections import Counter
from random import Random

import pytest

from shortlist.language.reader import LITERALS
from shortlist.matching.index.compiling import FEW, Compiling, Filled
from shortlist.matching.index.terms import Terms
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from tests.matching.index.drawn import compiled, matched, plain, readers, subscriptions, vocabulary
from tests.strategies import CRISP

PLAIN = [text for text in CRISP if " or " not in text]
NUMBERS = ["0", "1", "2", "2.5", "3", "4", "1e300", "0.5"]
STRINGS = ["'war'", "'drama'", "'red car'", "''", "'a''b'"]


def families(seed: int) -> list[Subscription]:
    """Subscriptions of a few shapes, enough of each to be compiled together."""
    random, made = Random(seed), []

    def other(found):
        if found[1] is None:
            return found[0]
        return random.choice(STRINGS if found[1][0] == "'" else NUMBERS)

    patterns = [
        made.where for made in subscriptions(seed, 6) if made.where and " is " not in made.where
    ]
    patterns += [" and ".join(random.sample(PLAIN, random.randint(1, 3))) for _ in range(3)]
    for pattern in patterns:
        if "released" in pattern or "event.time" in pattern:
            continue
        for _ in range(random.randint(1, 3 * FEW)):
            made.append(Subscription(id=f"s{len(made):03}", where=LITERALS.sub(other, pattern)))
    random.shuffle(made)
    return made


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_families_match_as_a_plain_matcher_says(start):
    for seed in range(start, start + 20):
        some, reads = families(seed), readers(seed, 40)
        index, scan = compiled(some), plain(some)
        found = matched(index, reads)
        for reader, rows in zip(reads, found, strict=True):
            assert rows == sorted(tuple(match) for match in scan.match(reader)), seed


def test_many_are_compiled_together_and_many_alone():
    terms = Terms(vocabulary(), Limits())
    compiling, kinds = Compiling(terms), Counter()
    for seed in range(20):
        read = [compiling.read(terms.request(each)) for each in families(seed)]
        kinds.update(isinstance(each, Filled) for each in read)
    assert min(kinds.values()) > 10 * FEW


def test_what_asks_for_degrees_is_compiled_alone():
    terms = Terms(vocabulary(), Limits())
    compiling, request = Compiling(terms), terms.request(Subscription(id="s", where="price < 5"))
    assert [isinstance(compiling.read(request), Filled) for _ in range(3)] == [False, False, True]
    for other in (request._replace(norm="product"), request._replace(necessity=0.5)):
        assert not isinstance(compiling.read(other), Filled)
