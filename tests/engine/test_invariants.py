"""What holds for every input, however it is cut, ordered, stored and spread."""

import json
from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.engine import Engine, Result
from shortlist.engine.replay import read_items, replay
from shortlist.engine.saved import Saved
from shortlist.intake.files import registry_from_documents
from shortlist.model.delivery import Delivery
from shortlist.model.durations import Span
from shortlist.model.policy import Quiet, policies_of
from shortlist.model.settings import Settings
from tests.engine.stories import clock, names, publish
from tests.strategies import (
    WINDOW_POLICIES,
    cuts,
    drawn,
    publication_lines,
    publications,
    registries,
    registry,
    seeded,
    seeds,
    timelines,
)

latenesses = st.sampled_from([None, 0, 0, "1s", "3s"])


def everything_of(result):
    """Deliveries in their order, and rejects in the order of the input."""
    return (
        sorted(result.deliveries, key=lambda delivery: delivery.order),
        sorted(result.rejects, key=lambda reject: reject.position),
    )


def in_batches(registry, settings, batches, stored=False):
    """One engine, batch after batch; `stored`, it is put away and taken out between them."""
    engine, total = Engine(registry, settings), Result()
    for number, batch in enumerate([*batches, []]):
        result = engine.process(batch, last=number == len(batches))
        total.deliveries += result.deliveries
        total.rejects += result.rejects
        if stored:
            engine = Engine.restore(engine.snapshot(), settings)
    return total


@given(registries(), timelines(), latenesses, st.data())
def test_the_cut_into_batches_does_not_matter(document, lines, lateness, data):
    registry, settings = registry_from_documents(document), Settings(lateness=lateness)
    items, _ = read_items(registry, lines, settings)
    whole = Engine(registry, settings).process(items, last=True)
    batches = data.draw(drawn(cuts)(items))
    assert everything_of(in_batches(registry, settings, batches)) == everything_of(whole)


def window_registry(pick):
    """A registry in which something always waits for something to leave."""
    document = registry(pick, advertised=False)
    for made in [*document["shortlists"], *document["subscriptions"]]:
        if "policy" in made:
            made["policy"] = pick(WINDOW_POLICIES)
    return document


def test_the_cut_into_batches_does_not_matter_to_windows():
    """What leaves at an instant leaves together with what arrives then, in whatever batch."""
    for seed in seeds(25):
        pick = seeded(seed)
        made = registry_from_documents(window_registry(pick))
        settings = Settings(lateness=pick(["0s", "1s", "2s"]))
        items, _ = read_items(made, publications(pick, 40), settings)
        whole = Engine(made, settings).process(items, last=True)
        found = in_batches(made, settings, cuts(pick, items), stored=pick([False, False, True]))
        assert everything_of(found) == everything_of(whole), seed


def test_nothing_waits_longer_than_it_must():
    """What can no longer be overtaken is delivered with the batch that settles it."""
    subscription = {"id": "s", "score": "value"}
    subscription["policy"] = {"kind": "window", "k": 1, "window": "5s"}
    made = registry_from_documents({"subscriptions": [subscription]})
    story = [publish("a", 0, value=9), publish("b", 1, value=5)]
    story.append({"time": clock(5.5), "heartbeat": True})
    items, _ = read_items(made, map(json.dumps, story), Settings())
    prompt = Engine(made, Settings(lateness=0))
    assert [names(prompt.process([item])) for item in items] == [["a"], [], ["b"]]
    patient = Engine(made, Settings(lateness="1s"))
    assert [names(patient.process([item])) for item in items] == [[], ["a"], []]
    assert names(patient.process([], last=True)) == ["b"]


@given(registries(), timelines(), latenesses, st.data())
def test_a_snapshot_at_any_point_does_not_matter(document, lines, lateness, data):
    registry, settings = registry_from_documents(document), Settings(lateness=lateness)
    items, _ = read_items(registry, lines, settings)
    whole = Engine(registry, settings).process(items, last=True)
    batches = data.draw(drawn(cuts)(items))
    stored = in_batches(registry, settings, batches, stored=True)
    assert everything_of(stored) == everything_of(whole)


def content(snapshot):
    """What a snapshot says, in whatever order it names what is live."""
    saved = Saved.of_bytes(snapshot)
    registry = saved.registry
    for kind in ("shortlists", "subscriptions", "advertisements"):
        registry[kind].sort(key=lambda made: made["id"])
    held = {}
    for name, table in saved.tables.items():
        if name.endswith(" heads"):
            rows = iter(saved.tables[name.replace("heads", "rows")].to_pylist())
            held[name] = {
                head["shortlist"]: (head, sorted(map(str, islice(rows, head["length"]))))
                for head in table.to_pylist()
            }
    others = ("publications", "accepted", "sets")
    return (
        registry,
        saved.document,
        held,
        {name: saved.tables[name] for name in others if name in saved.tables},
    )


@given(registries(), timelines(), st.integers(0, 10))
def test_a_snapshot_of_a_restored_engine_is_the_same(document, lines, length):
    registry, settings = registry_from_documents(document), Settings(lateness="1s")
    items, _ = read_items(registry, lines, settings)
    engine = Engine(registry, settings)
    engine.process(items[:length])
    snapshot = engine.snapshot()
    assert content(Engine.restore(snapshot, settings).snapshot()) == content(snapshot)


