"""What every matcher must keep to; all must say what the plain one says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.engine import Engine
from shortlist.engine.replay import read_items, replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.settings import Limits, Settings
from shortlist.model.subscription import Subscription
from tests.contracts.matchers import MATCHERS
from tests.strategies import (
    publication_lines,
    registries,
    timelines,
)

every_matcher = pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)


def readers(registry, lines):
    values, read = Values(registry.vocabulary), ItemReader(registry.vocabulary)
    return [values.of(read.document(json.loads(line), 0)) for line in lines]


def filled(make, registry, subscriptions):
    matcher = make(registry.vocabulary, Limits())
    for subscription in subscriptions:
        matcher.add(subscription)
    return matcher


def matches(matcher, some):
    return [matcher.match(read) for read in some]


@every_matcher
@given(document=registries(), lines=publication_lines())
def test_it_says_what_the_plain_matcher_says(make, document, lines):
    registry = registry_from_documents(document)
    some = readers(registry, lines)
    expected = matches(filled(Scan, registry, registry.subscriptions), some)
    matcher = filled(make, registry, registry.subscriptions)
    assert matches(matcher, some) == expected
    assert matches(matcher, some) == expected  # asked again
    assert matches(matcher, reversed(some)) == expected[::-1]


@every_matcher
@given(document=registries(), lines=publication_lines(), random=st.randoms(use_true_random=False))
def test_the_order_of_subscriptions_does_not_matter(make, document, lines, random):
    registry = registry_from_documents(document)
    some = readers(registry, lines)
    shuffled = list(registry.subscriptions)
    random.shuffle(shuffled)
    expected = matches(filled(make, registry, registry.subscriptions), some)
    assert matches(filled(make, registry, shuffled), some) == expected
    for found in expected:
        names = [match.subscription for match in found]
        assert names == sorted(set(names))
        assert all(1 >= match.possibility >= match.necessity >= 0 for match in found)
        assert all(match.possibility > 0 for match in found)


@every_matcher
@given(document=registries(), lines=publication_lines(), data=st.data())
def test_what_was_removed_leaves_no_trace(make, document, lines, data):
    registry = registry_from_documents(document)
    some = readers(registry, lines)
    gone = {made.id for made in registry.subscriptions if data.draw(st.booleans(), label=made.id)}
    kept = [made for made in registry.subscriptions if made.id not in gone]
    expected = matches(filled(make, registry, kept), some)
    matcher = filled(make, registry, registry.subscriptions)
    matches(matcher, some)
    for name in gone:
        matcher.remove(name)
    assert matches(matcher, some) == expected
    back = [made for made in registry.subscriptions if made.id in gone]
    for subscription in back:
        matcher.add(subscription)
    assert matches(matcher, some) == matches(filled(make, registry, registry.subscriptions), some)


@every_matcher
@given(document=registries(), lines=timelines())
def test_the_engine_gives_the_same_answers_with_it(make, document, lines):
    registry, settings = registry_from_documents(document), Settings()
    items, _ = read_items(registry, lines, settings)
    result = Engine(registry, settings, matcher=make).process(items, last=True)
    assert result.deliveries == replay(registry, lines, settings).deliveries


@every_matcher
def test_no_condition_holds_of_everything(make):
    registry = registry_from_documents({})
    (read,) = readers(registry, ['{"id": "p", "source": "s", "time": "2026-03-01T00:00:00Z"}'])
    matcher = filled(make, registry, [Subscription(id="all"), Subscription(id="x", where="x = 1")])
    assert matcher.match(read) == [("all", 1.0, 1.0)]
    matcher.remove("all")
    assert matcher.match(read) == []
