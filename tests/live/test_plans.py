"""Every plan leads to the deliveries of the engine, and counts the same."""

import json

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster
from shortlist.live.keys import ByCell, ByValue
from shortlist.live.plans import MANY, Choice, choose
from shortlist.live.shard import Work
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time
from tests.live.deployments import Deployment, drawn, expected, numbered
from tests.strategies import SECOND, START, cuts, seeded

PATHS = [
    *((name,) for name in ("price", "size", "mood", "genre", "scores", "open", "released")),
    ("address", "city"),
    ("event", "source"),
]


def drawn_choice(pick, plan):
    """Any attribute: a poor key is slow, and never wrong."""
    lanes, path = pick([1, 2, 3, 5]), pick(PATHS)
    key = None
    if plan == "rendezvous":
        key = pick([ByValue(path, lanes), ByCell(path, (2.0, 3.0, 4.0, 4.5)[: lanes - 1])])
    return Choice(plan=plan, lanes=lanes, key=key, why="it was drawn")


def start(deployment, choice):
    deployment.start()
    deployment.driver.choice = choice


@pytest.mark.parametrize("plan", ["broadcast", "rendezvous"])
@pytest.mark.parametrize("part", range(2))
def test_the_same_deliveries_in_the_same_order(plan, part):
    for seed in range(5 * part, 5 * (part + 1)):
        pick = seeded(seed)
        made, settings, lines = drawn(pick)
        deployment = Deployment(made, settings, shards=pick([1, 2, 3]))
        start(deployment, drawn_choice(pick, plan))
        for batch in cuts(pick, numbered(lines)):
            deployment.run(batch)
            if pick([False, False, True]):
                start(deployment, drawn_choice(pick, pick([plan, plan, "replicate"])))
        deployment.run([], last=True)
        deliveries, refusals = expected(made, lines, settings)
        assert deployment.outlet.deliveries == deliveries, seed
        assert sorted(deployment.outlet.refusals) == refusals, seed
        replicated = Deployment(made, settings, shards=1)
        replicated.run(numbered(lines))
        replicated.run([], last=True)
        assert deployment.driver.manifest.counts == replicated.driver.manifest.counts, seed


