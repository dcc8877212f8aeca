"""Degrees in a few bits, from the plain matcher to what a delivery says."""

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.explanation import Question
from shortlist.intake.files import registry_from_documents
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits, Settings
from shortlist.model.subscription import AtLeast, Subscription
from shortlist.model.vocabulary import Vocabulary

FLAT = Publication(id="flat", source="ads", time=0, position=0, data={"rent": 1421, "size": 60})
COARSE = Settings(limits=Limits(degree_bits=3))


def matches(limits, where="rent is around(1400, 100)", **threshold):
    """Of a flat whose rent is 0.79 about 1400."""
    scan = Scan(Vocabulary(), limits)
    scan.add(Subscription(id="s", where=where, at_least=AtLeast(**threshold)))
    return scan.match(Values(Vocabulary()).of(FLAT))


@pytest.mark.parametrize(
    ("least", "bits", "found"),
    [
        (0.8, None, False),
        (0.8, 8, False),
        (0.8, 3, True),
        (0.8, 2, True),
        (0.88, 3, False),
        (0.88, 2, True),
        (1.0, 2, True),
        (1.0, 3, False),
    ],
)
def test_a_threshold_counts_from_the_start_of_its_cell(least, bits, found):
    limits = Limits(degree_bits=bits)
    assert bool(matches(limits, possibility=least)) is found
    assert bool(matches(limits, necessity=least)) is found
    text = f"rent is around(1400, 100) (possibility >= {least}) and size = 60"
    assert bool(matches(limits, text)) is found


@pytest.mark.parametrize(("bits", "told"), [(None, 0.79), (8, 202.5 / 256), (3, 6.5 / 8), (2, 1.0)])
def test_a_degree_is_told_as_the_middle_of_its_cell(bits, told):
    ((_, possibility, necessity),) = matches(Limits(degree_bits=bits))
    assert (possibility, necessity) == (told, told)


def test_deliveries_and_explanations_say_the_same():
    about = {"id": "about", "where": "rent is around(1400, 100)", "at_least": {"possibility": 0.8}}
    registry = registry_from_documents({"subscriptions": [about]})
    for matcher in ({}, {"matcher": Scan}):
        (delivery,) = Engine(registry, COARSE, **matcher).process([FLAT], last=True).deliveries
        assert (delivery.score, delivery.possibility, delivery.necessity) == (0.8125,) * 3
        assert not Engine(registry, **matcher).process([FLAT], last=True).deliveries
    question = Question(publication="flat", shortlist="about")
    (why,) = Engine(registry, COARSE, question=question).process([FLAT], last=True).explanations
    (asked,) = why["subscriptions"]
    assert (why["delivered"], asked["possibility"], asked["score"]) == (True, 0.8125, 0.8125)
