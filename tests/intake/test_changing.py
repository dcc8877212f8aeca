"""A noun of which some fields change is what all of it would be read as, with the same problems."""

from itertools import combinations

import pytest

from shortlist.intake.documents import Documents, dump
from shortlist.model.policy import TopK
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import AtLeast, Subscription, Weights

NOUNS = {
    "subscription": [
        Subscription(id="s", where="rent < 900", score="relevance", profile={"a": 1.0}),
        Subscription(id="s", shortlist="home", where="a = 1 and b = 2", norm=Weights((1.0, 2.0))),
        Subscription(
            id="s", subscriber="anna", policy=TopK(k=3), combine="sum", refresh=60_000_000
        ),
        Subscription(id="s", where="rent < 900", at_least=AtLeast(score=2.0), weight=3.0),
    ],
    "shortlist": [
        Shortlist(id="s", subscriber="anna", policy=TopK(k=3), prefers=(("a", "b"),)),
        Shortlist(id="s", subscriber="anna"),
    ],
}
CHANGES = [
    ("where", "rent < 800 and city = 'Oslo'"),
    ("where", "rent <"),
    ("where", None),
    ("score", 0.5),
    ("score", 7),
    ("norm", {"weights": [1, 2, 3]}),
    ("norm", None),
    ("weight", 0),
    ("at_least", {"score": None, "necessity": 0.5}),
    ("refresh", "5m"),
    ("profile", {"b": 2}),
    ("subscriber", "bert"),
    ("subscriber", None),
    ("subscriber", ""),
    ("policy", {"kind": "top-k", "k": 2, "period": None}),
    ("policy", [{"kind": "top-k", "k": 2}, {"kind": "everything"}]),
    ("policy", {"kind": "top-k"}),
    ("policy", None),
    ("combine", "min"),
    ("prefers", [["a", "b"], ["b", "a"]]),
    ("prefers", [["a", "c"]]),
    ("own_shortlist", None),
    ("unknown", 1),
    ("window", None),
    ("profile", {"deep": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}),
]


@pytest.mark.parametrize(
    ("kind", "noun"), [(kind, noun) for kind, nouns in NOUNS.items() for noun in nouns]
)
def test_what_becomes_of_a_noun(kind, noun):
    good = 0
    for chosen in [*combinations(CHANGES, 1), *combinations(CHANGES, 2)]:
        changes = dict(chosen)
        some, all_of_it = Documents(), Documents()
        made = some.read_changed(noun, changes)
        assert made == all_of_it.read(kind, {**dump(noun), **changes})
        assert [*map(str, some.problems)] == [*map(str, all_of_it.problems)]
        if made is not None:
            good += 1
            assert some.changed(noun, changes) == made
    assert good > 20
