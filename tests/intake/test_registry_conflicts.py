"""What single documents cannot tell: ids used twice, shortlists that nobody has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.intake.files import RegistryBuilder, registry_from_documents
from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.problem import InvalidRegistry

ANNA = {"id": "anna", "subscriber": "Anna"}


def problems(**document):
    try:
        registry_from_documents(document)
    except InvalidRegistry as invalid:
        return [str(problem).removeprefix("registry: ") for problem in invalid.problems]
    return []


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("shortlist", ANNA),
        ("subscription", {"id": "anna"}),
        ("advertisement", {"id": "anna", "source": "ads", "k": 1}),
    ],
)
def test_an_id_used_twice(kind, document):
    repeated = f"{kind} 'anna': id: expected an id of its own, found that of a {kind}"
    assert problems(**{f"{kind}s": [document, document, document]}) == [repeated] * 2
    broken = {"id": "anna", "colour": "red"}
    assert problems(**{f"{kind}s": [broken, document]})[-1] == repeated


def test_ids_are_separate_per_kind():
    assert (
        problems(
            shortlists=[ANNA],
            subscriptions=[{"id": "anna", "shortlist": "anna"}],
            advertisements=[{"id": "anna", "source": "anna", "k": 1}],
        )
        == []
    )


def test_an_own_shortlist_needs_its_id_for_itself():
    clash = (
        "subscription 'anna': id: expected an id that no shortlist has, since this names no "
        "shortlist and so gets one with its own id, found that of the shortlist 'anna'"
    )
    assert problems(shortlists=[ANNA], subscriptions=[{"id": "anna"}]) == [clash]
    broken = {"id": "anna", "subscriber": 5}
    assert problems(shortlists=[broken], subscriptions=[{"id": "anna"}])[-1] == clash


def test_an_entry_without_a_readable_id_is_named_as_it_can_be():
    nowhere = "shortlist: expected the id of a shortlist, found 'ana'"
    for broken, label in (({"id": 5}, "5"), ({"id": ""}, "''"), ({}, "#2"), ({"id": [1]}, "#2")):
        entries = [{"id": "s"}, {**broken, "shortlist": "ana"}]
        assert problems(subscriptions=entries)[-1] == f"subscription {label}: {nowhere}"


def test_an_unknown_shortlist():
    found = problems(shortlists=[ANNA], subscriptions=[{"id": "s", "shortlist": "ana"}])
    assert found == [
        "subscription 's': shortlist: expected the id of a shortlist, found 'ana'; "
        "did you mean 'anna'?"
    ]


def test_a_broken_shortlist_is_not_unknown_but_others_are():
    found = problems(
        shortlists=[{"id": "anna"}],
        subscriptions=[
            {"id": "s1", "shortlist": "anna"},
            {"id": "s2", "shortlist": "zoe"},
            {"id": "s3", "shortlist": "zoe", "where": "rent <"},
        ],
    )
    assert found[0] == "shortlist 'anna': subscriber: is missing"
    assert found[1].startswith("subscription 's3': where: column 7")
    assert found[2:] == [
        f"subscription '{name}': shortlist: expected the id of a shortlist, found 'zoe'"
        for name in ("s2", "s3")
    ]


@pytest.mark.parametrize("shortlists", [5, [{"subscriber": "Anna"}], [{"id": 5}], ["anna"]])
def test_with_shortlists_that_cannot_be_named_nothing_is_unknown(shortlists):
    found = problems(shortlists=shortlists, subscriptions=[{"id": "s", "shortlist": "anna"}])
    assert found
    assert not any("expected the id of a shortlist" in line for line in found)


@pytest.mark.parametrize("order", [1, -1])
def test_another_subscription_may_name_an_own_shortlist(order):
    subscriptions = [{"id": "s1"}, {"id": "s2", "shortlist": "s1"}][::order]
    registry = registry_from_documents({"subscriptions": subscriptions})
    roster = Roster()
    for command in registry_commands(registry):
        assert roster.refusal(command) is None
        roster.apply(command)
    assert roster.members("s1") == ["s1", "s2"]


def test_commands_keep_the_order_of_the_registry_where_they_can():
    subscriptions = [
        {"id": "a", "shortlist": "anna"},
        {"id": "b", "shortlist": "d"},
        {"id": "c"},
        {"id": "d"},
        {"id": "e", "shortlist": "c"},
    ]
    registry = registry_from_documents({"shortlists": [ANNA], "subscriptions": subscriptions})
    made = [command.subscription.id for command in list(registry_commands(registry))[1:]]
    assert made == ["a", "d", "b", "c", "e"]


def test_files_are_named_where_they_differ():
    builder = RegistryBuilder()
    builder.extend("shortlists", [ANNA], "old.parquet")
    builder.extend("shortlists", [ANNA], "new.parquet")
    with pytest.raises(InvalidRegistry) as invalid:
        builder.registry()
    assert str(invalid.value) == (
        "new.parquet: shortlist 'anna': id: expected an id of its own, "
        "found that of a shortlist in old.parquet"
    )


names = st.sampled_from(["a", "b", "c", None])
entries = st.lists(st.fixed_dictionaries({"id": names, "shortlist": names}), max_size=4)


@given(shortlists=st.lists(names, max_size=3), subscriptions=entries)
def test_a_registry_is_good_if_it_can_be_carried_out(shortlists, subscriptions):
    """The builder and the roster, which carries out commands, agree on who may name whom."""
    document = {
        "shortlists": [{"id": name, "subscriber": "x"} for name in shortlists if name],
        "subscriptions": [entry for entry in subscriptions if entry["id"]],
    }
    roster, refusals = Roster(), []
    for entry in document["shortlists"]:
        made = registry_from_documents({"shortlists": [entry]})
        refusals += _carried_out(roster, made)
    for entry in sorted(document["subscriptions"], key=lambda made: made["shortlist"] is not None):
        named = [{"id": entry["shortlist"], "subscriber": "x"}] if entry["shortlist"] else []
        made = registry_from_documents({"shortlists": named, "subscriptions": [entry]})
        refusals += _carried_out(roster, type(made)(subscriptions=made.subscriptions))
    assert bool(refusals) == bool(problems(**document))


def _carried_out(roster, registry):
    refusals = []
    for command in registry_commands(registry):
        refusal = roster.refusal(command)
        if refusal is None:
            roster.apply(command)
        else:
            refusals.append(refusal)
    return refusals
