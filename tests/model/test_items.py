"""Items as columns say the same of publications as these say of themselves."""

import pytest

from shortlist.intake.reading import items_of
from shortlist.model.items import Wanted
from shortlist.model.publication import Publication


@pytest.mark.parametrize("expiries", [[None], [4, 5, 6], [None, 5], []])
def test_the_same_publications_are_dead_on_arrival(expiries):
    publications = [
        Publication(id=str(place), source="s", time=5, position=place, expiry=expiry)
        for place, expiry in enumerate(expiries)
    ]
    items, _ = items_of(publications, Wanted())
    assert items.is_dead.tolist() == [each.dead_on_arrival for each in publications]
