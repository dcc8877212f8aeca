"""A registry as the wanted state: whatever was live, after the plan it is as wanted."""

import pytest

from shortlist.client.applying import CannotApply, as_written, plan
from shortlist.client.commands import checked
from shortlist.fuzzy.sets import term_set
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster, registry_commands
from tests.defining import CURVES, defining_registry
from tests.strategies import seeded, subset


def roster_of(registry):
    roster = Roster(registry.vocabulary)
    for command in registry_commands(registry):
        roster.apply(command)
    return roster


def nouns(roster):
    return roster.shortlists, roster.subscriptions, roster.advertisements


def meanings(vocabulary):
    attributes = vocabulary.attributes.items()
    return {
        (path, name): term_set(term)
        for path, attribute in attributes
        for name, term in attribute.terms.items()
    }


def carried_out(roster, orders):
    for order in orders:
        (command,) = checked([order], roster.vocabulary)
        assert roster.refusal(command) is None
        roster.apply(command)
    return roster


def drawn(seed):
    """With terms that are others for other seeds."""
    pick = seeded(seed)
    documents = defining_registry(pick)
    terms = {name: pick(CURVES) for name in ("cheap", "fair", "dear", "steep")}
    needed = {**terms, **{name: pick(CURVES) for name in subset(pick, ["low", "high"])}}
    price = {**documents["vocabulary"]["price"], "terms": needed}
    documents["vocabulary"] = {**documents["vocabulary"], "price": price}
    return registry_from_documents(documents)


def test_a_pruning_plan_leads_from_anything_to_anything():
    for seed in range(150):
        before, wanted = drawn(seed), drawn(1000 + seed)
        found = plan(roster_of(before), wanted, prune=True)
        after = carried_out(roster_of(before), found.orders)
        assert nouns(after) == nouns(roster_of(wanted)), seed
        assert meanings(after.vocabulary) == meanings(wanted.vocabulary), seed
        again = plan(after, wanted, prune=True)
        assert (again.differences, again.unlisted) == ([], 0), seed


def test_only_what_differs_is_touched():
    for seed in range(50):
        before = drawn(seed)
        named = {made.id for made in before.subscriptions if made.shortlist is not None}
        if not named:
            continue
        changed = min(named)
        document = as_written(roster_of(before))
        for subscription in document["subscriptions"]:
            if subscription["id"] == changed:
                subscription["weight"] = 7.5
        found = plan(roster_of(before), registry_from_documents(document))
        assert [(each.id, each.change, each.fields) for each in found.differences] == [
            (changed, "changed", ("weight",))
        ], seed


def test_what_is_written_is_what_is_live():
    for seed in range(50):
        registry = drawn(seed)
        document = as_written(roster_of(registry))
        written = roster_of(registry_from_documents(document))
        assert nouns(written) == nouns(roster_of(registry)), seed


def differences(before, wanted, **options):
    live, target = registry_from_documents(before), registry_from_documents(wanted)
    found = plan(roster_of(live), target, **options)
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


RENT = {"type": "number", "terms": {"cheap": {"trapezoid": [None, None, 900, 1200]}}}


def with_terms(**terms):
    return {"vocabulary": {"rent": {"type": "number", "terms": terms}}}


def test_terms_that_differ_are_defined():
    asked = [{"id": "s", "where": "rent is cheap"}, {"id": "t", "where": "rent is not cheap"}]
    live = roster_of(
        registry_from_documents({"vocabulary": {"rent": RENT}, "subscriptions": asked})
    )
    cheaper, dear = {"trapezoid": [None, None, 800, 900]}, {"trapezoid": [2000, 3000, None, None]}
    wanted = registry_from_documents(
        with_terms(cheap=cheaper, dear=dear) | {"subscriptions": asked}
    )
    found = plan(live, wanted)
    assert [(each.kind, each.id, each.change, each.effect) for each in found.differences] == [
        (
            "term",
            "rent is cheap",
            "changed",
            "2 subscriptions change their meaning, from the next publication on",
        ),
        ("term", "rent is dear", "made", None),
    ]
    assert found.differences[0].orders[0].content == {
        "attribute": "rent",
        "terms": {"cheap": {"trapezoid": [None, None, 800.0, 900.0]}},
    }


def test_a_term_comes_before_those_who_ask_for_it_and_goes_after_them():
    before = {
        "vocabulary": {"rent": RENT},
        "subscriptions": [{"id": "s", "where": "rent is cheap"}],
    }
    dear = {"trapezoid": [2000, 3000, None, None]}
    wanted = with_terms(dear=dear) | {"subscriptions": [{"id": "s", "where": "rent is dear"}]}
    made, changed = ("term", "rent is dear", "made"), ("subscription", "s", "changed")
    assert differences(before, wanted) == ([made, changed], 1)
    ended = ("term", "rent is cheap", "ended")
    assert differences(before, wanted, prune=True) == ([made, changed, ended], 0)


@pytest.mark.parametrize(
    "declared", [{"type": "string"}, {"type": "number", "many": True}, {"idf": {"x": 2}}]
)
def test_what_else_is_declared_stays_as_it_is(declared):
    with pytest.raises(CannotApply, match="another declaration of 'rent': terms change while"):
        differences({"vocabulary": {"rent": RENT}}, {"vocabulary": {"rent": declared}})
    with pytest.raises(CannotApply, match="another declaration of 'rent'"):
        differences({}, {"vocabulary": {"rent": declared}})
