"""The readings of section 11: where the papers disagree, what stands here. One test a row."""

import json

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from tests.engine.stories import command, entries, names, publish, told


def films(*values, gap=1):
    """Publications p0, p1, … a second apart with these values."""
    return [publish(f"p{n}", n * gap, value=value) for n, value in enumerate(values)]


# ---- preferential ----


def test_an_equal_score_is_forwarded():
    """Definition 6: at least the minimum, not above it; the fresh one beats its equals."""
    registry = {"score": "value", "policy": {"kind": "top-k", "k": 1}}
    assert entries(told(registry, films(5, 5, 4, 5))) == [
        ("p0", 0, 1, "arrival"),
        ("p1", 1, 1, "arrival"),
        ("p3", 3, 1, "arrival"),
    ]


def test_every_valid_better_delivery_counts_not_only_a_list_of_k():
    """A k-list would have dropped a for b, and let c in when b is over; Definition 6 does not."""
    story = [
        publish("a", 0, value=5),
        publish("b", 1, value=9, ends=10),
        publish("c", 20, value=3),
    ]
    registry = {"score": "value", "policy": {"kind": "top-k", "k": 1}}
    assert names(told(registry, story)) == ["a", "b"]


def test_most_specific_keeps_what_covers_no_other():
    registry = {
        "shortlists": [{"id": "L", "subscriber": "u", "combine": "most_specific"}],
        "subscriptions": [
            {"id": "all", "shortlist": "L", "score": 1},
            {"id": "drama", "shortlist": "L", "where": "genre = 'drama'", "score": 0.5},
            {
                "id": "long drama",
                "shortlist": "L",
                "where": "genre = 'drama' and minutes > 120",
                "score": 0.25,
            },
        ],
    }
    story = [
        publish("epic", 0, genre="drama", minutes=180),
        publish("short", 1, genre="drama", minutes=20),
        publish("news", 2),
    ]
    result = told(registry, story)
    assert [(made.publication.id, made.subscription, made.score) for made in result.deliveries] == [
        ("epic", "long drama", 0.25),
        ("short", "drama", 0.5),
        ("news", "all", 1.0),
    ]


# ---- top-k/w ----


def test_a_publication_leaves_the_window_at_its_time_plus_w():
    """Definition 2.6 would keep a until after 5 s, and b would wait in vain for it."""
    registry = {"score": "value", "policy": {"kind": "window", "k": 1, "window": "5s"}}
    story = [publish("a", 0, value=9), publish("b", 5, value=1)]
    assert entries(told(registry, story)) == [("a", 0, 1, "arrival"), ("b", 5, 1, "arrival")]


def test_a_window_is_active_until_its_cancellation():
    """Definition 2.6 ends it w earlier."""
    registry = {
        "shortlists": [
            {"id": "L", "subscriber": "u", "policy": {"kind": "window", "k": 1, "window": "10s"}}
        ],
        "subscriptions": [{"id": "s", "shortlist": "L", "score": "value"}],
    }
    story = [
        publish("a", 0, value=1),
        publish("b", 8, value=2),
        command("unsubscribe", 9, "s"),
        publish("c", 9.5, value=3),
    ]
    assert names(told(registry, story)) == ["a", "b"]


def test_ties_go_to_the_more_recent_and_never_beyond_k():
    registry = {"score": "value", "policy": {"kind": "window", "k": 1, "window": "10s"}}
    story = [publish("a", 0, value=5), publish("b", 1, value=5), publish("c", 1, value=5)]
    assert entries(told(registry, story)) == [
        ("a", 0, 1, "arrival"),
        ("b", 1, 1, "arrival"),
        ("c", 1, 1, "arrival"),
    ]
    lower = [publish("a", 0, value=5), publish("b", 1, value=4), publish("c", 2, value=4)]
    assert entries(told(registry, lower)) == [("a", 0, 1, "arrival"), ("c", 10, 1, "promotion")]


def test_a_where_that_does_not_hold_never_delivers():
    """Theorem 2.1 with scores of 0 and 1 would deliver a first publication that does not match."""
    registry = {
        "where": "genre = 'drama'",
        "policy": {"kind": "window", "k": 1, "window": None},
    }
    story = [publish("a", 0, genre="war"), publish("b", 1, genre="drama")]
    assert names(told(registry, story)) == ["b"]


