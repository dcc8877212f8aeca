"""Why a publication is on a shortlist, or is not: one test for each reason."""

import json

import pytest

from shortlist.engine.explanation import Question
from shortlist.engine.explanation_text import explanation_lines
from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from shortlist.model.times import format_time


def pub(name, second, source="ads", expiry=None, audience=None, **data):
    document = {"id": name, "source": source, "time": format_time(second * 1_000_000), "data": data}
    if expiry is not None:
        document["expirytime"] = format_time(expiry * 1_000_000)
    if audience is not None:
        document["audience"] = audience
    return json.dumps(document)


def command(second, **verb):
    return json.dumps({"time": format_time(second * 1_000_000), **verb})


def explanations(registry, lines, settings=None, **question):
    made = registry_from_documents(registry)
    found = replay(made, lines, settings, Question(**question)).explanations
    for explanation in found:
        json.dumps(explanation, allow_nan=False)
        assert all(line.isprintable() for line in explanation_lines(explanation))
    return found


def explain(registry, lines, settings=None, **question):
    (explanation,) = explanations(registry, lines, settings, **question)
    return explanation


def one(policy=None, **fields):
    subscription = {"id": "s", **fields}
    if policy is not None:
        subscription["policy"] = policy
    return {"subscriptions": [subscription]}


def subscription_reason(registry, line):
    explanation = explain(registry, [line], publication="p", shortlist="s")
    assert explanation["delivered"] is False
    assert explanation["reason"] == "no subscription matches"
    (subscription,) = explanation["subscriptions"]
    assert subscription["matches"] is False
    assert subscription["score"] is None
    return subscription["reason"]


def test_delivered_at_arrival():
    registry = one(where="rent < 900", policy={"kind": "top-k", "k": 1}, score="-rent")
    explanation = explain(registry, [pub("p", 1, rent=850)], publication="p", shortlist="s")
    assert explanation == {
        "time": "1970-01-01T00:00:01.000Z",
        "publication": "p",
        "source": "ads",
        "shortlist": "s",
        "delivered": True,
        "reason": "delivered at arrival",
        "subscriptions": [
            {
                "id": "s",
                "matches": True,
                "reason": "matches",
                "possibility": 1.0,
                "necessity": 1.0,
                "score": -850.0,
                "predicates": [{"text": "rent < 900", "possibility": 1.0, "necessity": 1.0}],
            }
        ],
        "score": -850.0,
        "subscription": "s",
        "above": [],
        "rank": 1,
    }


def test_no_match_with_each_predicate():
    where = "rent < 900 and city = 'Oslo' and size is around(50, 10) (possibility >= 0.9) and a = 1"
    line = pub("p", 1, rent="free", size=55, a=1)
    explanation = explain(one(where=where), [line], publication="p", shortlist="s")
    assert explanation["reason"] == "no subscription matches"
    (subscription,) = explanation["subscriptions"]
    assert subscription["reason"] == "its condition does not hold"
    assert [each.get("note") for each in subscription["predicates"]] == [
        "of another type",
        "absent",
        "under its threshold",
        None,
    ]
    assert [each["possibility"] for each in subscription["predicates"]] == [0.0, 0.0, 0.0, 1.0]


def test_under_at_least_possibility_and_necessity():
    fuzzy = "rent is around(100, 10)"
    found = subscription_reason(
        one(where=fuzzy, at_least={"possibility": 0.6}), pub("p", 1, rent=105)
    )
    assert found == "possibility 0.5 is under at_least.possibility 0.6"
    vague = pub("p", 1, rent={"trapezoid": [90, 100, 100, 110]})
    found = subscription_reason(one(where=fuzzy, at_least={"necessity": 0.75}), vague)
    assert found == "necessity 0.5 is under at_least.necessity 0.75"


def test_score_under_at_least_score():
    registry = one(score="rent / 1000", at_least={"score": 0.2})
    found = subscription_reason(registry, pub("p", 1, rent=100))
    assert found == "score 0.1 is under at_least.score 0.2"


