"""What goes from one policy of a chain to the next, and why one of them refuses."""

from shortlist.model.durations import Span
from shortlist.model.policy import Chain, Fresh, Novelty, TopK, Window
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.policies import selector
from tests.selector_calls import through_json

ALL_BY_NOVELTY = Novelty(rate=1.0, period=100, measure="interval")


def chain(*policies):
    return selector(Shortlist(id="list", subscriber="u", policy=Chain(policies)))


def candidate(name, time, score, matched="a", refresh=None):
    publication = Publication(id=name, source="s", time=time, position=time)
    matches = tuple(ScoredMatch(each, score, 1.0, 0.5, refresh=refresh) for each in matched)
    return Candidate(publication, "list", score, matches[0], matches)


def arrive(selecting, *arrivals):
    """The outcome of the last one."""
    for one in arrivals:
        outcome = selecting.arrive(one, one.publication.time)
    return outcome


def reborn(selecting, *policies):
    other = chain(*policies)
    other.restore(through_json(selecting.state()))
    return other


def rows(placements):
    return [
        (placed.time, placed.candidate.publication.id, placed.rank, placed.cause)
        for placed in placements
    ]


def test_a_refusal_says_which_policy_refused():
    policies = Window(k=2, window=None), TopK(k=1)
    selecting = chain(*policies)
    outcome = arrive(selecting, candidate("p", 0, 9.0), candidate("q", 1, 5.0))
    assert outcome == ([], "policy 2: a better one is still valid")
    assert [standing.publication for standing in selecting.above(candidate("q", 1, 5.0))] == ["p"]
    refused = candidate("r", 2, 3.0)
    assert arrive(selecting, refused) == ([], "policy 1: 2 better ones are in the window")
    assert [standing.publication for standing in selecting.above(refused)] == ["p", "q"]


def test_who_stands_above_is_asked_with_the_score_that_came():
    """Behind novelty the score is the novelty, and 1 is not above 2."""
    selecting = chain(ALL_BY_NOVELTY, TopK(k=1))
    outcome = arrive(selecting, candidate("p", 0, 0.5, "a"), candidate("q", 1, 0.1, "b"))
    assert (outcome.placements[0].score, outcome.placements[0].rank) == (2.0, 1)
    assert selecting.above(candidate("q", 1, 0.1, "b")) == []


def test_windows_and_refresh_count_from_the_arrival_at_their_policy():
    """The first window promotes q at 5, and so the second holds it until 8."""
    selecting = chain(Window(k=1, window=Span(5)), Window(k=1, window=Span(3)))
    arrive(selecting, candidate("p", 0, 9.0), candidate("q", 4, 5.0), candidate("r", 6, 1.0))
    assert rows(selecting.advance(100)) == [(9, "r", 1, "promotion")]

    selecting = chain(Window(k=1, window=Span(5)), TopK(k=1, refresh=3))
    arrive(selecting, candidate("p", 0, 9.0), candidate("q", 4, 5.0))
    outcome = arrive(selecting, candidate("r", 7, 6.0))
    assert rows(outcome.placements) == [(5, "q", 1, "promotion"), (7, "r", 1, "arrival")]
    assert arrive(selecting, candidate("t", 8, 7.0)).refusal is None


def test_a_score_that_has_decayed_goes_on_as_it_is_then():
    selecting = chain(Fresh(k=1, window=Span(4), half_life=2), TopK(k=2))
    arrive(selecting, candidate("p", 0, 8.0), candidate("q", 1, 2.0))
    (placed,) = selecting.advance(100)
    assert (placed.time, placed.score, placed.rank, placed.cause) == (
        4,
        0.707106781,
        2,
        "promotion",
    )


def test_what_was_cancelled_is_no_match_any_more():
    """q matched a and b; once a is cancelled only b can be named behind the window."""
    policies = Window(k=1, window=Span(5)), ALL_BY_NOVELTY
    selecting = chain(*policies)
    arrive(selecting, candidate("p", 0, 9.0, "b"), candidate("q", 1, 5.0, "ba"))
    both = reborn(selecting, *policies)
    (placed,) = both.advance(100)
    assert (placed.named.subscription, placed.score) == ("a", 2.0)
    selecting.cancel("a", 2)
    (placed,) = reborn(selecting, *policies).advance(100)
    assert (placed.named.subscription, placed.score) == ("b", 1.0)


def test_a_refresh_survives_a_snapshot():
    policies = Window(k=1, window=Span(5)), TopK(k=1)
    selecting = chain(*policies)
    arrive(selecting, candidate("p", 0, 3.0, refresh=1), candidate("q", 1, 2.0, refresh=2))
    stored = reborn(selecting, *policies)
    assert rows(stored.advance(7)) == [(5, "q", 1, "promotion")]
    assert rows(arrive(stored, candidate("r", 7, 1.0)).placements) == [(7, "r", 1, "arrival")]
