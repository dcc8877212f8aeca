"""Segments that are merged have what is still used, and nothing else."""

from random import Random

import numpy as np
import pytest

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_where
from shortlist.matching.coarse import asked_where
from shortlist.matching.index.segments import Segment
from shortlist.matching.index.terms import Terms, compiled_condition
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from tests.matching.index.drawn import subscriptions, vocabulary

TERMS = Terms(vocabulary(), Limits())


def conditions_of(seed):
    for each in subscriptions(seed, 12):
        request = TERMS.request(each)
        where = asked_where(request.where, TERMS.vocabulary, TERMS.limits)
        if where is not None:
            least = Degrees(request.possibility, request.necessity)
            yield compiled_condition(where, TERMS.vocabulary, request.norm, least)


def drawn_conditions(seed):
    return [*conditions_of(seed)]


def slots_of(segment):
    return set(segment.slots.slots(np.arange(segment.slots.size)))


def grades_of(segment):
    grades = segment.grades
    attributes = [grades.attributes[place] for place in grades.places]
    return set(zip(attributes, map(tuple, grades.parameters.tolist()), strict=True))


def test_equal_conditions_are_stored_once():
    some = drawn_conditions(3)
    segment, places = Segment.of([*some, *some])
    assert segment.count == len(set(some))
    assert np.array_equal(places[: len(some)], places[len(some) :])


def test_conditions_that_only_look_alike_are_stored_apart():
    texts = ("x = 1", "x = true", "x = 1 and y = 1", "x = 1 or y = 1", "y = 1 and x = 1")
    some = [compiled_condition(parse_where(text), Vocabulary()) for text in texts]
    norms = [compiled_condition(parse_where(texts[2]), Vocabulary(), norm="product")]
    segment, places = Segment.of([*some, *norms])
    assert sorted(places.tolist()) == [*range(segment.count)] == [*range(len(texts) + 1)]


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_merged_segments_are_as_if_made_of_what_is_left(start):
    for seed in range(start, start + 100):
        random = Random(seed)
        some = [drawn_conditions(seed + 1000 * n) for n in range(3)]
        made = [Segment.of(conditions) for conditions in some]
        kept = [[each for each in conditions if random.random() < 0.6] for conditions in some]
        named = []
        for (segment, places), conditions, left in zip(made, some, kept, strict=True):
            wanted = {int(places[conditions.index(each)]) for each in left}
            named.append((segment, np.array(sorted(wanted), np.int32)))
        merged, origin = Segment.merged(named)
        alone, _ = Segment.of([condition for left in kept for condition in left])
        assert slots_of(merged) == slots_of(alone)
        assert grades_of(merged) == grades_of(alone)
        assert merged.slots.paths == alone.slots.paths
        assert merged.count == sum(len(which) for _, which in named)
        assert sorted(origin.tolist()) == expected_origin(named)


def expected_origin(named):
    before, found = 0, []
    for segment, which in named:
        found += (which + before).tolist()
        before += segment.count
    return sorted(found)