@pytest.mark.parametrize(
    ("score", "data", "why"),
    [
        ("-rent", {}, "rent is absent"),
        ("-rent", {"rent": "free"}, "rent is not a single number"),
        ("-rent", {"rent": {"between": [1, 2]}}, "rent is not a single number"),
        ("-distance(rent: 5, size: 3)", {"rent": 5}, "size is absent"),
        ("relevance(title, 'x')", {"title": 5}, "title is not a single text"),
        ("cosine(embedding, [1, 2])", {}, "embedding is absent"),
        ("log(rent)", {"rent": 0}, "the result is not finite"),
        ("1 / rent", {"rent": 0}, "the result is not finite"),
    ],
)
def test_score_that_cannot_be_computed(score, data, why):
    found = subscription_reason(one(score=score), pub("p", 1, **data))
    assert found == f"its score cannot be computed: {why}"


def test_several_subscriptions_are_judged_one_by_one():
    registry = {
        "shortlists": [{"id": "anna", "subscriber": "Anna"}],
        "subscriptions": [
            {"id": "b", "shortlist": "anna", "where": "rent < 900", "score": 0.5},
            {"id": "a", "shortlist": "anna", "where": "rent > 900"},
            {"id": "c", "shortlist": "anna", "score": 0.9},
        ],
    }
    explanation = explain(registry, [pub("p", 1, rent=800)], publication="p", shortlist="anna")
    assert (explanation["subscription"], explanation["score"]) == ("c", 0.9)
    verdicts = [(each["id"], each["matches"]) for each in explanation["subscriptions"]]
    assert verdicts == [("a", False), ("b", True), ("c", True)]


def test_better_ones_are_still_valid():
    registry = one(score="x", policy={"kind": "top-k", "k": 2})
    lines = [pub("a", 1, x=0.5), pub("b", 2, x=0.9), pub("c", 3, x=0.7), pub("p", 4, x=0.6)]
    explanation = explain(registry, lines, publication="p", shortlist="s")
    assert explanation["reason"] == "2 better ones are still valid"
    assert explanation["above"] == [
        {"source": "ads", "publication": "b", "score": 0.9},
        {"source": "ads", "publication": "c", "score": 0.7},
    ]
    assert "rank" not in explanation


def test_better_ones_are_in_the_window_and_promotion_later():
    registry = one(score="x", policy={"kind": "window", "k": 1, "window": "5s"})
    lines = [pub("a", 0, x=9), pub("b", 1, x=5), pub("p", 2, x=7), pub("d", 9, x=1)]
    refused, promoted = explanations(registry, lines, publication="p", shortlist="s")
    assert refused["reason"] == "a better one is in the window"
    assert [standing["publication"] for standing in refused["above"]] == ["a"]
    assert promoted == {
        "time": "1970-01-01T00:00:05.000Z",
        "publication": "p",
        "source": "ads",
        "shortlist": "s",
        "delivered": True,
        "reason": "promoted: better ones left",
        "rank": 1,
        "score": 7.0,
        "subscription": "s",
    }


NOVELTY = {"kind": "novelty", "rate": 0.5, "period": 2}


def test_quota_is_used():
    lines = [pub(name, second) for second, name in enumerate("ap", start=1)]
    explanation = explain(one(policy=NOVELTY), lines, publication="p", shortlist="s")
    assert explanation["reason"] == "the quota of 1 in 2 matches is used"
    assert explanation["subscription"] == "s"


def test_novelty_is_under_the_threshold():
    lines = [pub(name, second) for second, name in enumerate("abp", start=1)]
    explanation = explain(one(policy=NOVELTY), lines, publication="p", shortlist="s")
    assert explanation["reason"] == "novelty 0.5 is under 1.0"


