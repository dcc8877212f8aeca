"""Terms that are defined while publications flow: as if all who ask for them were updated."""

import pytest
from hypothesis import HealthCheck, given, settings

from shortlist.engine.replay import read_items, replay
from shortlist.intake.files import registry_from_documents
from shortlist.matching.index.index import FEW, Index
from shortlist.model.settings import Settings
from tests.defining import Renamed, defining_documents, defining_registry, lines_of, without_terms
from tests.engine.stories import command, entries, publish, told
from tests.engine.test_bulk import everything_of, in_bulk, plain
from tests.engine.test_stages import expected
from tests.engine.walks import Walk, lines_table
from tests.strategies import cuts, drawn, seeded, seeds


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Few conditions are compiled, too, as many are."""
    monkeypatch.setitem(Index.__init__.__kwdefaults__, "few", 0)


def compared(result):
    """All that a delivery says; publications may name their fuzzy values otherwise."""
    return [delivery.document() for delivery in result.deliveries]


def check_meaning(made, documents, settings):
    if "diverse" in str((made, documents)):  # such a policy compares values as they are written
        documents = without_terms(documents)
    renamed = Renamed(made, documents)
    found = replay(registry_from_documents(made), lines_of(documents), settings)
    same = replay(renamed.registry, lines_of(renamed.documents), settings)
    assert compared(found) == compared(same)
    refused = [reject.position - 1 for reject in found.rejects]
    assert refused == [renamed.origins[reject.position - 1] for reject in same.rejects]


def drawn_settings(pick):
    advertised = pick(["optional", "optional", "required"])
    return Settings(advertised=advertised, lateness=pick([None, 0]))


@pytest.mark.parametrize("few", [0, FEW])
def test_it_means_that_all_who_ask_for_them_are_updated(monkeypatch, few):
    monkeypatch.setitem(Index.__init__.__kwdefaults__, "few", few)
    for seed in seeds(20):
        pick = seeded(seed)
        check_meaning(defining_registry(pick), defining_documents(pick, 40), drawn_settings(pick))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn(defining_registry)(), drawn(defining_documents)())
def test_drawn_ones_shrink(made, documents):
    check_meaning(made, documents, Settings())


def test_in_bulk_as_plainly_whatever_the_batches_and_saves():
    for seed in seeds(15):
        pick = seeded(seed)
        made, settings = registry_from_documents(defining_registry(pick)), drawn_settings(pick)
        items, _ = read_items(made, lines_of(defining_documents(pick, 50)), settings)
        saved = lambda number, pick=pick: pick([False, False, True])  # noqa: E731
        found = in_bulk(made, settings, cuts(pick, items), saved)
        assert everything_of(found) == everything_of(plain(made, settings, items)), seed


def test_in_stages_whatever_the_cuts_and_shards():
    for seed in seeds(20):
        pick = seeded(seed)
        made, lines = defining_registry(pick), lines_of(defining_documents(pick))
        walk = Walk(
            pick=pick,
            registry=registry_from_documents(made),
            settings=drawn_settings(pick),
            arriving=lines_table(lines),
            shards=pick([1, 2, 3, 5]),
        )
        assert (walk.deliveries, walk.rejects) == expected(walk, lines), seed


CHEAP = {"rent": {"type": "number", "terms": {"cheap": {"trapezoid": [None, None, 900, 1000]}}}}
DEARER = {"trapezoid": [None, None, 1900, 2000]}
WINDOW = {"kind": "window", "k": 1, "window": "10s"}
FLATS = {"id": "flats", "where": "rent is cheap", "policy": WINDOW}
REGISTRY = {"vocabulary": CHEAP, "subscriptions": [FLATS]}


def define(seconds, terms, attribute="rent"):
    return command("define", seconds, {"attribute": attribute, "terms": terms})


def subscribe(seconds, where):
    return command("subscribe", seconds, {"id": "more", "where": where})


def reasons(story):
    return [reject.reason for reject in told(REGISTRY, story).rejects]


def test_what_is_held_keeps_its_score():
    story = [
        publish("a", 0, rent=950),
        define(1, {"cheap": DEARER}),
        publish("b", 2, rent=1960),
        publish("c", 3, rent=1950),
    ]
    result = told(REGISTRY, story)
    assert (
        entries(result)
        == [
            ("a", 0, 1, "arrival"),
            ("c", 3, 1, "arrival"),
            ("b", 13, 1, "promotion"),
        ][: len(result.deliveries)]
    )
    assert [delivery.score for delivery in result.deliveries][:2] == [0.5, 0.5]


def updated(seconds, where, name="flats"):
    return command("update", seconds, {"subscription": name, "where": where})


def test_it_is_an_instant_of_those_shortlists():
    """What is due at that instant happens before what comes later at it, as by an update."""
    story = [publish("a", 0, rent=100), publish("b", 1, rent=950)]
    later = [publish("c", 10, rent=900)]
    defined = [*story, define(10, {"cheap": DEARER}), *later]
    assert entries(told(REGISTRY, defined)) == [
        ("a", 0, 1, "arrival"),
        ("b", 10, 1, "promotion"),
        ("c", 10, 1, "arrival"),
    ]
    same = updated(10, "rent is trapezoid(null, null, 1900, 2000)")
    assert entries(told(REGISTRY, [*story, same, *later])) == entries(told(REGISTRY, defined))
    as_before = define(10, {"cheap": CHEAP["rent"]["terms"]["cheap"]})
    assert entries(told(REGISTRY, [*story, as_before, *later]))[1][0] == "c"


def test_what_is_held_stays_with_the_subscription_that_it_is_held_for():
    home = {"id": "home", "subscriber": "you", "policy": WINDOW}
    asked = [
        {"id": "s", "shortlist": "home", "where": "rent is cheap"},
        {"id": "t", "shortlist": "home", "where": "rent is cheap and size > 5"},
    ]
    asked[1]["score"] = 0.1
    made = {"vocabulary": CHEAP, "shortlists": [home], "subscriptions": asked}
    story = [
        publish("a", 0, rent=900, size=9),
        publish("b", 1, rent=960),
        define(2, {"cheap": DEARER}),
        command("unsubscribe", 3, "s"),
    ]
    assert [made[0] for made in entries(told(made, story))] == ["a"]
    story[-1] = command("unsubscribe", 3, "t")
    assert [made[0] for made in entries(told(made, story))] == ["a", "b"]


def test_advertisements_count_with_the_new_meaning():
    advertisement = {"id": "ad", "source": "s", "where": "rent is cheap", "k": 1}
    made = {
        "vocabulary": CHEAP,
        "subscriptions": [{"id": "s"}, {"id": "t"}],
        "advertisements": [advertisement],
    }
    story = [
        publish("a", 0, rent=1500),
        define(1, {"cheap": DEARER}),
        publish("b", 2, rent=1500),
    ]
    assert [made[0] for made in entries(told(made, story))] == ["a", "a", "b"]


def test_those_that_were_published_before_go_by_what_was_so_then():
    story = [
        publish("a", 1, rent=1500),
        define(0.5, {"cheap": DEARER}),
        publish("b", 0, rent=1400),
    ]
    assert [made[0] for made in entries(told(REGISTRY, story))] == ["a"]


def test_published_values_go_by_the_terms_of_their_time():
    asked = {"vocabulary": CHEAP, "subscriptions": [{"id": "s", "where": "rent > 1500"}]}
    cheap = {"term": "cheap"}
    story = [publish("a", 0, rent=cheap), define(1, {"cheap": DEARER}), publish("b", 2, rent=cheap)]
    assert [made[0] for made in entries(told(asked, story))] == ["b"]


def test_a_new_term_can_be_asked_for_from_then_on():
    asked = subscribe(1, "rent is dear")
    unknown = "subscription 'more': where: column 9: 'dear' is not a term of 'rent'; its terms are "
    assert reasons([asked]) == [f"{unknown}cheap"]
    assert reasons([asked, define(1, {"dear": DEARER})]) == [f"{unknown}cheap"]
    assert reasons([define(1, {"dear": DEARER}), asked]) == []
    assert reasons([asked, define(0, {"dear": DEARER})]) == []
    gone = [define(0, {"dear": DEARER}), define(0, {"dear": None}), asked]
    assert reasons(gone) == [f"{unknown}cheap"]


def test_an_attribute_that_nobody_declared_may_get_terms():
    story = [define(0, {"large": DEARER}, "size"), subscribe(1, "size is large")]
    assert reasons([*story, publish("a", 2, size=1950)]) == []


def test_a_term_that_is_used_stays():
    advertised = command(
        "advertise", 0, {"id": "ad", "source": "s", "where": "rent is cheap", "k": 1}
    )
    others = [command("subscribe", 0, {"id": name, "where": "rent is not cheap"}) for name in "abc"]
    assert reasons([define(1, {"cheap": None})]) == [
        "the term 'cheap' of 'rent' is used by subscription 'flats'"
    ]
    assert reasons([advertised, *others, define(1, {"cheap": None})]) == [
        "the term 'cheap' of 'rent' is used by subscription 'flats', subscription 'a', "
        "subscription 'b' and 2 more"
    ]
    ended = command("unsubscribe", 0, "flats")
    assert reasons([ended, define(1, {"cheap": None}), define(2, {"cheap": None})]) == [
        "there is no term 'cheap' of 'rent'"
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (7, "define: expected an object, found 7"),
        ({"terms": {"cheap": DEARER}}, "attribute: is missing"),
        ({"attribute": "rent"}, "terms: expected an object, found null"),
        ({"attribute": "rent", "terms": {}}, "define: terms: expected a term, found none"),
        (
            {"attribute": "rent", "terms": {"cheap": {"values": {"low": 1}}}},
            "attribute 'rent': terms.cheap: expected a trapezoid for the type number",
        ),
        (
            {"attribute": "rent", "terms": {"cheap": {"trapezoid": [3, 2, 1, 0]}}},
            "attribute 'rent': terms.cheap: the corners of a trapezoid must not decrease: "
            "3.0, 2.0, 1.0, 0.0",
        ),
        (
            {"attribute": "event.time", "terms": {"late": DEARER}},
            "attribute 'event.time': terms.late: expected no term for the type time",
        ),
        (
            {"attribute": "rent", "type": "string", "terms": {"cheap": DEARER}},
            "define: type: expected only attribute and terms: what else is declared stays so as "
            "long as a deployment lives",
        ),
    ],
)
def test_what_no_vocabulary_could_have_is_rejected(content, reason):
    assert reasons([command("define", 0, content)]) == [reason]


def test_engines_of_one_registry_do_not_share_what_changes():
    made = registry_from_documents(REGISTRY)
    lines = lines_of([define(0, {"cheap": DEARER}), publish("a", 1, rent=1950)])
    assert len(replay(made, lines).deliveries) == 1
    assert len(replay(made, lines[1:]).deliveries) == 0
