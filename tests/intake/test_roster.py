"""Which command may be carried out, and what is live after it."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.vocabulary import Vocabulary

TIME = "2026-03-01T09:30:00Z"
REGISTRY = {
    "shortlists": [{"id": "anna", "subscriber": "Anna"}],
    "subscriptions": [{"id": "s1", "shortlist": "anna"}, {"id": "own"}],
    "advertisements": [{"id": "ad", "source": "ads", "k": 1}],
}


def command(**verb):
    return ItemReader(Vocabulary()).document({"time": TIME, **verb}, position=0)


@pytest.fixture
def roster():
    made = Roster()
    for item in registry_commands(registry_from_documents(REGISTRY)):
        assert made.refusal(item) is None
        made.apply(item)
    return made


@pytest.mark.parametrize(
    ("verb", "refusal"),
    [
        (
            {"open": {"id": "anna", "subscriber": "x"}},
            "there is a live shortlist 'anna' already",
        ),
        ({"open": {"id": "own", "subscriber": "x"}}, "there is a live shortlist 'own' already"),
        ({"close": "bob"}, "there is no live shortlist 'bob'"),
        ({"subscribe": {"id": "s1"}}, "there is a live subscription 's1' already"),
        ({"subscribe": {"id": "anna"}}, "there is a live shortlist 'anna' already"),
        ({"subscribe": {"id": "s2", "shortlist": "bob"}}, "there is no live shortlist 'bob'"),
        ({"unsubscribe": "anna"}, "there is no live subscription 'anna'"),
        (
            {"advertise": {"id": "ad", "source": "x", "k": 1}},
            "there is a live advertisement 'ad' already",
        ),
        ({"unadvertise": "s1"}, "there is no live advertisement 's1'"),
        (
            {"update": {"subscription": "anna", "weight": 2}},
            "there is no live subscription 'anna'",
        ),
        ({"update": {"shortlist": "s1", "combine": "sum"}}, "there is no live shortlist 's1'"),
        (
            {"update": {"subscription": "s1", "weight": 0}},
            "subscription 's1': weight: expected a number above 0, found 0",
        ),
        (
            {"update": {"subscription": "s1", "wher": "x > 1"}},
            "subscription 's1': wher: is not a field that is known here; did you mean where?",
        ),
        (
            {"update": {"subscription": "s1", "combine": "sum"}},
            "subscription 's1': combine: expected none, since the shortlist 'anna' has its own",
        ),
        (
            {"update": {"subscription": "s1", "norm": {"weights": [1, 2]}}},
            "subscription 's1': norm: expected a flat conjunction of predicates as `where`, "
            "which weights need",
        ),
        (
            {"update": {"shortlist": "anna", "subscriber": None}},
            "shortlist 'anna': subscriber: is missing",
        ),
        (
            {"update": {"shortlist": "anna", "prefers": [["s1", "x"], ["x", "s1"]]}},
            "shortlist 'anna': prefers: expected no cycle, found 's1' > 'x' > 's1'",
        ),
        (
            {"update": {"shortlist": "own", "where": "x > 1"}},
            "where: expected only subscriber, policy, combine, since a subscription owns 'own'",
        ),
    ],
)
def test_refusals(roster, verb, refusal):
    assert roster.refusal(command(**verb)) == refusal


@pytest.mark.parametrize(
    ("verb", "shortlists", "subscriptions"),
    [
        ({"open": {"id": "s1", "subscriber": "x"}}, "anna own s1", "s1 own"),
        ({"close": "anna"}, "own", "own"),
        ({"close": "own"}, "anna", "s1"),
        ({"unsubscribe": "s1"}, "anna own", "own"),
        ({"unsubscribe": "own"}, "anna", "s1"),
        ({"subscribe": {"id": "s2", "shortlist": "own"}}, "anna own", "s1 own s2"),
        ({"subscribe": {"id": "new"}}, "anna own new", "s1 own new"),
        ({"heartbeat": True}, "anna own", "s1 own"),
    ],
)
def test_what_is_live_afterwards(roster, verb, shortlists, subscriptions):
    item = command(**verb)
    assert roster.refusal(item) is None
    roster.apply(item)
    assert " ".join(roster.shortlists) == shortlists
    assert " ".join(roster.subscriptions) == subscriptions


def test_what_is_live_is_a_registry_again(roster):
    assert roster.registry() == registry_from_documents(REGISTRY)
    roster.apply(command(unadvertise="ad"))
    assert roster.registry().advertisements == ()


def test_an_own_shortlist_takes_everything_with_it_when_it_goes(roster):
    roster.apply(command(subscribe={"id": "s2", "shortlist": "own"}))
    roster.apply(command(unsubscribe="own"))
    assert set(roster.subscriptions) == {"s1"}
    assert roster.refusal(command(subscribe={"id": "own"})) is None


def test_only_the_given_fields_change(roster):
    roster.apply(command(update={"subscription": "s1", "where": "x > 1", "weight": 2}))
    roster.apply(command(update={"subscription": "s1", "weight": None, "score": "x"}))
    changed = roster.subscriptions["s1"]
    assert (changed.where, changed.weight, changed.score) == ("x > 1", 1.0, "x")
    roster.apply(command(update={"shortlist": "anna", "prefers": [["s1", "s2"]]}))
    roster.apply(command(update={"shortlist": "anna", "combine": "sum"}))
    assert roster.shortlists["anna"].prefers == (("s1", "s2"),)
    assert roster.members("anna") == ["s1"]


@pytest.mark.parametrize("kind", ["subscription", "shortlist"])
def test_an_own_shortlist_is_what_its_subscription_says(roster, kind):
    update = {kind: "own", "policy": {"kind": "top-k", "k": 3}, "subscriber": "Ole"}
    roster.apply(command(update=update))
    made = roster.shortlists["own"]
    assert (made.subscriber, made.policy.k) == ("Ole", 3)
    again = Roster()
    for item in registry_commands(roster.registry()):
        again.apply(item)
    assert again.shortlists == roster.shortlists


def test_updates_are_judged_under_the_vocabulary():
    cheap = {"rent": {"terms": {"cheap": {"trapezoid": [None, None, 1, 2]}}}}
    known = registry_from_documents({"vocabulary": cheap, "subscriptions": [{"id": "s"}]})
    roster = Roster(known.vocabulary)
    for item in registry_commands(known):
        roster.apply(item)
    assert roster.refusal(command(update={"subscription": "s", "where": "rent is cheap"})) is None
    assert roster.refusal(command(update={"subscription": "s", "where": "rent is dear"}))


def test_the_shortlist_that_a_command_touches(roster):
    assert roster.shortlist_of(command(update={"subscription": "s1", "weight": 2})) == "anna"
    assert roster.shortlist_of(command(update={"shortlist": "own", "combine": "sum"})) == "own"
    assert roster.shortlist_of(command(retract={"source": "ads", "id": "p"})) is None
    assert roster.shortlist_of(command(unsubscribe="s1")) == "anna"
    assert roster.shortlist_of(command(subscribe={"id": "s2"})) == "s2"
    assert roster.shortlist_of(command(close="own")) == "own"
    assert roster.shortlist_of(command(open={"id": "x", "subscriber": "x"})) == "x"
    assert roster.shortlist_of(command(unadvertise="ad")) is None
