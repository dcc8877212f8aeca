"""A registry as the wanted state: whatever was live, after the plan it is as wanted."""

import pytest

from shortlist.client.applying import CannotApply, as_written, plan
from shortlist.client.commands import checked
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster, registry_commands
from tests import strategies
from tests.strategies import seeded


def roster_of(registry):
    roster = Roster(registry.vocabulary)
    for command in registry_commands(registry):
        roster.apply(command)
    return roster


def nouns(roster):
    return roster.shortlists, roster.subscriptions, roster.advertisements


def carried_out(roster, orders, vocabulary):
    for command in checked(orders, vocabulary):
        assert roster.refusal(command) is None
        roster.apply(command)
    return roster


def drawn(seed):
    return registry_from_documents(strategies.registry(seeded(seed)))


@pytest.mark.parametrize("seed", range(150))
def test_a_pruning_plan_leads_from_anything_to_anything(seed):
    before, wanted = drawn(seed), drawn(1000 + seed)
    found = plan(roster_of(before), before.vocabulary, wanted, prune=True)
    after = carried_out(roster_of(before), found.orders, before.vocabulary)
    assert nouns(after) == nouns(roster_of(wanted))
    again = plan(after, before.vocabulary, wanted, prune=True)
    assert (again.differences, again.unlisted) == ([], 0)


@pytest.mark.parametrize("seed", range(50))
def test_only_what_differs_is_touched(seed):
    before = drawn(seed)
    named = {made.id for made in before.subscriptions if made.shortlist is not None}
    if not named:
        return
    changed = min(named)
    document = as_written(roster_of(before), before.vocabulary)
    for subscription in document["subscriptions"]:
        if subscription["id"] == changed:
            subscription["weight"] = 7.5
    found = plan(roster_of(before), before.vocabulary, registry_from_documents(document))
    assert [(each.id, each.change, each.fields) for each in found.differences] == [
        (changed, "changed", ("weight",))
    ]


@pytest.mark.parametrize("seed", range(50))
def test_what_is_written_is_what_is_live(seed):
    registry = drawn(seed)
    document = as_written(roster_of(registry), registry.vocabulary)
    assert nouns(roster_of(registry_from_documents(document))) == nouns(roster_of(registry))


def differences(before, wanted, **options):
    live, target = registry_from_documents(before), registry_from_documents(wanted)
    found = plan(roster_of(live), live.vocabulary, target, **options)
    return [(each.kind, each.id, each.change) for each in found.differences], found.unlisted


ANNA = {"id": "anna", "subscriber": "anna"}


def test_without_pruning_others_stay():
    before = {"subscriptions": [{"id": "old"}]}
    assert differences(before, {"subscriptions": [{"id": "new"}]}) == (
        [("subscription", "new", "made")],
        1,
    )


def test_a_subscription_that_moves_is_made_anew():
    before = {"shortlists": [ANNA], "subscriptions": [{"id": "s"}]}
    wanted = {"shortlists": [ANNA], "subscriptions": [{"id": "s", "shortlist": "anna"}]}
    found, _ = differences(before, wanted)
    assert found == [("subscription", "s", "ended"), ("subscription", "s", "made anew")]


def test_a_shortlist_may_take_the_name_of_one_that_was_owned():
    before = {"subscriptions": [{"id": "anna"}, {"id": "more", "shortlist": "anna"}]}
    wanted = {"shortlists": [ANNA], "subscriptions": [{"id": "more", "shortlist": "anna"}]}
    found, _ = differences(before, wanted)
    assert found == [
        ("subscription", "anna", "ended"),
        ("shortlist", "anna", "made anew"),
        ("subscription", "more", "made anew"),
    ]


def test_what_no_command_can_do_is_said():
    before = {"shortlists": [ANNA]}
    wanted = {"subscriptions": [{"id": "anna"}]}
    with pytest.raises(CannotApply, match="there is a live shortlist 'anna' already"):
        differences(before, wanted)
    assert differences(before, wanted, prune=True)[0][-1] == ("subscription", "anna", "made")


def test_a_vocabulary_stays_as_it_is():
    wanted = {"vocabulary": {"rent": {"type": "number"}}}
    with pytest.raises(CannotApply, match="another declaration of 'rent'"):
        differences({}, wanted)
