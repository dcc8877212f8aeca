"""The policy `diverse`: why an arrival is not chosen, and who is."""

from shortlist.model.aspects import Aspect
from shortlist.model.policy import Diverse
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.policies import selector

OVER = (Aspect(("area",), None), Aspect(("rent",), 100.0))


def diverse(**settings):
    policy = Diverse(**{"k": 2, "window": None, "over": OVER, "weight": 0.5, **settings})
    return selector(Shortlist(id="list", subscriber="u", policy=policy))


def arrive(selecting, time, score, rent, area="north"):
    name = f"{area} {rent}"
    data = {"rent": rent, "area": area}
    publication = Publication(id=name, source="s", time=time, position=time, data=data)
    match = ScoredMatch("a", score, 1.0, 1.0)
    candidate = Candidate(publication, "list", score, match, (match,))
    outcome = selecting.arrive(candidate, time)
    ranks = [(placed.candidate.publication.id, placed.rank) for placed in outcome.placements]
    above = [standing.publication for standing in selecting.above(candidate)]
    return ranks, outcome.refusal, above


def test_one_that_does_not_differ_is_refused():
    selecting = diverse()
    assert arrive(selecting, 0, 0.9, 500) == ([("north 500", 1)], None, [])
    refusal = "one that does not differ in area, rent is chosen"
    assert arrive(selecting, 1, 0.8, 500) == ([], refusal, ["north 500"])


def test_the_better_one_of_two_that_do_not_differ_replaces_it():
    selecting = diverse()
    arrive(selecting, 0, 0.8, 500)
    assert arrive(selecting, 1, 0.9, 500) == ([("north 500", 1)], None, [])


def test_far_is_better_than_good():
    """Values after the first choice: 0.45 + 0.025, then 0.2 + 0.25, then 0.1 + 0.5."""
    selecting = diverse()
    arrive(selecting, 0, 1.0, 500)
    assert arrive(selecting, 1, 0.9, 510) == ([("north 510", 2)], None, ["north 500"])
    above = ["north 500", "north 510"]
    assert arrive(selecting, 2, 0.4, 550) == ([], "2 better ones are chosen", above)
    assert arrive(selecting, 3, 0.2, 900, "south") == ([("south 900", 2)], None, ["north 500"])


def test_equal_values_are_won_by_the_more_recent():
    selecting = diverse(weight=0.0)
    arrive(selecting, 0, 0.5, 500)
    arrive(selecting, 1, 0.5, 600)
    assert arrive(selecting, 2, 0.5, 700) == ([("north 700", 1)], None, [])