def flats(count):
    pick = seeded(count)
    for number in range(count):
        rent = pick([*range(500, 900, 20), "on request", {"between": [600, 700]}])
        document = {"city": pick(["Oslo", "Rome", "Bonn", 7]), "rent": rent}
        time = format_time(START + number * SECOND // 100)
        yield json.dumps({"id": f"f{number}", "source": "ads", "time": time, "data": document})


def wishes(count):
    policies = [{"kind": "everything"}, {"kind": "window", "k": 3, "window": "1s"}]
    cities = ["Oslo", "Rome", "Bonn"]
    return [
        {
            "id": f"w{number}",
            "where": f"city = '{cities[number % 3]}' and rent < {500 + 9 * number}",
            "score": "-rent",
            "policy": policies[number % 2],
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("plan", ["replicate", "broadcast", "rendezvous"])
def test_batches_of_several_blocks(plan):
    made = registry_from_documents({"subscriptions": wishes(40)})
    lines, settings = [*flats(1300)], Settings(lateness=0)
    deployment = Deployment(made, settings, shards=2)
    start(deployment, choose(plan, Roster.of(made), 2))
    assert deployment.driver.choice.plan == plan
    for batch in (numbered(lines)[:1200], numbered(lines)[1200:]):
        deployment.run(batch)
    deployment.run([], last=True)
    assert (deployment.outlet.deliveries, deployment.outlet.refusals) == expected(
        made, lines, settings
    )


@pytest.mark.parametrize("plan", ["broadcast", "rendezvous"])
def test_what_lanes_did_for_a_batch_that_failed_never_happened(plan):
    made = registry_from_documents({"subscriptions": wishes(8)})
    gone = {"time": format_time(START), "unsubscribe": "w1"}
    lines, settings = [json.dumps(gone), *flats(60)], Settings(lateness=0)
    deployment = Deployment(made, settings, shards=2)

    def full_disk(task, works):
        if isinstance(works[0], Work):
            raise OSError("no space left")
        return [task(work) for work in works]

    usual, deployment.everywhere = deployment.everywhere, full_disk
    start(deployment, choose(plan, Roster.of(made), 2))
    with pytest.raises(OSError, match="no space"):
        deployment.run(numbered(lines))
    deployment.everywhere = usual
    start(deployment, choose(plan, Roster.of(made), 2))
    deployment.run(numbered(lines))
    deployment.run([], last=True)
    assert (deployment.outlet.deliveries, deployment.outlet.refusals) == expected(
        made, lines, settings
    )


@pytest.mark.parametrize("plan", ["broadcast", "rendezvous"])
def test_what_is_replaced_by_something_that_matches_nothing_leaves(plan):
    made = registry_from_documents(
        {
            "subscriptions": [
                {
                    "id": "w",
                    "where": "city = 'Oslo'",
                    "score": "-rent",
                    "policy": {"kind": "window", "k": 1, "window": "1h"},
                }
            ]
        }
    )
    stream = [("a", "Oslo", 500, None), ("b", "Oslo", 600, None), ("c", "Rome", 700, "a")]
    lines = [
        json.dumps(
            {"id": name, "source": "ads", "time": format_time(START + at * SECOND)}
            | ({"replaces": replaced} if replaced else {})
            | {"data": {"city": city, "rent": rent}}
        )
        for at, (name, city, rent, replaced) in enumerate(stream)
    ]
    deployment = Deployment(made, Settings(lateness=0), shards=2)
    start(deployment, choose(plan, Roster.of(made), 2))
    deployment.run(numbered(lines))
    deployment.run([], last=True)
    delivered = [json.loads(line) for line in deployment.outlet.deliveries]
    assert [(each["publication"], each["time"]) for each in delivered] == [
        ("a", format_time(START)),
        ("b", format_time(START + 2 * SECOND)),
    ]


def test_values_of_another_type_are_counted_on_one_lane_only():
    made = registry_from_documents({"subscriptions": wishes(3)})
    lines = [*flats(400)]
    deployment = Deployment(made, Settings(lateness=0), shards=2)
    cells = ByCell(("rent",), (600.0, 700.0, 800.0))
    start(deployment, Choice(plan="rendezvous", lanes=4, key=cells, why="it was drawn"))
    deployment.run(numbered(lines), last=True)
    published = [json.loads(line)["data"] for line in lines]
    assert any(each["city"] == 7 and isinstance(each["rent"], dict) for each in published)
    counts = deployment.driver.manifest.counts
    assert counts["other type: city"] == 3 * sum(each["city"] == 7 for each in published)


def large(where, **home):
    """Subscriptions of one shortlist, or each of its own."""
    some = [Subscription(id=f"s{n}", where=where(n), **home) for n in range(MANY)]
    return Registry(shortlists=(Shortlist(id="all", subscriber="u"),), subscriptions=tuple(some))


def test_small_registries_are_replicated():
    made = registry_from_documents({"subscriptions": wishes(12)})
    choice = choose("auto", Roster.of(made), 4)
    assert choice.plan == "replicate"
    assert choice.why == "12 subscriptions are matched sooner than another stage begins"


def test_shards_that_share_the_matching_do_it():
    choice = choose("auto", Roster.of(large(lambda n: f"city = 'c{n % 400}'")), 4)
    assert choice.plan == "replicate"
    assert choice.why == "the shards share the matching: the fullest of 4 has 25% of it"


def test_what_matches_everything_does_not_travel():
    choice = choose("auto", Roster.of(large(lambda n: None, shortlist="all")), 4)
    assert choice.plan == "replicate"
    assert choice.why == "200,000 of 200,000 subscriptions match everything: all that would travel"


def test_one_full_shard_and_an_attribute_with_many_values():
    wanted = large(lambda n: "rent < 9" if n % 10 == 3 else f"city = 'c{n % 397}'", shortlist="all")
    choice = choose("auto", Roster.of(wanted), 4)
    assert (choice.plan, choice.key) == ("rendezvous", ByValue(("city",), 4))
    assert choice.why == (
        "one of 4 shards has 100% of 200,000 subscriptions; 90% of the subscriptions ask for "
        "values of `city` (397 of them), so that no lane holds more than 34%"
    )


def test_one_full_shard_and_no_attribute():
    choice = choose("auto", Roster.of(large(lambda n: f"title contains '{n}'", shortlist="all")), 4)
    assert choice.plan == "broadcast"
    assert choice.why == (
        "one of 4 shards has 100% of 200,000 subscriptions, and no attribute splits them well"
    )


def test_narrow_ranges_are_split_into_cells():
    made = registry_from_documents(
        {
            "subscriptions": [
                {"id": f"s{n}", "where": f"rent >= {n} and rent < {n + 5} and city != 'Oslo'"}
                for n in range(400)
            ]
        }
    )
    choice = choose("rendezvous", Roster.of(made), 4)
    assert choice.plan == "rendezvous"
    assert isinstance(choice.key, ByCell)
    assert choice.why.endswith("ask for a range of `rent`, so that no lane holds more than 26%")


def test_rendezvous_without_a_key_is_broadcast():
    made = registry_from_documents({"subscriptions": [{"id": "s", "where": "title contains 'x'"}]})
    choice = choose("rendezvous", Roster.of(made), 3)
    assert (choice.plan, choice.lanes) == ("broadcast", 3)
    assert choice.why == (
        "no attribute splits the subscriptions over 3 lanes, as rendezvous would need"
    )
