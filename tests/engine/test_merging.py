"""States that are cut by shortlist and joined again, on drawn registries and timelines."""

import zlib

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.merging import joined, part, stages
from shortlist.engine.replay import read_items
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.command import Advertise, Command, Heartbeat, Unadvertise, Unsubscribe
from shortlist.model.publication import Publication
from shortlist.model.settings import Settings
from tests.strategies import CHAINS, SECOND, cuts, registry, seeded, seeds, timeline

PROMPT = Settings(lateness=0)


def home(shortlist, groups):
    return zlib.crc32(shortlist.encode()) % 256 % groups


def saved(engine):
    return Saved.of_bytes(Saving(engine.shard).saved().to_bytes())


def restored(state):
    """Whatever an admission remembers, nothing comes twice or late here."""
    engine = Engine(registry_from_documents(state.registry), PROMPT)
    Saving(engine.shard).load(Saved.of_bytes(state.to_bytes()))
    return engine


def regrouped(states, groups):
    return [
        joined([part(state, lambda name, n=n: home(name, groups) == n) for state in states])
        for n in range(groups)
    ]


def drawn_registry(pick):
    """Without advertisements, and often with chains: these have sets of matches."""
    document = registry(pick, advertised=False)
    if pick([False, True]):
        for made in document["shortlists"]:
            made |= {"policy": pick(CHAINS)}
    return registry_from_documents(document)


def items_of(made, lines):
    """Without advertisements: whom these let in is decided over all shards."""
    items, _ = read_items(made, lines, PROMPT)
    return [item for item in items if not isinstance(item, Advertise | Unadvertise)]


class Whole:
    """One engine that takes batches as they come."""

    def __init__(self, made):
        self.engine = Engine(made, PROMPT)
        self._roster = Roster()
        for command in registry_commands(made):
            self._roster.apply(command)

    def process(self, batch, last):
        """The deliveries, and what was let in, with the shortlist that each command concerns."""
        result = self.engine.process(batch, last)
        rejects = {reject.position: reject.reason for reject in result.rejects}
        passed = [
            self._passed(item, item.position not in rejects)
            for item in batch
            if not rejects.get(item.position, "").startswith("late")
        ]
        return result.deliveries, passed

    def _passed(self, item, is_admitted):
        if not is_admitted:
            return None, silent(item)
        if not isinstance(item, Command):
            return None, item
        concerned = self._roster.shortlist_of(item)
        self._roster.apply(item)
        return concerned, item


def silent(item):
    """Only the time of an item."""
    return Heartbeat(time=item.time, position=item.position)


def run_shards(engines, passed, last):
    deliveries = []
    for shard, engine in enumerate(engines):
        items = [
            item if name is None or home(name, len(engines)) == shard else silent(item)
            for name, item in passed
        ]
        result = engine.process(items, last)
        assert not result.rejects
        deliveries += result.deliveries
    return sorted(deliveries, key=lambda delivery: delivery.order)


def play(seed):
    """Batch after batch in one engine, and in shards that are regrouped now and then."""
    pick = seeded(seed)
    made = drawn_registry(pick)
    batches = cuts(pick, items_of(made, timeline(pick, 40)))
    whole = Whole(made)
    shards = [*map(restored, regrouped([saved(whole.engine)], pick([1, 2, 3])))]
    for number, batch in enumerate([*batches, []]):
        last = number == len(batches)
        expected, passed = whole.process(batch, last)
        assert run_shards(shards, passed, last) == expected, seed
        groups = pick([*[None] * 12, 1, 2, 3, 5])
        if groups is not None:
            shards = [*map(restored, regrouped([*map(saved, shards)], groups))]


def test_the_same_deliveries_whatever_the_groups():
    for seed in seeds(8):
        play(seed)


@pytest.mark.soak
def test_the_same_deliveries_for_long():
    for seed in range(24, 5_000):
        play(seed)


def contents(state):
    """What each policy of each shortlist holds, in words."""
    publications = {
        row["serial"]: (row["time"], row["position"], row["source"], row["id"], row["data"])
        for row in rows_of(state, "publications")
    }
    sets = {row["number"]: [*row.values()][1:] for row in rows_of(state, "sets")}
    words = {"publication": publications.get, "matched": lambda number: sets.get(number, number)}
    found = {}
    for heads, rows in stages(state.tables):
        remaining = iter(rows_of(state, rows))
        for head in rows_of(state, heads):
            own = [next(remaining) for _ in range(head["length"])]
            spelled = [
                {name: words.get(name, lambda value: value)(row[name]) for name in row}
                for row in own
            ]
            found[heads, head["shortlist"]] = head, spelled
        assert not [*remaining]
    return found


def rows_of(state, name):
    return state.tables[name].to_pylist() if name in state.tables else []


def appearances(state):
    return [(row["time"], row["position"]) for row in rows_of(state, "publications")]


def drawn_states(seed):
    """The states of one engine after some batches."""
    pick = seeded(seed)
    made = drawn_registry(pick)
    engine = Engine(made, PROMPT)
    for batch in cuts(pick, items_of(made, timeline(pick, 60))):
        engine.process(batch)
        if pick([False, False, True]):
            yield saved(engine)