def test_higher_scores_are_better_and_distances_are_negated():
    policy = {"kind": "window", "k": 1, "window": "10s"}
    story = films(7, 3, 4)
    assert names(told({"score": "value", "policy": policy}, story)) == ["p0", "p2"]
    nearest = {"score": "-distance(value: 4)", "policy": policy}
    assert names(told(nearest, story)) == ["p0", "p1", "p2"]


# ---- publishers ----


def test_a_publication_goes_to_the_k_best_shortlists_not_subscriptions():
    registry = {
        "shortlists": [{"id": "A", "subscriber": "u"}, {"id": "B", "subscriber": "v"}],
        "subscriptions": [
            {"id": "A.1", "shortlist": "A", "score": 1},
            {"id": "A.2", "shortlist": "A", "score": 0.9},
            {"id": "B.1", "shortlist": "B", "score": 0.5},
            {"id": "C", "score": 0.25},
        ],
        "advertisements": [{"id": "ad", "source": "s", "k": 2}],
    }
    result = told(registry, [publish("p", 0)])
    assert [(made.shortlist, made.subscription) for made in result.deliveries] == [
        ("A", "A.1"),
        ("B", "B.1"),
    ]


# ---- novelty ----


def novelty(**policy):
    """Subscriptions to red, blue and everything in one shortlist."""
    return {
        "shortlists": [{"id": "L", "subscriber": "u", "policy": {"kind": "novelty", **policy}}],
        "subscriptions": [
            {"id": "blue", "shortlist": "L", "where": "colour = 'blue'"},
            {"id": "red", "shortlist": "L", "where": "colour = 'red'"},
        ],
    }


def colours(text):
    full = {"r": "red", "b": "blue"}
    return [publish(f"{n}{letter}", n, colour=full[letter]) for n, letter in enumerate(text, 1)]


def scores(result):
    return {made.publication.id: made.score for made in result.deliveries}


def test_sampling_delivers_below_the_chance_and_rare_ones_always():
    """Equation 3.2: P = 1 for the rare; Algorithm 2 has it the other way round."""
    registry = novelty(rate=0.4, period=10, algorithm="sampling")
    delivered = names(told(registry, colours(("b" + "r" * 9) * 40)))
    frequent = [name for name in delivered if name.endswith("r")]
    rare = [name for name in delivered if name.endswith("b")]
    # Rare ones come up 40 times, at chance 1; frequent ones 360 times, at chance 0.2 / 0.9.
    assert len(rare) == 40
    assert 40 < len(frequent) < 120


def test_what_was_never_delivered_is_as_novel_as_it_can_be():
    """L_s = 0, not t − 1, which would make it the least novel."""
    registry = novelty(rate=1.0, period=10, measure="interval")
    assert scores(told(registry, colours("rrrb")))["4b"] == 4.0


def test_fewer_than_k_are_delivered_in_each_period_and_the_count_starts_again():
    registry = novelty(rate=0.5, period=4)
    delivered = names(told(registry, colours("rrrrbbbbrrrr")))
    # The second period's novelties are 1, 0.8, 2/3 and 5/7: the threshold of the third is 0.8.
    # In it reds have 6/8, 7/9 and 8/10, which reaches it.
    assert delivered == ["1r", "2r", "5b", "6b", "11r"]


def test_a_delivery_counts_for_all_subscriptions_that_it_matched():
    registry = novelty(rate=1.0, period=10)
    registry["subscriptions"].append({"id": "any", "shortlist": "L"})
    # After one red: red and any were delivered 1 of 1, so that only blue is novel.
    result = told(registry, colours("rrb"))
    assert scores(result) == {"1r": 1.0, "2r": 0.0, "3b": 1.0}
    assert [made.subscription for made in result.deliveries] == ["any", "any", "blue"]


def test_the_highest_novelty_wins_and_reaching_the_threshold_is_enough():
    """Definition 2.2 says lowest, Definition 2.1 says above."""
    registry = novelty(rate=0.5, period=2, measure="interval")
    # Novelties 1, 2 make the threshold 2 for the second period: 3 − 1 = 2 reaches it.
    assert names(told(registry, colours("rbr"))) == ["1r", "3r"]


