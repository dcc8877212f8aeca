"""The log says from where on a shortlist is whose, the same however the input is cut."""

import json

from shortlist.client.openings import FIRST, Openings
from shortlist.intake.files import registry_from_documents
from shortlist.log.base import DELIVERIES, DEPARTURES, HANDOVERS
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.live.deployments import Deployment, numbered
from tests.strategies import SECOND, START, seeded


def run(made, lines, settings, shards, pick=None):
    """The deployment after all lines: in one batch, or cut, restarted and rescaled at will."""
    deployment = Deployment(made, settings, shards, with_departures=True)
    for batch in batches(pick, numbered(lines)) if pick else [numbered(lines)]:
        deployment.run(batch)
        match pick([None, None, "restart", "rescale"]) if pick else None:
            case "restart":
                deployment.start()
            case "rescale":
                deployment.rescale(pick([1, 2, 3]))
    deployment.run([], last=True)
    return deployment


def batches(pick, items):
    """The items in order, in batches of several sizes."""
    start = 0
    while start < len(items):
        end = start + pick([1, 5, 9, 17])
        yield items[start:end]
        start = end


def entries(log, stream):
    return [(entry.offset, json.loads(entry.content)) for entry in log.read(stream, 0)]


def check_owners(made, log):
    """Every delivery lies in the opening of the subscriber that it went to."""
    owners = {each.id: each.subscriber for each in made.every_shortlist}
    handovers = [entry for _, entry in entries(log, HANDOVERS)]
    checked = 0
    for stream in (DELIVERIES, DEPARTURES):
        present, following = dict(owners), iter(handovers)
        upcoming = next(following, None)
        for offset, entry in entries(log, stream):
            while upcoming is not None and upcoming[stream] < offset:
                present[upcoming["shortlist"]] = upcoming["subscriber"]
                upcoming = next(following, None)
            if stream == DELIVERIES:
                assert present[entry["shortlist"]] == entry["subscriber"], (offset, entry)
            else:
                # what leaves while a shortlist closes comes ahead of its end
                assert present[entry["shortlist"]] is not None, (offset, entry)
            checked += 1
    return checked


def flats(subscriber, where="rent < 9"):
    return {"id": "flats", "subscriber": subscriber, "where": where}


def timed(second, **fields):
    return json.dumps({"time": f"2026-03-01T00:00:{second:02}Z", **fields})


def flat(second, name):
    return timed(second, id=name, source="ads", data={"rent": 1})


POLICIES = [{"kind": "everything"}, {"kind": "window", "k": 1, "window": "1s"}]


def changing_hands(pick, count):
    """Lines in which two names go from one subscriber to another, among publications."""
    lines = []
    for number in range(count):
        jitter = pick([0, 0, -SECOND // 2])
        time = format_time(START + number // 4 * SECOND // 2 + jitter)
        name, owner = pick(["flats", "rooms"]), pick(["ann", "bob"])
        kind = pick(["publish"] * 5 + ["subscribe", "subscribe", "unsubscribe", "update"])
        match kind:
            case "publish":
                rent = pick([1, 2, 3])
                line = {"id": f"p{number}", "source": "ads", "data": {"rent": rent}}
            case "subscribe":
                made = flats(owner) | {"id": name, "score": "0 - rent", "policy": pick(POLICIES)}
                line = {kind: made}
            case "unsubscribe":
                line = {kind: name}
            case _:
                line = {kind: {"subscription": name, "subscriber": owner}}
        lines.append(json.dumps({"time": time, **line}))
    return lines


def test_handovers_do_not_depend_on_batches_and_part_deliveries_by_owner():
    handed, checked = 0, 0
    made = registry_from_documents({"subscriptions": [flats("ann")]})
    for seed in range(4):
        pick = seeded(seed)
        settings, lines = Settings(lateness=pick(["0s", "0s", "1s"])), changing_hands(pick, 100)
        whole, cut = run(made, lines, settings, 1), run(made, lines, settings, 2, pick)
        found = entries(whole.registers, HANDOVERS)
        assert entries(cut.registers, HANDOVERS) == found, seed
        handed += len(found)
        checked += check_owners(made, whole.registers)
    assert handed > 40
    assert checked > 100


def test_a_name_changes_hands_within_one_instant_of_one_batch():
    made = registry_from_documents({"subscriptions": [flats("ann")]})
    lines = [
        flat(1, "a1"),
        timed(1, unsubscribe="flats"),
        timed(1, subscribe=flats("bob")),
        flat(1, "b1"),
        timed(2, update={"subscription": "flats", "where": "rent < 8"}),
        timed(2, update={"subscription": "flats", "subscriber": "bob"}),
        flat(3, "b2"),
        timed(4, update={"subscription": "flats", "subscriber": "eve"}),
        flat(4, "e1"),
        timed(5, unsubscribe="flats"),
    ]
    deployment = run(made, lines, Settings(lateness=0), 1)
    assert [
        (entry["position"], entry["subscriber"], entry["deliveries"])
        for _, entry in entries(deployment.registers, HANDOVERS)
    ] == [(2, None, 1), (3, "bob", 1), (8, "eve", 3), (10, None, 4)]
    assert check_owners(made, deployment.registers) == 4
    openings = Openings(deployment.registers)
    assert openings.last("flats").subscriber is None
    assert openings.last("others") == FIRST


def test_openings_are_read_on_and_looked_up_alike():
    made = registry_from_documents({"subscriptions": [flats("ann")]})
    deployment = Deployment(made, Settings(lateness=0), 1)
    followed = Openings(deployment.registers)
    assert followed.last("flats").position == 0
    lines = [
        timed(1, unsubscribe="flats"),
        timed(2, subscribe=flats("bob")),
        timed(3, heartbeat=True),
        timed(4, subscribe={"id": "others", "subscriber": "eve"}),
        timed(5, unsubscribe="flats"),
        timed(6, heartbeat=True),
    ]
    for line in numbered(lines):
        deployment.run([line])
        fresh = Openings(deployment.registers).last_of(["flats", "others"])
        assert followed.last_of(["flats", "others"]) == fresh
    assert fresh["others"].position == 4
    assert (fresh["flats"].position, fresh["flats"].subscriber) == (5, None)


def test_another_log_begins_without_handovers():
    """What an opening is stays in the log where its deliveries are."""
    made = registry_from_documents({"subscriptions": [flats("ann")]})
    deployment = Deployment(made, Settings(lateness=0), 1)
    deployment.run(
        numbered([timed(1, unsubscribe="flats"), timed(2, subscribe=flats("bob")), flat(3, "b1")])
    )
    deployment.move()
    assert Openings(deployment.registers).last("flats") == FIRST
    deployment.run([(4, timed(4, unsubscribe="flats")), (5, timed(5, heartbeat=True))])
    last = Openings(deployment.registers).last("flats")
    assert (last.position, last.subscriber) == (4, None)