def test_the_same_contents_whatever_the_groups():
    for seed in seeds(8):
        for whole in drawn_states(seed):
            parts = regrouped([whole], 1 + seed % 5)
            again = Saved.of_bytes(joined(parts).to_bytes())
            assert contents(again) == contents(whole), seed
            assert appearances(again) == appearances(whole) == sorted(appearances(whole)), seed
            assert again.document["serials"] == len(appearances(whole))
            assert sum(len(contents(each)) for each in parts) == len(contents(whole))


def test_parts_hold_nothing_that_they_do_not_need():
    for seed in seeds(8):
        for whole in drawn_states(seed):
            kept = part(whole, lambda name: home(name, 2) == 0)
            rows = [kept.tables[name] for _, name in stages(kept.tables)]
            for name, field in (("publications", "publication"), ("sets", "matched")):
                columns = [table.column(field) for table in rows if field in table.schema.names]
                referred = {number for column in columns for number in column.to_pylist()} - {-1}
                assert len(rows_of(kept, name)) == len(referred), seed
            live = {made["id"] for made in kept.registry["subscriptions"]}
            for table in rows:
                if "subscription" in table.schema.names:
                    names = table.column("subscription").dictionary.to_pylist()
                    assert live.issuperset({*names} - {None}), seed


def flat(number, **more):
    return Publication(id=f"p{number}", source="ads", position=number, **more)


def in_window(*names, k=1):
    window = {"kind": "window", "k": k, "window": "10s"}
    subscriptions = [
        {"id": name, "where": f"{name} > 0", "score": name, "policy": window} for name in names
    ]
    return registry_from_documents({"subscriptions": subscriptions})


def test_a_tie_between_publications_of_different_parts_goes_to_the_later_one():
    """Though it was the first that its engine saw."""
    early, late = (flat(n, time=n * SECOND, data={"a": 1, "b": 1}) for n in (1, 2))
    first, second = (Engine(in_window(name, k=2), PROMPT) for name in "ab")
    first.process([early, late])
    second.process([late])
    both = joined([saved(second), saved(first)])
    assert [row["id"] for row in rows_of(both, "publications")] == ["p1", "p2"]
    later = flat(3, time=3 * SECOND, data={"a": 1, "b": 1})
    ranks = {
        (delivery.shortlist, delivery.rank)
        for delivery in restored(both).process([later]).deliveries
    }
    assert ranks == {("a", 1), ("b", 1)}


def owned(shortlist, policy):
    """A shortlist with two subscriptions that everything matches."""
    return {
        "shortlists": [{"id": shortlist, "subscriber": "u", "policy": policy}],
        "subscriptions": [{"id": f"{shortlist}{n}", "shortlist": shortlist} for n in (1, 2)],
    }


def test_sets_of_matches_are_told_apart():
    chain = [
        {"kind": "window", "k": 1, "window": "10s"},
        {"kind": "novelty", "rate": 1, "period": 3},
    ]
    engines = [Engine(registry_from_documents(owned(name, chain)), PROMPT) for name in "ab"]
    for engine in engines:
        engine.process([flat(1, time=1)])
    both = joined([*map(saved, engines)])
    members = {
        name: row["matched"][0]
        for (_, name), (_, rows) in contents(both).items()
        for row in rows
        if "matched" in row
    }
    assert members == {"a": ["a1", "a2"], "b": ["b1", "b2"]}
    assert contents(saved(restored(both))) == contents(both)


def test_rows_of_cancelled_subscriptions_name_nobody():
    eager = {"kind": "novelty", "rate": 0.5, "period": 9, "mode": "eager", "algorithm": "sampling"}
    engine = Engine(registry_from_documents(owned("a", eager)), PROMPT)
    engine.process([flat(1, time=1), Unsubscribe(subscription="a1", time=2, position=2)])
    again = joined([part(saved(engine), lambda name: True)])
    assert None in again.tables["0 novelty 5 rows"].column("subscription").to_pylist()
    assert contents(saved(restored(again))) == contents(saved(engine))


def test_publications_with_the_same_id_are_told_apart():
    first, second = (Engine(in_window(name), PROMPT) for name in "ab")
    for engine, position, time in ((first, 1, 1), (second, 1, 2)):
        engine.process([flat(position, time=time, data={"a": 1, "b": 1})])
    assert len(rows_of(joined([saved(first), saved(second)]), "publications")) == 2


def test_counts_add_up_and_parts_start_over():
    engines = [Engine(in_window(name), PROMPT) for name in "ab"]
    for engine in engines:
        engine.process([flat(1, time=1, data={"a": 1, "b": 1})])
        engine.process([flat(2, time=2, data={"a": "1", "b": "1"})])
    both = joined([*map(saved, engines)])
    assert restored(both).counts == {
        "matched": 2,
        "arrival": 2,
        "other_type": {"a": 1, "b": 1},
    }
    assert restored(part(both, lambda name: True)).counts == {"other_type": {}}


def test_advertisements_stay_with_everybody():
    document = {"subscriptions": [{"id": "a"}, {"id": "b"}]}
    advertisement = {"id": "ad", "source": "ads", "k": 5}
    engine = Engine(registry_from_documents(document | {"advertisements": [advertisement]}))
    parts = [part(saved(engine), lambda name, one=one: name == one) for one in "ab"]
    for each in [*parts, joined(parts)]:
        assert [made["id"] for made in each.registry["advertisements"]] == ["ad"]