@given(registries(), timelines(), st.randoms(use_true_random=False))
def test_without_a_limit_to_lateness_the_order_of_lines_does_not_matter(document, lines, random):
    registry, settings = registry_from_documents(document), Settings()
    items, _ = read_items(registry, lines, settings)
    shuffled = list(items)
    random.shuffle(shuffled)
    whole = Engine(registry, settings).process(items, last=True)
    assert everything_of(Engine(registry, settings).process(shuffled, last=True)) == everything_of(
        whole
    )


def shard(document, number, of):
    """The part of a registry whose shortlists fall into one of several shards."""

    def here(name):
        return sum(name.encode()) % of == number

    return {
        "vocabulary": document["vocabulary"],
        "shortlists": [made for made in document["shortlists"] if here(made["id"])],
        "subscriptions": [
            made for made in document["subscriptions"] if here(made.get("shortlist", made["id"]))
        ],
    }


@given(registries(advertised=False), publication_lines(), st.sampled_from([2, 3, 7]))
def test_the_number_of_shards_does_not_matter(document, lines, shards):
    whole = replay(registry_from_documents(document), lines)
    parts = [
        replay(registry_from_documents(shard(document, number, shards)), lines)
        for number in range(shards)
    ]
    merged = [delivery for part in parts for delivery in part.deliveries]
    assert sorted(merged, key=lambda delivery: delivery.order) == whole.deliveries
    assert all(part.rejects == whole.rejects for part in parts)


@given(registries(), timelines(), latenesses)
def test_every_delivery_is_well_formed(document, lines, lateness):
    registry, settings = registry_from_documents(document), Settings(lateness=lateness)
    result = replay(registry, lines, settings)
    assert all(one.order < other.order for one, other in pairwise(result.deliveries))
    once = Counter((made.shortlist, made.publication.position) for made in result.deliveries)
    assert set(once.values()) <= {1}
    for made in result.deliveries:
        assert 1 >= made.possibility >= made.necessity >= 0
        assert made.possibility > 0
        assert made.time >= made.publication.time
        assert (made.time == made.publication.time) or made.cause == "promotion"
        assert made.publication.expiry is None or made.time < made.publication.expiry


@given(registries(), timelines())
def test_every_line_is_accounted_for(document, lines):
    """A line is rejected once, or is not; nothing is both delivered and rejected."""
    result = replay(registry_from_documents(document), lines)
    rejected = [reject.position for reject in result.rejects]
    assert rejected == sorted(set(rejected))
    delivered = {made.publication.position for made in result.deliveries}
    assert delivered.isdisjoint(rejected)
    assert delivered | set(rejected) <= set(range(1, len(lines) + 1))


@given(registries(), publication_lines())
def test_ranks_are_within_k_where_the_policy_ranks(document, lines):
    registry = registry_from_documents(document)
    own = [made.own_shortlist() for made in registry.subscriptions if made.shortlist is None]
    policies = {made.id: made.policy for made in [*registry.shortlists, *own]}
    for made in replay(registry, lines).deliveries:
        passed = policies_of(policies[made.shortlist])
        is_quiet = isinstance(passed[-1], Quiet)  # what does not wait has no rank
        if hasattr(passed[-1], "k") and not (is_quiet and made.rank is None):
            assert 1 <= made.rank <= (passed[-1].k or len(lines))
        else:
            assert made.rank is None
        may_promote = any(hasattr(policy, "window") or policy.waits for policy in passed)
        assert made.cause == "arrival" or may_promote


def in_the_window(delivery, now, span):
    """Whether what was delivered is still in a time window, or in one without an end."""
    publication = delivery.publication
    ends = [end for end in (publication.expiry, span and publication.time + span) if end]
    return delivery.time <= now and all(end > now for end in ends)


def best_first(delivery: Delivery):
    return -delivery.score, -delivery.publication.time, -delivery.publication.position


TIME_WINDOWS = [policy for policy in WINDOW_POLICIES if not isinstance(policy["window"], int)]


def window_subscription(pick):
    score = pick(["price", "-price", "size", "price / 4"])
    return {"id": "sub", "score": score, "policy": pick(TIME_WINDOWS)}


@given(drawn(window_subscription)(), publication_lines())
def test_a_windows_shortlist_never_holds_more_than_k(subscription, lines):
    """Put together again from deliveries alone: whoever is delivered stands at its rank, and the
    ones above it, fewer than k, were all delivered before."""
    registry = registry_from_documents({"subscriptions": [subscription]})
    policy = registry.subscriptions[0].policy
    span = policy.window.micros if isinstance(policy.window, Span) else None
    items, _ = read_items(registry, lines, Settings())
    result = Engine(registry).process(_at_different_times(items), last=True)
    for made in result.deliveries:
        standing = [other for other in result.deliveries if in_the_window(other, made.time, span)]
        shortlist = sorted(standing, key=best_first)[: policy.k]
        assert shortlist.index(made) + 1 == made.rank


def _at_different_times(items):
    """The same publications a little later each, so that no two come or go at one instant."""
    for item in items:
        delay = item.position
        expiry = None if item.expiry is None else item.expiry + 100 + delay
        yield replace(item, time=item.time + delay, expiry=expiry)