def test_novelty_is_the_score_of_what_is_delivered():
    explanation = explain(one(policy=NOVELTY), [pub("p", 1)], publication="p", shortlist="s")
    assert (explanation["delivered"], explanation["score"], explanation["rank"]) == (
        True,
        1.0,
        None,
    )


def test_not_drawn():
    policy = {"kind": "novelty", "rate": 0.01, "period": 1000, "algorithm": "random"}
    found = explanations(one(policy=policy), [pub(str(n), n) for n in range(20)], shortlist="s")
    reasons = {explanation["reason"][:5] for explanation in found if not explanation["delivered"]}
    assert reasons == {"drawn"}
    assert found[-1]["reason"].endswith("is not under the chance 0.010000000")


def audience(score="subscription.score", k=2):
    return {
        "subscriptions": [
            {"id": name, "score": interest, "profile": {} if name == "d" else {"age": interest}}
            for name, interest in [("a", 0.1), ("b", 0.9), ("c", 0.5), ("d", 0.9)]
        ],
        "advertisements": [{"id": "ad", "source": "ads", "k": k, "score": score}],
    }


def test_not_in_the_audience():
    explanation = explain(audience(), [pub("p", 1)], publication="p", shortlist="c")
    assert explanation["delivered"] is False
    assert explanation["reason"] == "not in the publisher's audience"
    assert explanation["audience"] == {
        "advertisement": "ad",
        "k": 2,
        "place": 3,
        "of": 4,
        "score": 0.5,
        "chosen": [{"shortlist": "b", "score": 0.9}, {"shortlist": "d", "score": 0.9}],
    }


def test_in_the_audience():
    explanation = explain(audience(), [pub("p", 1, audience=1)], publication="p", shortlist="b")
    assert explanation["delivered"] is True
    assert (explanation["audience"]["k"], explanation["audience"]["place"]) == (1, 1)


def test_audience_scores_that_are_no_numbers():
    found = explanations(audience("subscription.profile.age"), [pub("p", 1)], publication="p")
    assert [each["audience"]["score"] for each in found] == [0.1, 0.9, 0.5, None]
    assert "whose score cannot be computed" in "\n".join(explanation_lines(found[3]))
    found = explanations(audience("-subscription.volume"), [pub("p", 1)], publication="p")
    assert {each["audience"]["score"] for each in found} == {"-infinity"}


def test_no_match_has_no_place_in_the_audience():
    registry = audience() | {"subscriptions": [{"id": "s", "where": "rent < 5"}]}
    explanation = explain(registry, [pub("p", 1)], publication="p", shortlist="s")
    assert explanation["reason"] == "no subscription matches"
    assert "audience" not in explanation


@pytest.mark.parametrize("asked", [None, "s", "nobody"])
def test_turned_away_before_anyone_was_asked(asked):
    question = {"publication": "p", "shortlist": asked}
    stream = Settings(lateness=0)
    late = explain(one(), [pub("a", 5), pub("p", 2)], stream, **question)
    assert late["reason"] == "late by 3 s"
    dead = explain(one(), [pub("p", 5, expiry=5)], **question)
    assert dead["reason"] == "expired on arrival"
    required = Settings(advertised="required")
    assert explain(one(), [pub("p", 5)], required, **question)["reason"] == "unadvertised"
    twice = explanations(one(), [pub("p", 5), pub("p", 6)], **question)[-1]
    assert twice["reason"] == "duplicate"
    for explanation in (late, dead, twice):
        assert (explanation["delivered"], explanation["shortlist"]) == (False, asked)


def test_a_shortlist_that_is_not_there_at_that_time():
    lines = [pub("p", 1), command(2, open={"id": "l", "subscriber": "x"}), command(5, close="l")]
    gone = "there was no such shortlist at that time"
    assert explain({}, lines, publication="p", shortlist="l")["reason"] == gone
    lines[0] = pub("p", 3)
    explanation = explain({}, lines, publication="p", shortlist="l")
    assert explanation["reason"] == "no subscription matches"
    assert explanation["subscriptions"] == []
    lines[0] = pub("p", 9)
    assert explain({}, lines, publication="p", shortlist="l")["reason"] == gone


