"""The engine in bulk against the plain one, on drawn registries and timelines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.engine import Engine, Result
from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.matching.scan import Scan
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits, Settings
from tests.strategies import (
    SECOND,
    cuts,
    drawn,
    registries,
    registry,
    seeded,
    seeds,
    timeline,
    timelines,
)


def plain(made, settings, items):
    return Engine(made, settings, matcher=Scan).process(items, last=True)


def in_bulk(made, settings, batches, saved):
    """Batch after batch; `saved` says after each whether the state is taken out and in again."""
    engine, total = Engine(made, settings), Result()
    for number, batch in enumerate([*batches, []]):
        result = engine.process(batch, last=number == len(batches))
        total.deliveries += result.deliveries
        total.rejects += result.rejects
        if saved(number):
            engine = Engine.restore(engine.snapshot(), settings)
    return total


def everything_of(result):
    deliveries = sorted(result.deliveries, key=lambda delivery: delivery.order)
    return deliveries, sorted(result.rejects, key=lambda reject: reject.position)


@pytest.mark.parametrize("part", range(4))
def test_the_same_deliveries_whatever_the_batches_and_saves(part):
    for seed in seeds(20)[part::4]:
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        settings = Settings(lateness=pick([None, 0, 0, "1s"]))
        items, _ = read_items(made, timeline(pick, 60), settings)
        expected = plain(made, settings, items)
        found = in_bulk(
            made,
            settings,
            cuts(pick, items),
            saved=lambda number, pick=pick: pick([False, False, True]),
        )
        assert everything_of(found) == everything_of(expected), seed


@given(registries(), timelines(), st.data())
def test_drawn_ones_shrink(document, lines, data):
    made, settings = registry_from_documents(document), Settings(lateness=0)
    items, _ = read_items(made, lines, settings)
    batches = data.draw(drawn(cuts)(items))
    found = in_bulk(made, settings, batches, saved=lambda number: False)
    assert everything_of(found) == everything_of(plain(made, settings, items))


CHAINS = [
    [{"kind": "window", "k": 1, "window": f"{seconds}s"} for seconds in (9, 6, 3)],
    [
        {"kind": "fresh", "k": 1, "window": "5s", "half_life": "2s"},
        {"kind": "window", "k": 1, "window": "3s"},
    ],
    [{"kind": "window", "k": 2, "window": "5s"}, {"kind": "novelty", "rate": 0.5, "period": 3}],
]


@pytest.mark.parametrize(
    "chain", CHAINS, ids=lambda chain: "-".join(each["kind"] for each in chain)
)
def test_shortlists_with_the_same_chain_keep_apart(chain):
    """All of them place in one call, in whatever order, and each gets its own."""
    for seed in seeds(20):
        pick = seeded(seed)
        subscriptions = [{"id": name, "score": name, "policy": chain} for name in "xyz"]
        made = registry_from_documents({"subscriptions": subscriptions})
        times = sorted(pick(range(30)) for _ in range(25))
        items = [
            Publication(
                id=f"p{number}",
                source="s",
                time=time * SECOND,
                position=number,
                data={name: pick(range(-5, 9)) for name in "xyz"},
            )
            for number, time in enumerate(times)
        ]
        settings = Settings(lateness=0)
        found = in_bulk(made, settings, cuts(pick, items), saved=lambda number: False)
        assert everything_of(found) == everything_of(plain(made, settings, items)), seed


AGES = "99999999999999d"
EXTREMES = [
    {"kind": "top-k", "k": 3 * 10**9},
    {"kind": "top-k", "k": 2, "refresh": AGES, "period": AGES},
    {"kind": "window", "k": 3 * 10**9, "window": "5s"},
    {"kind": "window", "k": 2, "window": AGES},
    {"kind": "window", "k": 2, "window": 10**19},
    {"kind": "window", "k": 2, "window": 2**63 - 1},
    {"kind": "novelty", "rate": 0.001, "period": 10**15},
    {"kind": "novelty", "rate": 1.0, "period": 10**12, "mode": "eager"},
    {"kind": "fresh", "k": 2**31, "window": 10**19, "half_life": "1ms"},
    {"kind": "fresh", "k": 2, "window": None, "half_life": AGES},
    {"kind": "diverse", "k": 10**9, "window": None, "over": {"y": None}},
    {"kind": "diverse", "k": 2, "window": 2**63, "over": {"x": 1e-300, "y": None}},
    {"kind": "digest", "k": 2**63, "every": "5s"},
    {"kind": "digest", "k": 2, "every": AGES},
    {"kind": "quiet", "from": "00:00", "to": "23:59", "k": 10**19},
    {"kind": "cap", "most": 2**63, "per": AGES},
]


@pytest.mark.parametrize("policy", EXTREMES, ids=lambda policy: policy["kind"])
def test_extreme_settings(policy):
    subscription = {"id": "s", "score": "x / 10 + 1", "policy": policy}
    made, settings = (
        registry_from_documents({"subscriptions": [subscription]}, Limits(diverse_k=10**9)),
        Settings(lateness=0),
    )
    items = [
        Publication(
            id=f"p{n}",
            source="s",
            time=n * SECOND,
            position=n,
            data={"x": 7 * n % 11, "y": "abc"[n % 3]},
        )
        for n in range(40)
    ]
    batches = [items[:9], items[9:20], items[20:]]
    found = in_bulk(made, settings, batches, saved=lambda number: True)
    assert everything_of(found) == everything_of(plain(made, settings, items))