def test_rates_are_over_the_shortlists_own_matches_and_whole_history():
    """Not over all input (equation 2.1), nor over a period (the appendix)."""
    registry = novelty(rate=1.0, period=2, algorithm="random")
    story = [publish("x", 0, colour="green"), *colours("rb"), publish("y", 3, colour="green")]
    story += [publish("z", 4, colour="red")]
    assert scores(told(registry, story)) == {"1r": 1.0, "2b": 1.0, "z": 0.5}


def test_intervals_run_from_the_previous_delivery_not_the_previous_match():
    registry = novelty(rate=0.5, period=2, measure="interval")
    # 2r matches but is over the quota; 3r is measured from 1r: 2, not 1.
    assert scores(told(registry, colours("rrr"))) == {"1r": 1.0, "3r": 2.0}


def test_aging_looks_back_to_the_previous_match_not_the_previous_delivery():
    registry = novelty(rate=0.5, period=2, measure="interval", aging=0.5)
    # used: 1r 1; 2r (over quota) 0.5·1 + 0.5·1 = 1; 3r 0.5·2 + 0.5·1 = 1.5; 4r (over quota)
    # 0.5·1 + 0.5·1.5 = 1.25; 5r 0.5·2 + 0.5·1.25 = 1.625, where the delivery 3r would give 1.75.
    assert scores(told(registry, colours("rrrrr"))) == {"1r": 1.0, "3r": 1.5, "5r": 1.625}


# ---- uncertainties ----

RENT = {"rent": {"type": "number", "terms": {"cheap": {"trapezoid": [None, None, 1200, 1500]}}}}


def degrees(where, rent):
    registry = {"vocabulary": RENT, "subscriptions": [{"id": "sub", "where": where}]}
    (made,) = told(registry, [publish("p", 0, rent=rent)]).deliveries
    return made.possibility, made.necessity


def test_necessity_is_the_inf_of_max_of_membership_and_not_possible():
    """With max(μ, π), as Figure 5 has it, the necessity would be 0."""
    assert degrees("rent is cheap", {"between": [1000, 1350]}) == (1.0, 0.5)


@pytest.mark.parametrize("rent", [1350, {"between": [1000, 1350]}, {"term": "cheap"}])
def test_necessity_is_dual_to_the_possibility_of_the_complement(rent):
    """N(A) = 1 − Π(¬A); 1 − Π(A) would be 0 wherever A is possible."""
    possibility, necessity = degrees("rent is cheap", rent)
    registry = {
        "vocabulary": RENT,
        "subscriptions": [
            {"id": "sub", "where": "rent is not cheap and event.source exists", "norm": "average"}
        ],
    }
    (made,) = told(registry, [publish("p", 0, rent=rent)]).deliveries
    # The mean with a predicate that holds is (d + 1) / 2, which matches even where d is 0.
    assert 2 * made.possibility - 1 == pytest.approx(1 - necessity)
    assert 2 * made.necessity - 1 == pytest.approx(1 - possibility)


@pytest.mark.parametrize("norm", ["average", "max", {"weights": [1, 2]}])
@pytest.mark.parametrize(("rent", "matches"), [(None, 0), ("x", 0), (14, 0), (11, 1)])
def test_what_is_absent_is_under_its_threshold_and_takes_its_conjunction_down(norm, rent, matches):
    where = "rent is around(10, 5) (possibility >= 0.5) and garden = true"
    registry = registry_from_documents(
        {"subscriptions": [{"id": "s", "norm": norm, "where": where}]}
    )
    data = {"rent": rent, "garden": True}
    line = {"id": "p", "source": "a", "time": "2026-03-01T00:00:01Z", "data": data}
    assert len(replay(registry, [json.dumps(line)]).deliveries) == matches


@pytest.mark.parametrize("combine", ["sum", "mean"])
def test_a_combined_score_that_is_not_finite_does_not_match(combine):
    each = {"shortlist": "L", "score": "x", "weight": 1e308}
    registry = registry_from_documents(
        {
            "shortlists": [{"id": "L", "subscriber": "u", "combine": combine}],
            "subscriptions": [{"id": "a", **each}, {"id": "b", **each}],
        }
    )
    line = {"id": "p", "source": "a", "time": "2026-03-01T00:00:01Z", "data": {"x": 2}}
    assert replay(registry, [json.dumps(line)]).deliveries == []