def test_without_a_shortlist_every_one_that_matches():
    registry = {
        "subscriptions": [{"id": f"s{least}", "where": f"x > {least}"} for least in (3, 1, 2)]
    }
    found = explanations(registry, [pub("p", 1, x=2.5), pub("q", 2, x=9)], publication="p")
    assert [each["shortlist"] for each in found] == ["s1", "s2"]
    nobody = explain(registry, [pub("p", 1, x=0)], publication="p")
    assert (nobody["shortlist"], nobody["reason"]) == (None, "no shortlist matches")


def test_which_publication_is_asked_about():
    lines = [pub("p", 1), pub("p", 2, source="other"), pub("q", 3)]
    assert explanations(one(), lines, publication="never came", shortlist="s") == []
    assert len(explanations(one(), lines, publication="p", shortlist="s")) == 2
    assert explain(one(), lines, publication="p", source="other")["source"] == "other"
    assert len(explanations(one(), lines)) == 3


def test_explaining_changes_nothing():
    registry = registry_from_documents(audience() | {"vocabulary": {}})
    lines = [pub(str(n), n, audience=n % 4) for n in range(9)]
    plain, explained = replay(registry, lines), replay(registry, lines, question=Question())
    assert plain.deliveries == explained.deliveries
    assert plain.rejects == explained.rejects
    assert len(explained.explanations) == 9 * 4


def test_lines_of_a_delivery():
    registry = one(where="rent is around(100, 10) or rent exists", policy={"kind": "top-k", "k": 1})
    lines = [pub("p", 1, rent={"trapezoid": [90, 100, 100, 110]})]
    explanation = explain(registry, lines, publication="p", shortlist="s")
    assert explanation_lines(explanation) == [
        "1970-01-01T00:00:01.000Z: 'p' from 'ads' for the shortlist 's'",
        "delivered at arrival",
        "  rank 1, score 1, by the subscription 's'",
        "  's' matches: score 1, possibility 1, necessity 1",
        "    0.5..1  rent is around(100, 10)",
        "    1       rent exists",
    ]


def test_lines_of_a_refusal():
    lines = explanation_lines(explain(audience(), [pub("p", 1)], publication="p", shortlist="c"))
    assert lines == [
        "1970-01-01T00:00:01.000Z: 'p' from 'ads' for the shortlist 'c'",
        "not delivered: not in the publisher's audience",
        "  score 0.5, by the subscription 'c'",
        "  audience of at most 2: place 3 of 4 by the advertisement 'ad', score 0.5",
        "    1. 'b', score 0.9",
        "    2. 'd', score 0.9",
        "  'c' matches: score 0.5, possibility 1, necessity 1",
    ]


def test_lines_of_a_publication_that_nobody_was_asked_about():
    explanation = explain(one(), [pub("p", 5, expiry=5)], publication="p")
    assert explanation_lines(explanation) == [
        "1970-01-01T00:00:05.000Z: 'p' from 'ads'",
        "not delivered: expired on arrival",
    ]


def test_lines_of_what_does_not_match():
    registry = one(where="rent < 900 and city = 'Oslo'")
    lines = explanation_lines(
        explain(registry, [pub("p", 1, rent=5)], publication="p", shortlist="s")
    )
    assert lines[1:] == [
        "not delivered: no subscription matches",
        "  's' does not match: its condition does not hold",
        "    1  rent < 900",
        "    0  city = 'Oslo'  (absent)",
    ]


def test_lines_stay_lines_whatever_the_names():
    registry = one(where="city = 'a\nb'")
    (explanation,) = explanations(registry, [pub("p\n", 1, city="a\nb")], shortlist="s")
    assert explanation_lines(explanation)[0].count("'p\\n'") == 1
    assert explanation_lines(explanation)[-1] == "    1  city = 'a\\nb'"
