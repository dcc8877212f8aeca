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
    assert roster.registry(Vocabulary()) == registry_from_documents(REGISTRY)
    roster.apply(command(unadvertise="ad"))
    assert roster.registry(Vocabulary()).advertisements == ()


def test_an_own_shortlist_takes_everything_with_it_when_it_goes(roster):
    roster.apply(command(subscribe={"id": "s2", "shortlist": "own"}))
    roster.apply(command(unsubscribe="own"))
    assert set(roster.subscriptions) == {"s1"}
    assert roster.refusal(command(subscribe={"id": "own"})) is None


def test_the_shortlist_that_a_command_touches(roster):
    assert roster.shortlist_of(command(unsubscribe="s1")) == "anna"
    assert roster.shortlist_of(command(subscribe={"id": "s2"})) == "s2"
    assert roster.shortlist_of(command(close="own")) == "own"
    assert roster.shortlist_of(command(open={"id": "x", "subscriber": "x"})) == "x"
    assert roster.shortlist_of(command(unadvertise="ad")) is None
